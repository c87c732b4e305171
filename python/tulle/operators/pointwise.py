"""Torch's elementwise functions on sparse tensors: torch computes them from stored values."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeGuard

import torch
from torch import Tensor
from torch.compiler import is_compiling
from torch.utils._python_dispatch import _disable_current_modes

from tulle.operators.alignment import (
    expanded,
    on_intersection,
    on_union,
    values_at,
    with_single_entries,
    without_duplicates,
)
from tulle.operators.pointwise_table import BY_FUNCTION, METHODS, Absent, Pointwise
from tulle.programs.operands import as_operand
from tulle.programs.program import Operand
from tulle.support.arguments import common_shape
from tulle.support.errors import Unsupported, UserError
from tulle.support.kinds import is_number
from tulle.tensors.graph_boundary import recorded
from tulle.tensors.sparse_tensor import SparseTensor
from tulle.tensors.stored_tensor import is_operand
from tulle.tensors.torch_dispatch import Handler

# Options and operands by position or keyword.
_Given = dict[Any, Any]


def handler_of(pointwise: Pointwise) -> Handler:
    """The function as callers write it, for sparse tensors."""
    function, name = pointwise.function, _name_of(pointwise)
    if pointwise.absent is not Absent.WITH_OPERAND:
        return _with_numbers(pointwise)

    def on_values(input: Any, *args: Any, **options: Any) -> Any:
        pattern = input._pattern
        if "nonunique" in pattern._format_text:
            return _apply(name, input, *args, **options)
        return SparseTensor(pattern, function(input._values, *args, **options))

    return on_values


def _with_numbers(pointwise: Pointwise) -> Handler:
    """The function, with less overhead for a sparse tensor and a number."""
    function, name = pointwise.function, _name_of(pointwise)

    def handle(*operands: Any, **options: Any) -> Any:
        if "input" in options:
            operands = (options.pop("input"), *operands)
        if len(operands) == 2 and not options and not is_compiling():
            tensor, number = operands
            if type(tensor) is SparseTensor and type(number) in (int, float):
                pattern, values = tensor._pattern, tensor._values
                if "nonunique" not in pattern._format_text and _is_kept_beside(
                    name, values.dtype, number
                ):
                    return SparseTensor(pattern, function(values, number))
        return _apply(name, *operands, **options)

    return handle


@lru_cache(maxsize=4096)
def _is_kept_beside(name: str, dtype: torch.dtype, number: float) -> bool:
    """Whether the function of a tensor with this type and a number is absent where the tensor
    is."""
    pointwise = _BY_NAME[name]
    if pointwise.absent in (Absent.WITH_FIRST, Absent.WITH_ANY):
        return True
    described = ((0, _described_type(dtype)), (1, ("option", number)))
    return _maps_zeros_to_zero(name, described)


def method(name: str) -> Handler:
    """The method of sparse tensors with this name."""
    return handler_of(METHODS[name])


def operator_method(name: str, is_reversed: bool = False) -> Handler:
    """The method of an operator, which returns NotImplemented for other objects than tensors."""
    compute = method(name)

    def operate(self: Any, other: Any) -> Any:
        is_plain = type(other) is int or type(other) is float
        if not (is_plain or is_number(other) or is_operand(other)):
            return NotImplemented
        return compute(other, self) if is_reversed else compute(self, other)

    return operate


# Dynamo passes text through graphs but no functions.
_BY_NAME: dict[str, Pointwise] = {}


def _name_of(pointwise: Pointwise) -> str:
    name = f"{pointwise.function.__module__}.{pointwise.name}"
    assert _BY_NAME.setdefault(name, pointwise) == pointwise
    return name


def _apply(name: str, /, *operands: Any, **options: Any) -> Any:
    """The function on these operands; at least one is a sparse tensor."""
    return _computed(name, *operands, **options)[0]


@recorded
def _computed(name: str, /, *operands: Any, **options: Any) -> list[Any]:
    """The result of `_apply`, and the tensors whose numbers of entries torch.compile finds out
    while it computes the result. It records only numbers that belong to results."""
    pointwise = _BY_NAME[name]
    given: _Given = {**dict(enumerate(operands)), **options}
    for key, value in given.items():
        if is_operand(value) and not _is_tensor(value):
            given[key] = as_operand("an operand", value)
    if is_kept(pointwise, given):
        combined, aligned = align(pointwise, given)
        result = SparseTensor(combined[0]._pattern, _call(pointwise, aligned))
        return [result, *combined[1:]]
    common_shape(pointwise.name, [one.shape for one in given.values() if _is_tensor(one)])
    if given.get("inplace"):
        raise Unsupported(
            f"{pointwise.name}: the result has values at absent elements, so it does not fit into "
            "the tensor; omit inplace=True to get a dense result."
        )
    return [_call(pointwise, {key: _dense(value) for key, value in given.items()})]


def _call(pointwise: Pointwise, given: _Given) -> Tensor:
    positional = [value for key, value in given.items() if isinstance(key, int)]
    named = {key: value for key, value in given.items() if not isinstance(key, int)}
    result: Tensor = pointwise.function(*positional, **named)
    return result


def _is_tensor(value: object) -> TypeGuard[Operand]:
    """Whether it is a sparse tensor of Tulle or a dense tensor of torch."""
    is_dense = isinstance(value, Tensor) and value.layout == torch.strided
    return is_dense or isinstance(value, SparseTensor)


def _dense(value: Any) -> Any:
    return value.to_dense() if isinstance(value, SparseTensor) else value


# ---- which results are sparse ------------------------------------------------------------------


def is_kept(pointwise: Pointwise, given: _Given) -> bool:
    """Whether the result is absent where sparse operands are absent."""
    if pointwise.absent is Absent.WITH_FIRST:
        return isinstance(given.get(0), SparseTensor)
    if pointwise.absent is Absent.WITH_ANY:
        return True
    if pointwise.absent is Absent.CHOICE:
        return _is_zero_choice(*(given.get(at, given.get(key)) for at, key in _CHOICE))
    if any(isinstance(value, Tensor) for value in given.values()):
        return False
    if pointwise.absent is Absent.WITH_OPERAND:
        return True
    named = [(key, _described(value)) for key, value in given.items()]
    return _maps_zeros_to_zero(_name_of(pointwise), tuple(named))


_CHOICE = ((0, "condition"), (1, "input"), (2, "other"))


def _is_zero_choice(condition: Any, yes: Any, no: Any) -> bool:
    """Whether where(condition, yes, no) is 0 where the sparse operands are absent."""

    def is_zero(value: Any) -> bool:
        return isinstance(value, SparseTensor) or (is_number(value) and value == 0)

    return is_zero(no) and (isinstance(condition, SparseTensor) or is_zero(yes))


def _described(value: Any) -> Any:
    """An operand as it is where sparse operands are absent."""
    if not isinstance(value, SparseTensor):
        return "option", value
    return _described_type(value.dtype)


def _described_type(dtype: torch.dtype) -> Any:
    # The CPU computes some functions in float32 only.
    return "absent", torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype


@lru_cache(maxsize=4096)
def _maps_zeros_to_zero(name: str, described: tuple[tuple[Any, Any], ...]) -> bool:
    with _disable_current_modes(), torch.no_grad():
        given = {
            key: torch.zeros((), dtype=value, device="cpu") if kind == "absent" else value
            for key, (kind, value) in described
        }
        return bool(_call(_BY_NAME[name], given) == 0)


# ---- operands at the entries of the result -----------------------------------------------------


def align(pointwise: Pointwise, given: _Given) -> tuple[list[SparseTensor], _Given]:
    """The operands that decide the entries of a sparse result, with these entries, and all operands
    as values at these entries."""
    operands: dict[Any, Operand] = {
        key: value for key, value in given.items() if isinstance(value, SparseTensor | Tensor)
    }
    shape = common_shape(pointwise.name, [one.shape for one in operands.values()])
    sparse = {
        key: without_duplicates(expanded(value, shape))
        for key, value in operands.items()
        if isinstance(value, SparseTensor)
    }
    keys = list(sparse)
    if pointwise.absent is Absent.WITH_FIRST:
        keys = keys[:1]
        if len(operands) > 1:
            sparse[0] = with_single_entries(sparse[0])
    combine = on_intersection if pointwise.absent is Absent.WITH_ANY else on_union
    combined = combine([sparse[key] for key in keys])
    aligned = dict(given)
    aligned.update((key, one._values) for key, one in zip(keys, combined, strict=True))
    for key, operand in operands.items():
        if key not in keys:
            aligned[key] = values_at(sparse.get(key, operand), combined[0])
    return combined, aligned


# torch.div with a rounding mode.
rounded_quotient = handler_of(Pointwise("div", torch.div, Absent.WITH_FIRST))


def prelu(input: Any, weight: Tensor) -> Any:
    """torch.prelu: `weight` times the negative elements. It has one number, or one for each
    coordinate of dimension 1."""
    if not isinstance(input, SparseTensor):
        raise UserError("prelu: the weight must be dense; write weight.to_dense().")
    if weight.numel() != 1:
        if input.ndim < 2 or weight.numel() != input.shape[1]:
            raise UserError(
                f"prelu: {weight.numel()} weights do not fit a tensor of the shape "
                f"{list(input.shape)}; expected 1, or one for each coordinate of dimension 1."
            )
        weight = weight.reshape(-1, *[1] * (input.ndim - 2))
    found: SparseTensor = without_duplicates(input)
    factors = values_at(weight.reshape(()) if weight.numel() == 1 else weight, found)
    values = found._values
    return SparseTensor(found._pattern, torch.where(values > 0, values, values * factors))


# polygamma, whose method and function have their arguments in different orders.
polygamma = handler_of(Pointwise("polygamma", torch.polygamma, Absent.IF_ZERO))

HANDLERS: dict[Any, Handler] = {
    function: handler_of(pointwise)
    for function, pointwise in BY_FUNCTION.items()
    if callable(function)  # Tensor.real is a property, for which torch calls no function
}
