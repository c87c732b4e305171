"""PyTorch's functions on sparse tensors: the handlers of `tensors.torch_dispatch`."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from tulle.notation.einsums import einsum
from tulle.operators import (
    arithmetic,
    further_products,
    masks,
    matrix_products,
    pointwise,
    reductions,
    structural_functions,
)
from tulle.operators import element_statistics as statistics
from tulle.operators.methods import FUNCTIONS_AND_METHODS
from tulle.operators.pointwise import handler_of
from tulle.operators.pointwise_table import BY_FUNCTION, OPERATORS, REVERSED, Pointwise
from tulle.programs.call_sites import CallSite, Prepared
from tulle.programs.program import Result, statement_program
from tulle.support.arguments import check_ranks, common_shape
from tulle.support.errors import UserError
from tulle.tensors.sparse_tensor import SparseTensor
from tulle.tensors.torch_dispatch import Handler, handlers, python_handlers, quick_handlers
from tulle.tensors.written_results import written


def register() -> None:
    """Makes PyTorch's functions accept sparse tensors."""
    handlers.update(pointwise.HANDLERS)
    handlers.update(_HANDLERS)
    handlers.update(structural_functions.HANDLERS)
    for name, function in OPERATORS.items():
        method, handler = getattr(Tensor, name), handler_of(BY_FUNCTION[getattr(torch, function)])
        handlers.setdefault(method, handler)
        python_handlers[name] = python_handlers[method.__name__] = handler
    for name, function in REVERSED.items():
        _set_reversed(name, BY_FUNCTION[getattr(torch, function)])
    for name in ("radd", "rsub", "rmul", "rtruediv", "rdiv", "rmatmul"):
        method = getattr(Tensor, f"__{name}__")
        python_handlers[method.__name__] = python_handlers[f"__{name}__"] = _HANDLERS[method]
    for name, handler in _METHODS.items():
        handlers[getattr(Tensor, name)] = handler
        if hasattr(torch, name):
            handlers[getattr(torch, name)] = handler
        if not hasattr(SparseTensor, name):
            setattr(SparseTensor, name, handler)
    for name, handler in FUNCTIONS_AND_METHODS.items():
        handlers[getattr(Tensor, name)] = handler
        if hasattr(torch, name):
            handlers[getattr(torch, name)] = handler
    quick_handlers.update(
        {torch.mm: _mm, torch.matmul: arithmetic.matmul, torch.mv: _mv, torch.bmm: _bmm}
    )
    for name in ("softmax", "log_softmax"):
        handlers[getattr(functional, name)] = _softmax_handler(name)
        handlers[getattr(torch, name)] = _softmax_handler(name)
        handlers[getattr(torch.special, name)] = _sparse_softmax(name)


def _set_reversed(name: str, pointwise: Pointwise) -> None:
    """Computes a reversed operator, which Dynamo also calls where the left operand is sparse."""
    method = getattr(Tensor, name, None)
    if method is None:
        return
    handler = _reversed(handler_of(pointwise))
    handlers[method] = handler
    python_handlers[name] = python_handlers[method.__name__] = handler


# ---- products and arithmetic -------------------------------------------------------------------


def _matmul(input: Any, other: Any, *, out: Any = None) -> Result:
    if out is None or isinstance(out, SparseTensor):
        product: Result = arithmetic.matmul(input, other)
        return product if out is None else written(out, product)
    return arithmetic.matmul_into(input, other, out)


def _mm(input: Any, mat2: Any, *, out: Any = None) -> Result:
    check_ranks("mm", input, 2, mat2, 2)
    return _matmul(input, mat2, out=out)


def _bmm(input: Any, mat2: Any, *, out: Any = None) -> Result:
    check_ranks("bmm", input, 3, mat2, 3)
    return _matmul(input, mat2, out=out)


def _mv(input: Any, vec: Any, *, out: Tensor | None = None) -> Result:
    check_ranks("mv", input, 2, vec, 1)
    return _matmul(input, vec, out=out)


def _reversed(handler: Handler) -> Handler:
    return lambda left, right: handler(right, left)


def _scaled(symbol: str) -> Handler:
    """torch.add and torch.sub, which multiply the second operand by alpha."""

    def handle(input: Any, other: Any, *, alpha: Any = 1) -> Result:
        return arithmetic.binary(symbol, input, other if alpha == 1 else other * alpha)

    return handle


def _plain(symbol: str) -> Handler:
    return lambda input, other: arithmetic.binary(symbol, input, other)


def _linear(input: Any, weight: Any, bias: Any = None) -> Result:
    """input @ weight^T + bias."""
    if weight.ndim != 2:
        raise UserError(f"linear: the weight must be a matrix, but it has rank {weight.ndim}.")
    result: Result
    if type(weight) is SparseTensor and isinstance(input, Tensor):
        result = arithmetic.dense_times_transposed(input, weight)
    else:
        result = _LINEAR.run_on_two(input, weight)
    return result if bias is None else result + bias


def _prepare_linear(operands: Sequence[Any]) -> Prepared:
    rows = [f"b{n}" for n in range(operands[0].ndim - 1)]
    text = f"Y[{','.join([*rows, 'o'])}] = X[{','.join([*rows, 'i'])}] * W[o,i]"
    return statement_program(text), ("X", "W"), operands


_LINEAR = CallSite(_prepare_linear, has_graph_call=True, is_product=True)


def _einsum(equation: str, *operands: Any) -> Result:
    """torch.einsum, which also takes its operands as one list."""
    if len(operands) == 1 and isinstance(operands[0], list | tuple):
        operands = tuple(operands[0])
    return einsum(equation, *operands)


def _broadcast_tensors(*tensors: Any) -> list[Any]:
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], list | tuple) else tensors
    shape = common_shape("broadcast_tensors", [one.shape for one in given])
    return [one.expand(shape) for one in given]


# ---- softmax ------------------------------------------------------------------------------------


def _softmax_handler(name: str) -> Handler:
    def handle(input: Any, dim: Any = None, _stacklevel: int = 3, dtype: Any = None) -> Result:
        if dim is None:
            raise UserError(f"{name}: a dimension is required: {name}(A, dim=1).")
        return reductions.softmax(name, input, dim, dtype)

    return handle


def _sparse_softmax(name: str) -> Handler:
    def handle(input: Any, dim: int, *, dtype: Any = None) -> Result:
        return reductions.softmax(name, input, dim, dtype)

    return handle


def _reduction(name: str) -> Handler:
    def handle(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Result:
        return reductions.reduce(name, input, dim, keepdim, False, dtype)

    return handle


# ---- the tables ----------------------------------------------------------------------------------


def _div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Result:
    if rounding_mode is None:
        return arithmetic.binary("/", input, other)
    return pointwise.rounded_quotient(input, other, rounding_mode=rounding_mode)


_add, _sub, _mul = _scaled("+"), _scaled("-"), _plain("*")

_HANDLERS: dict[Any, Handler] = {
    # Dynamo calls operators by these names.
    operator.matmul: _matmul,
    operator.add: _add,
    operator.sub: _sub,
    operator.mul: _mul,
    operator.truediv: _div,
    torch.einsum: _einsum,
    torch.sparse.mm: matrix_products.sparse_mm,
    torch.sparse.sampled_addmm: masks.sampled_addmm,
    torch.tensordot: further_products.tensordot,
    torch.broadcast_tensors: _broadcast_tensors,
    torch.linalg.multi_dot: further_products.multi_dot,
    torch.linalg.matrix_power: further_products.matrix_power,
    torch.linalg.matmul: _matmul,
    torch.linalg.vecdot: further_products.vecdot,
    functional.cosine_similarity: further_products.cosine_similarity,
    torch.rsub: lambda input, other, *, alpha=1: _sub(other, input, alpha=alpha),
    torch.chain_matmul: lambda *matrices, out=None: further_products.multi_dot(matrices, out=out),
    torch.hspmm: matrix_products.hybrid_product,
    functional.prelu: pointwise.prelu,
    torch.polygamma: pointwise.polygamma,
    torch.special.polygamma: pointwise.polygamma,
    Tensor.polygamma: lambda input, n: pointwise.polygamma(n, input),
    torch.where: masks.where,
    Tensor.where: masks.where_method,
    torch.special.logsumexp: lambda input, dim, keepdim=False: input.logsumexp(dim, keepdim),
    torch.var_mean: statistics.var_mean,
    torch.std_mean: statistics.std_mean,
    torch.linalg.vector_norm: statistics.vector_norm,
    torch.linalg.matrix_norm: statistics.matrix_norm,
    torch.linalg.norm: statistics.linalg_norm,
    functional.linear: _linear,
    functional.normalize: statistics.normalize,
    torch.sparse.addmm: matrix_products.add_product,
    Tensor.__radd__: _reversed(_add),
    Tensor.__rsub__: _reversed(_sub),
    Tensor.__rmul__: _reversed(_mul),
    Tensor.__rtruediv__: _reversed(_div),
    Tensor.__rdiv__: _reversed(_div),
    Tensor.__rmatmul__: _reversed(_matmul),
    torch.t: lambda input: input.t(),
    torch.transpose: lambda input, dim0, dim1: input.transpose(dim0, dim1),
    torch.permute: lambda input, dims: input.permute(dims),
    torch.sum: _reduction("sum"),
    torch.mean: _reduction("mean"),
    torch.prod: _reduction("prod"),
    # torch.sparse.sum calls torch._sparse_sum.
    **dict.fromkeys(
        (torch.sparse.sum, torch._sparse_sum),
        lambda input, dim=None, dtype=None: input.sum(dim, dtype=dtype),
    ),
    torch.argmax: lambda input, dim=None, keepdim=False: input.argmax(dim, keepdim),
    torch.argmin: lambda input, dim=None, keepdim=False: input.argmin(dim, keepdim),
    torch.logsumexp: lambda input, dim, keepdim=False: input.logsumexp(dim, keepdim),
    torch.sparse.softmax: _sparse_softmax("softmax"),
    torch.sparse.log_softmax: _sparse_softmax("log_softmax"),
    torch.amax: lambda input, dim=None, keepdim=False: input.amax(dim, keepdim),
    torch.amin: lambda input, dim=None, keepdim=False: input.amin(dim, keepdim),
}

# Methods of torch.Tensor, and functions of torch with the same names.
_METHODS: dict[str, Handler] = {
    "mm": _mm,
    "bmm": _bmm,
    **dict.fromkeys(("matmul", "__matmul__"), _matmul),
    "mv": _mv,
    **dict.fromkeys(("add", "__add__"), _add),
    **dict.fromkeys(("sub", "subtract", "__sub__"), _sub),
    **dict.fromkeys(("mul", "multiply", "__mul__"), _mul),
    **dict.fromkeys(("div", "divide", "true_divide", "__truediv__"), _div),
}
