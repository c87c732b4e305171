"""Changes of a sparse tensor in place. They change its values. A sum with entries that the tensor
does not have also changes its pattern."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.compiler import is_compiling

from tulle.library import dtypes
from tulle.operators.alignment import (
    expanded,
    on_union,
    values_at,
    with_single_entries,
    without_duplicates,
)
from tulle.operators.pointwise import is_kept
from tulle.operators.pointwise_table import METHODS, Absent, Pointwise
from tulle.programs.operands import as_operand
from tulle.support.arguments import common_shape
from tulle.support.errors import UserError
from tulle.support.kinds import is_number
from tulle.tensors.graph_boundary import recorded
from tulle.tensors.sparse_tensor import SparseTensor
from tulle.tensors.stored_tensor import is_operand
from tulle.tensors.torch_dispatch import Handler

# The operators that other modules compute out of place.
_ARITHMETIC = {
    "mul": Pointwise("mul", torch.mul, Absent.WITH_ANY),
    "div": Pointwise("div", torch.div, Absent.WITH_FIRST),
    "add": Pointwise("add", torch.add, Absent.IF_ZERO),
    "sub": Pointwise("sub", torch.sub, Absent.IF_ZERO),
}
_ALIASES = {"multiply": "mul", "divide": "div", "true_divide": "div", "subtract": "sub"}
# The functions whose results may have more entries than the changed tensor.
_SUMS = ("add", "sub")
# The functions that may be applied to the values of duplicates one by one.
_LINEAR = ("mul", "div", "neg", "negative", "deg2rad", "rad2deg")

AUGMENTED = {
    "__iadd__": "add",
    "__isub__": "sub",
    "__imul__": "mul",
    "__itruediv__": "div",
    "__ifloordiv__": "floor_divide",
    "__imod__": "remainder",
    "__ipow__": "pow",
    "__iand__": "bitwise_and",
    "__ior__": "bitwise_or",
    "__ixor__": "bitwise_xor",
}


_NUMBERS = frozenset((int, float))
# The changes by at most one number that fit: the name of the function, the type of the values, the
# number.
_fitting: set[Any] = set()
_MOST_FITTING = 4096


def _in_place(pointwise: Pointwise) -> Handler:
    """The method that changes the values by this function."""
    name = pointwise.name
    method = getattr(Tensor, f"{name}_")

    def change(self: SparseTensor, *operands: Any, **options: Any) -> SparseTensor:
        is_plain = not (is_compiling() or options or len(operands) > 1)
        is_plain = is_plain and set(map(type, operands)) <= _NUMBERS
        key = (name, self._values.dtype, operands) if is_plain else None
        if key is not None and key in _fitting and "nonunique" not in self._pattern._format_text:
            method(self._values, *operands)
            return self
        other: Any = operands[0] if operands else options.get("other")
        if name in _SUMS and _has_more_entries(self, other):
            return _replaced(name, self, other, options.get("alpha", 1))
        positional, named = _aligned(name, self, *operands, **options)
        method(self._values, *positional, **dict(zip(options, named, strict=True)))
        if key is not None and len(_fitting) < _MOST_FITTING:
            _fitting.add(key)
        return self

    return change


@recorded
def _aligned(
    name: str, target: SparseTensor, /, *operands: Any, **options: Any
) -> tuple[list[Any], list[Any]]:
    """The operands of a change as values at the entries of the changed tensor. Raises UserError if
    the change does not fit into the tensor."""
    pointwise = _ARITHMETIC.get(name) or METHODS[name]
    given: dict[Any, Any] = {**dict(enumerate(operands, 1)), **options}
    given = {key: _operand(value) for key, value in given.items()}
    if not is_kept(pointwise, {0: target, **given}):
        raise _misfit(name)
    if name not in _LINEAR and without_duplicates(target) is not target:
        raise UserError(
            f"{name}_: the format of the tensor may hold a coordinate several times. "
            'Convert the tensor first: A = A.to(format="coo").'
        )
    needs_subset = pointwise.absent is Absent.IF_ZERO
    found = [_values_of(name, value, target, needs_subset) for value in given.values()]
    return found[: len(operands)], found[len(operands) :]


def _has_more_entries(target: SparseTensor, other: Any) -> bool:
    """Whether a sparse operand has entries that the tensor does not have. A compiled graph keeps
    the pattern of the tensor, so `_aligned` refuses such an operand there."""
    if is_compiling() or not isinstance(other, SparseTensor):
        return False
    if common_shape("add", [target.shape, other.shape]) != tuple(target.shape):
        return False
    return not _is_within(expanded(other, tuple(target.shape)), target)


def _replaced(name: str, target: SparseTensor, other: SparseTensor, alpha: Any) -> SparseTensor:
    """The tensor with the pattern and the values of a sum."""
    if target.is_leaf and target.requires_grad:
        raise UserError(
            f"{name}_: the result has entries that the tensor does not have, and the tensor "
            "requires a gradient, which belongs to its own entries. Write A = "
            f"A.{name}(...)."
        )
    result = getattr(target, name)(expanded(other, tuple(target.shape)), alpha=alpha)
    if not dtypes.can_hold(target.dtype, result.dtype):
        raise UserError(
            f"{name}_: the result of the type {result.dtype} does not fit into a tensor of the "
            f"type {target.dtype}."
        )
    stored = result.to(dtype=target.dtype, format=target.format)
    target._pattern, target._values = stored._pattern, stored._values
    return target


def _operand(value: Any) -> Any:
    if is_operand(value) and not isinstance(value, SparseTensor | Tensor):
        return as_operand("an operand", value)
    return value


def _values_of(name: str, value: Any, target: SparseTensor, needs_subset: bool) -> Any:
    """The elements of an operand at the entries of the changed tensor."""
    if not isinstance(value, SparseTensor | Tensor):
        return value
    if common_shape(name, [target.shape, value.shape]) != tuple(target.shape):
        raise UserError(
            f"{name}_: an operand of the shape {list(value.shape)} does not fit into a tensor of "
            f"the shape {list(target.shape)}."
        )
    if isinstance(value, SparseTensor):
        value = expanded(value, tuple(target.shape))
        if needs_subset and value._pattern is not target._pattern:
            if with_single_entries(target) is not target:
                raise UserError(
                    f"{name}_: the format {target.format} may hold a coordinate several times, so "
                    "the operand must have the same pattern. Write A = A.to(format="
                    f'"{_merged(target)}") first.'
                )
            if not _is_within(value, target):
                raise _misfit(name)
    return values_at(value, target)


def _merged(tensor: SparseTensor) -> str:
    return str(with_single_entries(tensor).format)


def _is_within(tensor: SparseTensor, target: SparseTensor) -> bool:
    """Whether all entries of the tensor are entries of the target."""
    if tensor._pattern is target._pattern:
        return True
    return on_union([target, tensor])[0].nnz == target.nnz


def _misfit(name: str) -> UserError:
    operator = {"add": "A + B", "sub": "A - B"}.get(name, f"A.{name}(...)")
    return UserError(
        f"{name}_: the result has values where the tensor has no entries, so it does not fit into "
        f"the tensor. Write A = {operator}, or change the stored values alone: "
        f"A.values().{name}_(...)."
    )


def zero_(input: SparseTensor) -> SparseTensor:
    """Sets the stored values to 0. The entries stay."""
    input._values.zero_()
    return input


def fill_(input: SparseTensor, value: Any) -> SparseTensor:
    """As `zero_` for the value 0; other values do not fit into a sparse tensor."""
    if not is_number(value) or value != 0:
        raise UserError(
            "fill_: a sparse tensor is 0 where it has no entries. To set the stored values write "
            "A.values().fill_(value)."
        )
    return zero_(input)


def masked_fill_(self: SparseTensor, mask: Any, value: Any) -> SparseTensor:
    """Sets the elements at which the mask is true. The value must be 0 where there are no
    entries."""
    is_zero = is_number(value) and value == 0
    mask = _operand(mask)
    if not (is_zero or isinstance(mask, SparseTensor)):
        raise _misfit("masked_fill")
    self._values.masked_fill_(_values_of("masked_fill", mask, self, not is_zero), value)
    return self


def transpose_(self: SparseTensor, dim0: int, dim1: int) -> SparseTensor:
    """Exchanges two dimensions. The values stay where they are, and the format changes."""
    return _with_result("transpose_", self, self.transpose(dim0, dim1))


def t_(self: SparseTensor) -> SparseTensor:
    """Transposes a matrix. The values stay where they are, and the format changes."""
    return _with_result("t_", self, self.t())


def _with_result(name: str, target: SparseTensor, result: SparseTensor) -> SparseTensor:
    if torch.is_grad_enabled() and target.is_leaf and target.requires_grad:
        raise UserError(
            f"{name}: the tensor is a leaf that requires a gradient. Write A = A.{name[:-1]}(...)."
        )
    target._pattern, target._values = result._pattern, result._values
    return target


def addmm_(
    self: SparseTensor, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1
) -> SparseTensor:
    """Adds a product of sparse matrices, which may have further entries."""
    return self.copy_(self.addmm(mat1, mat2, beta=beta, alpha=alpha))


METHODS_IN_PLACE: dict[str, Handler] = {
    f"{name}_": _in_place(pointwise)
    for name, pointwise in {**METHODS, **_ARITHMETIC}.items()
    if hasattr(Tensor, f"{name}_") and name != "where"
}
METHODS_IN_PLACE |= {f"{alias}_": METHODS_IN_PLACE[f"{name}_"] for alias, name in _ALIASES.items()}
METHODS_IN_PLACE |= {
    "zero_": zero_,
    "fill_": fill_,
    "masked_fill_": masked_fill_,
    "t_": t_,
    "addmm_": addmm_,
    **dict.fromkeys(("transpose_", "swapaxes_", "swapdims_"), transpose_),
}
METHODS_IN_PLACE |= {operator: METHODS_IN_PLACE[f"{name}_"] for operator, name in AUGMENTED.items()}
