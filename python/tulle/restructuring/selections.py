"""What an index such as `A[1:5, None, ..., rows]` selects."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from torch import SymInt, Tensor

from tulle.programs.graph_calls import is_traced
from tulle.support.errors import OutOfRange, Unsupported, UserError
from tulle.tensors.sparse_tensor import SparseTensor


class Range(NamedTuple):
    """The coordinates start, start + step, ..., `length` of them."""

    start: int
    step: int
    length: int


# The selection in a dimension: a range, one coordinate, or None if index tensors select there.
Selector: TypeAlias = Range | int | None

NEW = -1  # in `Selection.layout`: a new dimension
PICKED = -2  # the dimensions of the index tensors


class Selection(NamedTuple):
    """An index, applied to a shape."""

    selectors: tuple[Selector, ...]  # for each dimension of the operand
    picks: tuple[Tensor, ...]  # the index tensors, of equal shapes, for each selector None
    # The dimensions of the result: dimensions of the operand, NEW, and PICKED at most once.
    layout: tuple[int, ...]

    @property
    def pick_shape(self) -> tuple[int, ...]:
        return tuple(self.picks[0].shape) if self.picks else ()

    def parameters(self) -> tuple[object, ...]:
        """The selection as parameters of a change of structure."""
        return (self.selectors, self.picks, self.layout)

    def shape(self) -> tuple[int, ...]:
        """The shape of the result."""
        sizes: list[int] = []
        for item in self.layout:
            if item == PICKED:
                sizes += self.pick_shape
            elif item == NEW:
                sizes.append(1)
            else:
                chosen = self.selectors[item]
                assert isinstance(chosen, Range)
                sizes.append(chosen.length)
        return tuple(sizes)


def range_of(start: Any, stop: Any, step: Any, size: int) -> Range:
    """The coordinates of a slice, by the rules of Python."""
    step = 1 if step is None else _as_integer(step)
    if step == 0:
        raise UserError("A slice has the step 0; give a step that is not 0.")
    lowest, highest = (0, size) if step > 0 else (-1, size - 1)
    first = _bound(start, size, lowest, highest, lowest if step > 0 else highest)
    last = _bound(stop, size, lowest, highest, highest if step > 0 else lowest)
    distance = last - first if step > 0 else first - last
    stride = abs(step)
    length = distance if stride == 1 else (distance + stride - 1) // stride
    return Range(first, step, length if length > 0 else 0)


def _bound(given: Any, size: int, lowest: int, highest: int, missing: int) -> int:
    if given is None:
        return missing
    at = _as_integer(given)
    at = at + size if at < 0 else at
    return lowest if at < lowest else highest if at > highest else at


def _as_integer(value: Any) -> int:
    if isinstance(value, SymInt):
        return value
    try:
        return operator.index(value)
    except TypeError:
        raise UserError(
            f"The bounds and steps of slices must be integers, but found {value!r}."
        ) from None


def checked_coordinate(at: int, dimension: int, size: int) -> int:
    """The coordinate counted from the front. Raises OutOfRange."""
    if not -size <= at < size:
        raise OutOfRange(
            f"The index {at} is out of range: dimension {dimension} has the size {size}."
        )
    return at + size if at < 0 else at


def selection_of(index: Any, shape: Sequence[int], device: torch.device) -> Selection:
    """What an index of a tensor with this shape selects. Raises UserError."""
    return _Reader(shape, device).read(index)


class _Reader:
    """Reads an index from left to right."""

    def __init__(self, shape: Sequence[int], device: torch.device) -> None:
        self.shape = shape
        self.device = device
        self.selectors: list[Selector] = []
        self.picks: list[Tensor] = []
        self.layout: list[int] = []

    def read(self, index: Any) -> Selection:
        items = [self._prepared(item) for item in (index if type(index) is tuple else (index,))]
        used = sum(_dimensions_of(item) for item in items)
        if used > len(self.shape):
            raise OutOfRange(
                f"The index has {used} dimensions, but the tensor has rank {len(self.shape)}."
            )
        if sum(item is Ellipsis for item in items) > 1:
            raise UserError("An index has '...' more than once.")
        rest = len(self.shape) - used
        if not any(item is Ellipsis for item in items):
            items.append(Ellipsis)
        for item in items:
            if item is Ellipsis:
                for _ in range(rest):
                    self._take_range(slice(None))
            else:
                self._take(item)
        return self._selection()

    def _prepared(self, item: Any) -> Any:
        """The part of an index with lists, arrays and masks as index tensors."""
        if isinstance(item, SparseTensor):
            return self._mask_coordinates(item)
        if isinstance(item, bool | np.bool_):
            raise Unsupported(
                "A truth value as an index is not supported; use None for a new dimension."
            )
        if isinstance(item, list | np.ndarray | range):
            item = _as_tensor(item)
        if not isinstance(item, Tensor):
            return item
        if item.layout != torch.strided:
            return self._sparse_mask_of_torch(item)
        if item.dtype == torch.bool:
            return _Mask(tuple(item.shape), item.to(self.device).nonzero(as_tuple=True))
        if item.is_floating_point() or item.is_complex() or item.dtype == torch.uint8:
            raise UserError(
                f"Index tensors have integers or truth values, but one has the type {item.dtype}."
            )
        item = item.to(device=self.device, dtype=torch.int64)
        return int(item) if item.ndim == 0 and not is_traced([item]) else item

    def _sparse_mask_of_torch(self, mask: Tensor) -> _Mask:
        if mask.dtype != torch.bool:
            raise UserError(
                f"An index tensor has the layout {mask.layout}; convert it with to_dense()."
            )
        whole = mask.to(self.device).to_sparse().coalesce()
        coordinates = whole.indices()[:, whole.values()]
        return _Mask(tuple(mask.shape), tuple(coordinates.unbind()))

    def _mask_coordinates(self, mask: SparseTensor) -> _Mask:
        if mask.dtype != torch.bool:
            raise UserError(
                f"A sparse index is a mask of truth values, but its type is {mask.dtype}."
            )
        whole: SparseTensor = mask.to(format="coo")
        coordinates = whole.coordinates()[:, whole.values()]
        return _Mask(tuple(mask.shape), tuple(coordinates.unbind()))

    def _take(self, item: Any) -> None:
        if item is None:
            self.layout.append(NEW)
        elif isinstance(item, slice):
            self._take_range(item)
        elif isinstance(item, _Mask):
            for size in item.shape:
                if size != self.shape[len(self.selectors)]:
                    first = len(self.selectors)
                    raise OutOfRange(
                        f"The mask has the shape {list(item.shape)}, but the dimensions of the "
                        f"tensor from {first} on have the sizes {list(self.shape[first:])}."
                    )
                self._take_picks(item.coordinates[0])
                item = _Mask(item.shape, item.coordinates[1:])
        elif isinstance(item, Tensor):
            dimension = len(self.selectors)
            self._take_picks(_counted_from_front(item, dimension, self.shape[dimension]))
        else:
            self._take_coordinate(item)

    def _take_range(self, item: slice) -> None:
        dimension = len(self.selectors)
        found = range_of(item.start, item.stop, item.step, self.shape[dimension])
        self.selectors.append(found)
        self.layout.append(dimension)

    def _take_picks(self, picks: Tensor) -> None:
        self.selectors.append(None)
        self.picks.append(picks)
        self.layout.append(PICKED)

    def _take_coordinate(self, item: Any) -> None:
        dimension = len(self.selectors)
        try:
            at = item if isinstance(item, SymInt) else operator.index(item)
        except TypeError:
            raise UserError(
                "An index consists of integers, slices, index tensors, masks, None and '...', but "
                f"found {type(item).__name__}."
            ) from None
        self.selectors.append(checked_coordinate(at, dimension, self.shape[dimension]))

    def _selection(self) -> Selection:
        """The selection. The dimensions of several index tensors are where these are if they are
        adjacent, else first, as in torch."""
        places = [at for at, item in enumerate(self.layout) if item == PICKED]
        rest = [item for item in self.layout if item != PICKED]
        if places:
            is_adjacent = places[-1] - places[0] == len(places) - 1
            rest.insert(places[0] if is_adjacent else 0, PICKED)
        try:
            picks = torch.broadcast_tensors(*self.picks) if self.picks else ()
        except RuntimeError:
            shapes = ", ".join(str(list(one.shape)) for one in self.picks)
            raise OutOfRange(
                f"The shapes of the index tensors do not broadcast: {shapes}."
            ) from None
        return Selection(tuple(self.selectors), tuple(picks), tuple(rest))


def _as_tensor(item: Any) -> Tensor:
    """The list or array as an index tensor."""
    try:
        found = torch.as_tensor(list(item) if isinstance(item, range) else item)
    except (RuntimeError, TypeError, ValueError):
        raise UserError(
            f"A list as an index consists of integers or truth values, but found {item!r}. "
            "Separate the dimensions of an index by commas, without a list."
        ) from None
    is_empty_list = not found.numel() and found.is_floating_point()
    return found.to(torch.int64) if is_empty_list else found


class _Mask(NamedTuple):
    """A mask as index tensors."""

    shape: tuple[int, ...]
    coordinates: tuple[Tensor, ...]


def _dimensions_of(item: Any) -> int:
    if item is None or item is Ellipsis:
        return 0
    return len(item.shape) if isinstance(item, _Mask) else 1


def _counted_from_front(index: Tensor, dimension: int, size: int) -> Tensor:
    """The index tensor without negative coordinates. In a graph, the run checks it."""
    if not is_traced([index]):
        check_coordinates(index, dimension, size)
    return torch.where(index < 0, index + size, index)


def check_coordinates(
    index: Tensor, dimension: int, size: int, *, is_counted_from_front: bool = False
) -> None:
    """Raises OutOfRange for a coordinate that the dimension does not have."""
    outside = (index < (0 if is_counted_from_front else -size)) | (index >= size)
    if bool(outside.any()):
        at = int(index[outside][0])
        at = at - size if is_counted_from_front and at < 0 else at
        raise OutOfRange(
            f"The index {at} is out of range: dimension {dimension} has the size {size}."
        )
