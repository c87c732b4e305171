"""PyTorch's functions on sparse tensors, and sparse tensors in PyTorch's trees."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any, NoReturn

import torch
from torch import Tensor
from torch.nn import functional
from torch.utils import _pytree as pytree

from tulle.interchange import structure
from tulle.notation.einsums import einsum
from tulle.operators import arithmetic
from tulle.programs.execution import Program, Result, execute_one
from tulle.support.errors import Unsupported, UserError
from tulle.tensors import composites
from tulle.tensors.formats import Format
from tulle.tensors.sparse_tensor import SparseTensor

Handler = Callable[..., Any]


def _matmul(left: Any, right: Any, *, out: Tensor | None = None) -> Result:
    if isinstance(left, SparseTensor):
        return left.matmul(right, out=out)
    return arithmetic.matmul(left, right, out)


def _reversed(handler: Handler) -> Handler:
    return lambda left, right: handler(right, left)


def _scaled(operator: str) -> Handler:
    """torch.add and torch.sub: the second operand can be multiplied by alpha."""

    def handle(left: Any, right: Any, *, alpha: Any = 1) -> Result:
        return arithmetic.binary(operator, left, right if alpha == 1 else right * alpha)

    return handle


def _plain(operator: str) -> Handler:
    return lambda left, right: arithmetic.binary(operator, left, right)


def _linear(input: Any, weight: Any, bias: Any = None) -> Result:
    """x @ W^T + b without a transpose of anything."""
    if weight.ndim != 2:
        raise UserError(f"linear: the weight is a matrix, but it has rank {weight.ndim}.")
    rows = [f"b{n}" for n in range(input.ndim - 1)]
    text = f"Y[{','.join([*rows, 'o'])}] = X[{','.join([*rows, 'i'])}] * W[o,i]"
    result = execute_one(Program(text), ["X", "W"], [input, weight])
    return result if bias is None else result + bias


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


# Functions of every element; the compiler has them under these names.
_ELEMENT_FUNCTIONS = [
    *("neg", "abs", "relu", "sign", "square", "sqrt", "floor", "ceil", "round", "trunc"),
    *("sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "expm1", "log1p", "erf"),
    *("exp", "log", "cos", "cosh", "sigmoid"),
]

_add, _sub, _mul, _div = _scaled("+"), _scaled("-"), _plain("*"), _plain("/")

_HANDLERS: dict[Any, Handler] = {
    torch.einsum: _einsum,
    functional.linear: _linear,
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
for _function in (torch.mm, torch.matmul, torch.mv, torch.bmm, torch.sparse.mm):
    _HANDLERS[_function] = _matmul
for _name in ("mm", "matmul", "mv", "bmm", "__matmul__"):
    _HANDLERS[getattr(Tensor, _name)] = _matmul
for _handler, _names in {
    _add: ("add", "__add__"),
    _sub: ("sub", "subtract", "__sub__"),
    _mul: ("mul", "multiply", "__mul__"),
    _div: ("div", "divide", "true_divide", "__truediv__"),
}.items():
    for _name in _names:
        _HANDLERS[getattr(Tensor, _name)] = _handler
        if hasattr(torch, _name):
            _HANDLERS[getattr(torch, _name)] = _handler


def _element_handler(name: str) -> Handler:
    return lambda operand: arithmetic.element_function(name, operand)


for _name in _ELEMENT_FUNCTIONS:
    _HANDLERS[getattr(torch, _name)] = _element_handler(_name)


def _relu(input: Any, inplace: bool = False) -> Result:
    if inplace:
        raise Unsupported("relu: sparse tensors are not changed in place; use the result instead.")
    return arithmetic.element_function("relu", input)


def _softmax_handler(name: str) -> Handler:
    def handle(input: Any, dim: Any = None, _stacklevel: int = 3, dtype: Any = None) -> Result:
        if dim is None:
            raise UserError(f"{name}: the dimension is to be given, {name}(A, dim=1).")
        return arithmetic.softmax(name, input if dtype is None else input.to(dtype), dim)

    return handle


_HANDLERS[functional.relu] = _relu
for _name in ("softmax", "log_softmax"):
    _HANDLERS[getattr(functional, _name)] = _softmax_handler(_name)
    _HANDLERS[getattr(torch, _name)] = _softmax_handler(_name)


def dispatch(
    cls: type, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
) -> Any:
    """What PyTorch does with `function(*args, **kwargs)` where one of `args` is sparse."""
    handler = _HANDLERS.get(function)
    if handler is None or torch.compiler.is_compiling():
        _refuse(function)
    if not kwargs:
        return handler(*args)
    if not kwargs.keys() <= _keywords(handler):
        _refuse(function, *(kwargs.keys() - _keywords(handler)))
    return handler(*args, **kwargs)


def _refuse(function: Any, *keywords: str) -> NoReturn:
    if torch.compiler.is_compiling():
        raise Unsupported("torch.compile does not work on sparse tensors in this version.")
    name = getattr(function, "__name__", str(function))
    if keywords:
        raise Unsupported(f"torch's {name} does not take {keywords[0]}= on sparse tensors.")
    raise Unsupported(
        f"torch's {name} is not supported on sparse tensors. Express it with tulle.compute or "
        "tulle.einsum, or convert with to_dense() or to_torch()."
    )


@cache
def _keywords(handler: Handler) -> frozenset[str]:
    return frozenset(inspect.signature(handler).parameters)


def _operands(handler: Handler) -> list[str]:
    """How a call looks: A, and the names of what else has to be given."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [
        parameter.name
        for parameter in inspect.signature(handler).parameters.values()
        if parameter.default is inspect.Parameter.empty and parameter.kind in kinds
    ]
    return ["A", *needed[1:]]


# Methods of torch's tensors that sparse ones have under another name.
_INSTEAD = {"max": "amax(1), or A.argmax(1)", "min": "amin(1), or A.argmin(1)"}


def hint_for(name: str) -> str:
    """What to say of a method that a sparse tensor does not have."""
    missing = f"A sparse tensor has no attribute '{name}'"
    if name.startswith("_") or not hasattr(Tensor, name):
        return f"{missing}."
    handler = _HANDLERS.get(getattr(torch, name, None))
    if handler is not None:
        return f"{missing}; write torch.{name}({', '.join(_operands(handler))})."
    if instead := _INSTEAD.get(name):
        return f"{missing}; write A.{instead}."
    return f"{missing}, as torch's tensors have it; to_dense() and to_torch() give such tensors."


# ---- trees -------------------------------------------------------------------------------------

_Context = tuple[str, tuple[int, ...], torch.dtype]


def _flatten(tensor: SparseTensor) -> tuple[list[Tensor], _Context]:
    pattern = tensor.pattern
    return (
        [*pattern.arrays, tensor.values()],
        (str(pattern.format), pattern.numbers, pattern.index_dtype),
    )


def _flatten_with_keys(tensor: SparseTensor) -> tuple[list[tuple[Any, Tensor]], _Context]:
    children, context = _flatten(tensor)
    levels = [level for part in tensor.parts() for level in part.levels()]
    names = [f"{name}{at}" for at, level in enumerate(levels) for name in level] + ["values"]
    keys = [pytree.GetAttrKey(name) for name in names]
    return list(zip(keys, children, strict=True)), context


def _unflatten(children: Any, context: _Context) -> SparseTensor:
    *arrays, values = children
    format, shape, index_dtype = context
    return structure.reassembled(format, tuple(shape), index_dtype, tuple(arrays), values)


def _to_json(context: _Context) -> list[object]:
    format, shape, index_dtype = context
    return [format, list(shape), str(index_dtype).removeprefix("torch.")]


def _from_json(context: list[Any]) -> _Context:
    format, shape, index_dtype = context
    return format, tuple(shape), getattr(torch, index_dtype)


def register() -> None:
    """Lets PyTorch's functions take sparse tensors, trees see the tensors inside, and torch.load
    read a pickled one."""
    SparseTensor.__torch_function__ = classmethod(dispatch)  # type: ignore[attr-defined]
    pytree.register_pytree_node(
        SparseTensor,
        _flatten,
        _unflatten,
        serialized_type_name="tulle.SparseTensor",
        to_dumpable_context=_to_json,
        from_dumpable_context=_from_json,
        flatten_with_keys_fn=_flatten_with_keys,
    )
    torch.serialization.add_safe_globals([structure.restored, composites.restored, Format])
