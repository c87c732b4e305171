"""Patterns of tensors that were taken apart: by pickling, or into the leaves of a tree.

The parts may come from any file or caller, so all of them are checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from tulle.library import bindings, devices, dtypes
from tulle.support.arguments import shape_of
from tulle.support.errors import UserError
from tulle.tensors.composite_pattern import CompositePattern, reassembled, taken_apart
from tulle.tensors.formats import Format
from tulle.tensors.held_structure import hold_in_advance, write
from tulle.tensors.own_memory import (
    copied,
    has_elements,
    has_unseen_writers,
    with_counted_writes,
)
from tulle.tensors.pattern import Pattern, sizes_tensor


def assembled(
    name: str, format: Any, numbers: Any, arrays: Any, values: Any, index_dtype: Any
) -> Pattern:
    """The pattern with these arrays, in O(entries). Raises UserError if the structure is invalid or
    does not fit the values; messages call the tensor `name`."""
    _check_tensors(name, arrays, values)
    arrays = with_counted_writes(arrays, values)
    format, shape, counts, index_dtype = _checked(
        name, format, numbers, arrays, values, index_dtype
    )
    pattern = _pattern_of(format, shape, counts, arrays, index_dtype)
    hold_in_advance(pattern)
    return pattern


def restored_pattern(
    format: Any, numbers: Any, arrays: Any, values: Any, index_dtype: Any
) -> Pattern:
    """The pattern of a pickle. For old files PyTorch fills the tensors after this call, and tensors
    of one file may share memory. So the pattern copies its arrays, now or at its first use."""
    name = "the pickled tensor"
    _check_tensors(name, arrays, values)
    # Memory of another process or of the file is copied before it is checked.
    is_elsewhere = all(map(has_unseen_writers, arrays))
    arrays = tuple(map(copied, arrays)) if is_elsewhere else tuple(arrays)
    format, shape, counts, index_dtype = _checked(
        name, format, numbers, arrays, values, index_dtype
    )
    if is_elsewhere:
        return _pattern_of(format, shape, counts, arrays, index_dtype)
    kind = CompositePattern if counts else Pattern
    pattern = kind.from_file(str(format), shape, arrays, index_dtype, values.numel())
    if isinstance(pattern, CompositePattern):
        write(pattern, "counts", counts)
    return pattern


def _checked(
    name: str,
    format: Any,
    numbers: Any,
    arrays: Sequence[Tensor],
    values: Tensor,
    index_dtype: Any,
) -> tuple[Format, tuple[int, ...], tuple[int, ...], torch.dtype]:
    """The format, the shape, the counts of the parts and the index type, checked."""
    if not isinstance(format, str):
        raise UserError(f"{name}: expected the text of a format, but found {format!r}.")
    sizes = shape_of(name, numbers)
    shape, counts = sizes, sizes[:0]
    if Format(format, 2).is_composite:
        known, shape, counts = taken_apart(format, sizes)
    else:
        known = Format(format, len(shape))
    if known.is_dense:
        raise UserError(f"{name}: a dense tensor has no structure; use an ordinary tensor.")
    index_dtype = _index_dtype(name, arrays, index_dtype)
    spec = f"{dtypes.name_of(values.dtype)} {dtypes.name_of(index_dtype)} {len(shape)} {known}"
    on_host = [tensor.detach().cpu() for tensor in (*arrays, values)]
    bindings.validate(name, spec, sizes_tensor(sizes), on_host)
    return known, shape, counts, index_dtype


def _check_tensors(name: str, arrays: Any, values: Any) -> None:
    """Raises UserError unless these are tensors with elements, on one device."""
    if not isinstance(arrays, list | tuple):
        raise UserError(f"{name}: expected a list of arrays, but found {type(arrays).__name__}.")
    for tensor in (values, *arrays):
        if not has_elements(tensor):
            raise UserError(f"{name}: expected dense tensors, but found {type(tensor).__name__}.")
        devices.check(name, tensor.device)
        if tensor.device != values.device:
            raise UserError(f"{name}: its tensors are on {tensor.device} and {values.device}.")


def _index_dtype(name: str, arrays: Sequence[Tensor], given: Any) -> torch.dtype:
    """The type of positions and coordinates. Marks of bitmaps do not show it."""
    shown = {array.dtype for array in arrays if array.dtype != torch.bool}
    if not shown:
        shown = {given if given in dtypes.INDEX_DTYPES else torch.int64}
    if len(shown) != 1 or not shown <= set(dtypes.INDEX_DTYPES):
        raise UserError(
            f"{name}: positions and coordinates are all int32 or all int64, but found "
            f"{', '.join(sorted(map(str, shown)))}."
        )
    return shown.pop()


def _pattern_of(
    format: Format,
    shape: tuple[int, ...],
    counts: tuple[int, ...],
    arrays: tuple[Tensor, ...],
    index_dtype: torch.dtype,
) -> Pattern:
    """The pattern of a checked structure."""
    if counts:
        return reassembled(str(format), shape + counts, index_dtype, arrays, is_checked=True)
    return Pattern._of_valid(format, shape, arrays, index_dtype)
