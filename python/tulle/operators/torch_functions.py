"""PyTorch's functions on sparse tensors: the handlers of `tensors.torch_dispatch`."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from tulle.notation.einsums import einsum
from tulle.operators import arithmetic, reductions
from tulle.programs.call_sites import CallSite, Prepared
from tulle.programs.program import Result, statement_program
from tulle.support.errors import Unsupported, UserError
from tulle.tensors.torch_dispatch import Handler, handlers, quick_handlers, reversed_handlers


def register() -> None:
    """Makes PyTorch's functions accept sparse tensors."""
    handlers.update(_HANDLERS)
    for function, handler in _HANDLERS.items():
        name = getattr(function, "__name__", "")  # that of __rtruediv__ is __rdiv__
        if name.startswith("__r"):
            reversed_handlers[name] = handler
    for name, handler in _METHODS.items():
        handlers[getattr(Tensor, name)] = handler
        if hasattr(torch, name):
            handlers[getattr(torch, name)] = handler
    for name in _ELEMENT_FUNCTIONS:
        handlers[getattr(torch, name)] = _element_handler(name)
        quick_handlers[getattr(torch, name)] = arithmetic.element_site(name).run_on_one
    for function in (torch.mm, torch.matmul, torch.sparse.mm, torch.mv, torch.bmm):
        quick_handlers[function] = arithmetic.matmul
    for name in ("softmax", "log_softmax"):
        handlers[getattr(functional, name)] = _softmax_handler(name)
        handlers[getattr(torch, name)] = _softmax_handler(name)


# ---- products and arithmetic -------------------------------------------------------------------


def _matmul(left: Any, right: Any, *, out: Tensor | None = None) -> Result:
    if out is None:
        return arithmetic.matmul(left, right)
    return arithmetic.matmul_into(left, right, out)


def _reversed(handler: Handler) -> Handler:
    return lambda left, right: handler(right, left)


def _scaled(symbol: str) -> Handler:
    """torch.add and torch.sub, which multiply the second operand by alpha."""

    def handle(left: Any, right: Any, *, alpha: Any = 1) -> Result:
        return arithmetic.binary(symbol, left, right if alpha == 1 else right * alpha)

    return handle


def _plain(symbol: str) -> Handler:
    return lambda left, right: arithmetic.binary(symbol, left, right)


def _linear(input: Any, weight: Any, bias: Any = None) -> Result:
    """input @ weight^T + bias, without transposing an operand."""
    result: Result = _LINEAR.run_on_two(input, weight)
    return result if bias is None else result + bias


def _prepare_linear(operands: Sequence[Any]) -> Prepared:
    input, weight = operands
    if weight.ndim != 2:
        raise UserError(f"linear: the weight must be a matrix, but it has rank {weight.ndim}.")
    rows = [f"b{n}" for n in range(input.ndim - 1)]
    text = f"Y[{','.join([*rows, 'o'])}] = X[{','.join([*rows, 'i'])}] * W[o,i]"
    return statement_program(text), ("X", "W"), operands


_LINEAR = CallSite(_prepare_linear, has_graph_call=True, is_product=True)


def _addmm(input: Any, left: Any, right: Any, *, beta: Any = 1, alpha: Any = 1) -> Result:
    product = arithmetic.matmul(left, right)
    product = product if alpha == 1 else product * alpha
    if beta == 0:
        return product
    return (input if beta == 1 else input * beta) + product


def _einsum(equation: str, *operands: Any) -> Result:
    """torch.einsum, which also takes its operands as one list."""
    if len(operands) == 1 and isinstance(operands[0], list | tuple):
        operands = tuple(operands[0])
    return einsum(equation, *operands)


# ---- element functions and softmax ---------------------------------------------------------------

# Functions that torch and the compiler have under the same name.
_ELEMENT_FUNCTIONS = [
    *("neg", "abs", "relu", "sign", "square", "sqrt", "floor", "ceil", "round", "trunc"),
    *("sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "expm1", "log1p", "erf"),
    *("exp", "log", "cos", "cosh", "sigmoid"),
]


def _element_handler(name: str) -> Handler:
    return lambda operand: arithmetic.element_function(name, operand)


def _relu(input: Any, inplace: bool = False) -> Result:
    if inplace:
        raise Unsupported("relu: sparse tensors are not changed in place; use the result instead.")
    return arithmetic.element_function("relu", input)


def _softmax_handler(name: str) -> Handler:
    def handle(input: Any, dim: Any = None, _stacklevel: int = 3, dtype: Any = None) -> Result:
        if dim is None:
            raise UserError(f"{name}: a dimension is required: {name}(A, dim=1).")
        return reductions.softmax(name, input if dtype is None else input.to(dtype), dim)

    return handle


# ---- the tables ----------------------------------------------------------------------------------

_add, _sub, _mul, _div = _scaled("+"), _scaled("-"), _plain("*"), _plain("/")

_HANDLERS: dict[Any, Handler] = {
    # Dynamo calls operators by these names.
    operator.matmul: _matmul,
    operator.add: _add,
    operator.sub: _sub,
    operator.mul: _mul,
    operator.truediv: _div,
    torch.einsum: _einsum,
    torch.sparse.mm: _matmul,
    functional.linear: _linear,
    functional.relu: _relu,
    torch.addmm: _addmm,
    torch.sparse.addmm: _addmm,
    Tensor.addmm: _addmm,
    Tensor.__radd__: _reversed(_add),
    Tensor.__rsub__: _reversed(_sub),
    Tensor.__rmul__: _reversed(_mul),
    Tensor.__rtruediv__: _reversed(_div),
    Tensor.__rmatmul__: _reversed(_matmul),
    torch.t: lambda tensor: tensor.t(),
    torch.transpose: lambda tensor, dim0, dim1: tensor.transpose(dim0, dim1),
    torch.permute: lambda tensor, dims: tensor.permute(dims),
    torch.sum: lambda tensor, dim=None, keepdim=False: tensor.sum(dim, keepdim),
    torch.sparse.sum: lambda tensor, dim=None: tensor.sum(dim),
    torch.argmax: lambda tensor, dim=None, keepdim=False: tensor.argmax(dim, keepdim),
    torch.argmin: lambda tensor, dim=None, keepdim=False: tensor.argmin(dim, keepdim),
    torch.logsumexp: lambda tensor, dim, keepdim=False: tensor.logsumexp(dim, keepdim),
    torch.sparse.softmax: lambda tensor, dim: tensor.softmax(dim),
    torch.sparse.log_softmax: lambda tensor, dim: tensor.log_softmax(dim),
    torch.mean: lambda tensor, dim=None, keepdim=False: tensor.mean(dim, keepdim),
    torch.amax: lambda tensor, dim=None, keepdim=False: tensor.amax(dim, keepdim),
    torch.amin: lambda tensor, dim=None, keepdim=False: tensor.amin(dim, keepdim),
    torch.prod: lambda tensor, dim=None, keepdim=False: tensor.prod(dim, keepdim),
}

# Methods of torch.Tensor, and functions of torch with the same names.
_METHODS: dict[str, Handler] = {
    **dict.fromkeys(("mm", "matmul", "mv", "bmm", "__matmul__"), _matmul),
    **dict.fromkeys(("add", "__add__"), _add),
    **dict.fromkeys(("sub", "subtract", "__sub__"), _sub),
    **dict.fromkeys(("mul", "multiply", "__mul__"), _mul),
    **dict.fromkeys(("div", "divide", "true_divide", "__truediv__"), _div),
}
