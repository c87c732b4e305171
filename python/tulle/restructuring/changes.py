"""Running a change of structure: its structure arrays are computed, its values are gathered.

A change is a function from the structure of its operands to the entries of its result. Autograd
sees only the gather of the values. torch.compile records the rest as one operator.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import torch
from torch import Tensor

from tulle.library import dtypes
from tulle.programs.graph_calls import fake_storage, is_traced
from tulle.restructuring.entries import Entries, Source, Storage, may_pad, stored
from tulle.restructuring.packing import Packed, packed, unpacked
from tulle.support.errors import UserError
from tulle.tensors.formats import Format
from tulle.tensors.pattern import Pattern, living_pattern
from tulle.tensors.sparse_tensor import SparseTensor

# From operands, parameters (text, numbers, tensors and tuples of these) and the format and shape of
# the result to its entries, or to its storage in that format.
Change: TypeAlias = Callable[[list[Source], Any, Format, tuple[int, ...]], Entries | Storage]
# From the values of all operands, and for each slot of the result the number of its value, or -1.
Combine: TypeAlias = Callable[[list[Tensor], Tensor], Tensor]

_changes: dict[str, Change] = {}


def change(function: Change) -> Change:
    """Makes `changed` find the function by its name."""
    _changes[function.__name__.strip("_")] = function
    return function


def gathered(values: Sequence[Tensor], numbers: Tensor) -> Tensor:
    """The values with these numbers, 0 for the number -1."""
    joined = torch.cat([*values, values[0].new_zeros(1)])
    return joined.index_select(0, torch.where(numbers < 0, joined.numel() - 1, numbers))


def changed(
    name: str,
    sources: Sequence[SparseTensor],
    parameters: Any,
    format: Format,
    shape: Sequence[int],
    combine: Combine = gathered,
) -> SparseTensor:
    """The result of a change in a format. Each operand has one part and no coordinate twice
    (`merged`)."""
    if format.is_composite:
        plain = Format("coo", len(shape))
        whole = changed(name, sources, parameters, plain, shape, combine)
        return distributed(whole, format)
    index_dtype = _index_dtype(sources, shape)
    sizes = tuple(shape)
    *arrays, numbers = _run(name, sources, parameters, str(format), sizes, index_dtype)
    values = _promoted(sources)
    if may_pad(format) or combine is not gathered:
        found = combine(values, numbers)
    else:
        found = (values[0] if len(values) == 1 else torch.cat(values)).index_select(0, numbers)
    # A graph runs changes on operands that nothing has checked.
    is_checked = all(source._pattern.is_checked for source in sources) and not is_traced([found])
    make = Pattern._of_valid if is_checked else Pattern
    pattern = make(format, sizes, tuple(arrays), index_dtype)
    return SparseTensor(pattern, found)


def distributed(source: SparseTensor, format: Format) -> SparseTensor:
    """The tensor in a composite format. The numbers of the values, counted from 1, are distributed
    to the parts in place of the values, so that autograd sees a gather."""
    values = source.values()
    listed = torch.arange(1, values.numel() + 1, device=values.device)
    found: SparseTensor = source.with_values(listed).to(format=format)
    return SparseTensor(found.pattern, gathered([values], found.values().clamp(min=0) - 1))


def looked_up(name: str, source: SparseTensor, parameters: Any, shape: Sequence[int]) -> Tensor:
    """The ordinary tensor whose elements have the numbers that a change finds."""
    sizes = tuple(shape)
    [numbers] = _run(name, [source], parameters, "dense", sizes, torch.int64)
    return gathered([source.values()], numbers.reshape(-1)).reshape(sizes)


def _index_dtype(sources: Sequence[SparseTensor], shape: Sequence[int]) -> torch.dtype:
    """The widest type of the operands, or int64 if coordinates need it."""
    is_wide = any(source.index_dtype == torch.int64 for source in sources)
    return torch.int64 if is_wide else dtypes.smallest_index_dtype(tuple(shape), 0)


def _promoted(sources: Sequence[SparseTensor]) -> list[Tensor]:
    """The values in their common type."""
    values = [source.values() for source in sources]
    dtype = values[0].dtype
    for other in values[1:]:
        dtype = torch.promote_types(dtype, other.dtype)
    return [one if one.dtype == dtype else one.to(dtype) for one in values]


# ---- running, and the operator in graphs ---------------------------------------------------------


def _run(
    name: str,
    sources: Sequence[SparseTensor],
    parameters: Any,
    format: str,
    shape: tuple[int, ...],
    index_dtype: torch.dtype,
) -> list[Tensor]:
    index = dtypes.name_of(index_dtype)
    values = [source._values for source in sources]
    if not is_traced([*sources, *_tensors_in(parameters)]):
        for source in sources:
            source._pattern.ensure_checked()
        given = [
            (source._pattern, one.shape[0], one.device)
            for source, one in zip(sources, values, strict=True)
        ]
        return _found(name, given, parameters, format, shape, index)
    described = []
    for source in sources:
        pattern = source._pattern
        own_index = dtypes.name_of(pattern.index_dtype)
        # Without arrays, an empty tensor tells the device.
        arrays = pattern.arrays or (source._values.new_empty(0, dtype=torch.int64),)
        count = source._values.shape[0]
        described.append((pattern._format_text, own_index, pattern.shape, arrays, count))
    parts = packed((name, tuple(described), parameters, format, shape, index))
    return _operator(parts.text, parts.sizes, parts.tensors)


def _tensors_in(parameters: Any) -> list[Tensor]:
    if isinstance(parameters, Tensor):
        return [parameters]
    if isinstance(parameters, tuple):
        return [tensor for item in parameters for tensor in _tensors_in(item)]
    return []


def _computed(call: tuple[Any, ...]) -> list[Tensor]:
    """The structure arrays of the result and the numbers of its values."""
    name, described, parameters, format_text, shape, index = call
    given = []
    for text, source_index, sizes, arrays, count in described:
        pattern = _pattern_of(text, sizes, arrays, dtypes.BY_NAME[source_index])
        given.append((pattern, count, arrays[0].device))
    return _found(name, given, parameters, format_text, shape, index)


def _found(
    name: str,
    given: Sequence[tuple[Pattern, int, torch.device]],
    parameters: Any,
    format_text: str,
    shape: tuple[int, ...],
    index: str,
) -> list[Tensor]:
    """As `_computed`, from the patterns of the operands."""
    sources, first = [], 0
    for pattern, count, device in given:
        sources.append(Source(pattern, first, count, device))
        first += count
    format = Format(format_text, len(shape))
    found = _changes[name](sources, parameters, format, shape)
    if format.is_dense:
        return [found.numbers]
    if isinstance(found, Entries):
        found = stored(found, format, shape, dtypes.BY_NAME[index])
    if dtypes.BY_NAME[index] == torch.int32 and found.numbers.numel() >= 2**31:
        raise UserError(
            f"The result has {found.numbers.numel()} values, which int32 cannot count; convert the "
            "tensor with tulle.tensor(A, index_dtype=torch.int64)."
        )
    wanted = dtypes.BY_NAME[index]
    arrays = [one if one.dtype == torch.bool else one.to(wanted) for one in found.arrays]
    return [*arrays, found.numbers]


def _pattern_of(
    text: str, shape: tuple[int, ...], arrays: tuple[Tensor, ...], index_dtype: torch.dtype
) -> Pattern:
    format = Format(text, len(shape))
    own = arrays if any(level.arrays for level in format.levels) else ()
    return living_pattern(format, shape, own) or Pattern(format, shape, own, index_dtype)


@torch.library.custom_op("tulle_python::change_structure", mutates_args=())
def _operator(text: str, sizes: Sequence[int], tensors: Sequence[Tensor]) -> list[Tensor]:
    return _computed(unpacked(Packed(text, list(sizes), list(tensors))))


@_operator.register_fake
def _(text: str, sizes: Sequence[int], tensors: Sequence[Tensor]) -> list[Tensor]:
    call = unpacked(Packed(text, list(sizes), list(tensors)))
    _, _, _, format_text, shape, index = call
    format = Format(format_text, len(shape))
    if format.is_dense:
        return [tensors[0].new_empty(math.prod(shape), dtype=torch.int64)]
    return fake_storage(format, dtypes.BY_NAME[index], torch.int64, list(shape), tensors[0])
