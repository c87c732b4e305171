"""The structure of a sparse tensor without its values. Patterns are immutable, and tensors with the
same structure share one."""

from __future__ import annotations

import itertools
import operator
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import Tensor
from torch._C._functorch import peek_interpreter_stack as _is_in_transform

from tulle.library import bindings, dtypes
from tulle.support.errors import UserError
from tulle.tensors import slots
from tulle.tensors.formats import Format
from tulle.tensors.held_structure import HeldStructure, counted_of, version_of, write
from tulle.tensors.own_memory import copied, without_gradients_of_transforms

if TYPE_CHECKING:
    from typing_extensions import Self


@lru_cache(maxsize=4096)
def sizes_tensor(sizes: tuple[int, ...]) -> Tensor:
    """Sizes as the operators take them. Callers share the tensor and must not write to it."""
    return torch.tensor(sizes, dtype=torch.int64, device="cpu")


# The attributes of an incomplete pattern, one from a graph or from a file.
_ALWAYS_SET = ("_format_text", "_given", "index_dtype", "shape")
_completing = threading.RLock()

# Negative, so that they differ from ranks.
_serials = itertools.count(-1, -1)


class Pattern(HeldStructure):
    """Format, shape and structure arrays: the positions and coordinates of each level that stores
    them."""

    __slots__ = (
        "__weakref__",
        "_format_text",
        "_given",
        "_owner",
        "_permuted",
        "_sharing",
        "_specs",
        "calls",
        "derived",
        "entry_count",
        "index_dtype",
        "longest_row",
        "serial",
    )

    _closed: ClassVar[type[Pattern]]
    _open: ClassVar[type[Pattern]]
    _format_text: str
    _owner: weakref.ref[Pattern] | None  # the pattern whose `sharing` made this one
    _permuted: dict[tuple[int, ...], Pattern]
    _sharing: dict[tuple[tuple[str, ...], tuple[int, ...]], Pattern]  # the patterns that it made
    _specs: dict[torch.dtype, str]
    calls: dict[Any, Any]
    derived: dict[str, Any]
    entry_count: int | None
    index_dtype: torch.dtype
    longest_row: int
    serial: int
    _given: tuple[
        tuple[Tensor, ...], int
    ]  # of a pattern from a file: its arrays, a count of values

    def __init__(
        self,
        format: Format,
        shape: tuple[int, ...],
        arrays: tuple[Tensor, ...],
        index_dtype: torch.dtype,
    ) -> None:
        """The library checks the structure before it first uses it."""
        own = type(self)
        write(self, "__class__", own._open)
        try:
            self.format = format
            self._format_text = format._text
            self.shape = shape
            self.arrays = without_gradients_of_transforms(arrays) if _is_in_transform() else arrays
            self.index_dtype = index_dtype
            self._set_up()
        finally:
            self.__class__ = own

    @classmethod
    def _of_valid(
        cls,
        format: Format,
        shape: tuple[int, ...],
        arrays: tuple[Tensor, ...],
        index_dtype: torch.dtype,
    ) -> Pattern:
        """A pattern for whose structure the caller vouches: it was checked, or this package or the
        library made it."""
        pattern = Pattern(format, shape, arrays, index_dtype)
        pattern._mark_checked()
        return pattern

    @classmethod
    def in_graph(
        cls,
        format_text: str,
        shape: tuple[int, ...],
        arrays: tuple[Tensor, ...],
        index_dtype: torch.dtype,
    ) -> Self:
        """A pattern inside a graph that torch.compile traces. Its other attributes are set when
        they are first read, outside of the graph."""
        # Dynamo follows no `write`. `_complete` makes the pattern immutable.
        pattern: Any = cls._open.__new__(cls._open)
        pattern._format_text = format_text
        pattern.shape = shape
        pattern.arrays = arrays
        pattern.index_dtype = index_dtype
        return pattern

    @classmethod
    def from_file(
        cls,
        format_text: str,
        shape: tuple[int, ...],
        arrays: tuple[Tensor, ...],
        index_dtype: torch.dtype,
        value_count: int,
    ) -> Self:
        """A pattern whose arrays share memory with other tensors of a file, and may get their
        contents after this call, while torch.load goes on. The first read of an attribute copies
        and checks them."""
        pattern = cls.__new__(cls)
        write(pattern, "_format_text", format_text)
        write(pattern, "shape", shape)
        write(pattern, "index_dtype", index_dtype)
        write(pattern, "_given", (arrays, value_count))
        return pattern

    def __getattr__(self, name: str) -> Any:
        # Python calls this for attributes that are not set: those of a pattern from a graph or from
        # a file.
        if name not in _SLOTS or name in _ALWAYS_SET:
            raise AttributeError(f"A pattern has no attribute '{name}'.", name=name, obj=self)
        with _completing:
            try:  # another thread may have set it
                return object.__getattribute__(self, name)
            except AttributeError:
                self._complete()
        return getattr(self, name)

    def _complete(self) -> None:
        """Sets the attributes that are not set."""
        own = type(self)
        write(self, "__class__", own._open)
        try:
            self._set_others()
        finally:
            self.__class__ = own._closed

    def _set_others(self) -> None:
        self.format = Format(self._format_text, len(self.shape))
        try:
            given: tuple[tuple[Tensor, ...], int] = object.__getattribute__(self, "_given")
        except AttributeError:
            self._set_up()
            return
        self.arrays = tuple(copied(array) for array in given[0])
        self._set_up()
        try:
            self._hold(given[1])
        except Exception:
            del self.arrays
            raise
        del self._given

    def _set_up(self) -> None:
        """Sets the attributes that follow from format, shape and arrays."""
        arrays = self.arrays
        if not all(isinstance(array, Tensor) for array in arrays):
            kinds = [type(array).__name__ for array in arrays]
            raise UserError(f"This sparse tensor consists of other objects than tensors: {kinds}.")
        # Whether the structure is known to be valid. If not, `hold` checks it.
        self.is_checked = False
        self.entry_count = None  # once counted
        # Other data derived from the structure, by name.
        self.derived = {}
        # On a GPU: the number of entries in the longest row if the host has read the structure.
        self.longest_row = 0
        # The arrays whose writes PyTorch counts, and the count when the structure was checked.
        self.counted = counted_of(arrays)
        self.version = version_of(self.counted)
        # A number that no other pattern has had.
        self.serial = next(_serials)
        # The calls whose first sparse operand had this pattern (`programs.call_sites`).
        self.calls = {}
        self._specs = {}
        self._permuted = {}
        self._sharing = {}
        self._owner = None
        # The number under which the library holds the arrays (`hold`) and, on a GPU, programs cache
        # data derived from them; 0 if it has none.
        self.structure = 0
        self._is_held = False
        self._addresses = ()
        if arrays and arrays[0].is_cuda:
            self._number()
        if arrays:
            _by_first_array.setdefault(id(arrays[0]), self)

    def __repr__(self) -> str:
        nnz = self.count_entries(self.count_slots())
        device = self.arrays[0].device if self.arrays else torch.device("cpu")
        return f"Pattern({'x'.join(map(str, self.shape))}, {self.summary(nnz, device)})"

    def summary(self, nnz: int, device: torch.device) -> str:
        """Format, number of entries, index type and device, as `repr` shows them."""
        index = dtypes.torch_name(self.index_dtype)
        place = "" if device.type == "cpu" else f", device='{device}'"
        return f"{self.format}, nnz={nnz}, index_dtype={index}{place}"

    # ---- properties for operators --------------------------------------------------------------

    @property
    def numbers(self) -> tuple[int, ...]:
        """The sizes that the operators take: the shape; for a composite pattern also the number of
        values in each part."""
        return self.shape

    @property
    def sizes(self) -> Tensor:
        """`numbers` as a tensor."""
        return sizes_tensor(self.numbers)

    def spec(self, dtype: torch.dtype) -> str:
        """The description of a tensor with this pattern and values of that type, as keys of
        programs hold it after the name."""
        found = self._specs.get(dtype)
        if found is None:
            index = dtypes.name_of(self.index_dtype)
            # Rounded to a power of two, so that similar patterns share programs.
            longest = f"longest={_power_of_two(self.longest_row)} " if self.longest_row else ""
            found = f"{dtypes.name_of(dtype)} {index} {len(self.shape)} {longest}{self.format}"
            self._specs[dtype] = found
        return found

    def holds(self, format: Format, shape: tuple[int, ...], arrays: tuple[Tensor, ...]) -> bool:
        """Whether the pattern has this format and shape and consists of these very arrays."""
        return self.has_arrays(arrays) and self.shape == shape and self.format == format

    def has_arrays(self, arrays: tuple[Tensor, ...]) -> bool:
        """Whether the pattern consists of these very arrays."""
        return len(self.arrays) == len(arrays) > 0 and all(map(operator.is_, self.arrays, arrays))

    # ---- patterns made from this one -----------------------------------------------------------

    def with_arrays(self, arrays: Sequence[Tensor], index_dtype: torch.dtype) -> Pattern:
        """The same format and shape with other structure arrays of equal content."""
        self.ensure_checked()
        make = Pattern._of_valid if self.is_checked else Pattern
        found = make(self.format, self.shape, tuple(arrays), index_dtype)
        if found.structure:
            write(found, "longest_row", self.longest_row)
            if not found.longest_row:
                found.note_longest_row(self.arrays)
        return found

    def with_each(
        self, change: Callable[[Tensor], Tensor], index_dtype: torch.dtype | None = None
    ) -> Pattern:
        """The same structure with each array replaced by the result of `change`, which keeps its
        content."""
        self.ensure_checked()  # before the arrays are read
        return self.with_arrays(list(map(change, self.arrays)), index_dtype or self.index_dtype)

    def permuted(self, order: tuple[int, ...]) -> Pattern:
        """The same storage with the dimensions in another order: one pattern for each order."""
        found = self._permuted.get(order)
        if found is None:
            found = self._permuted[order] = self._with_order(order)
        return found

    def _with_order(self, order: tuple[int, ...]) -> Pattern:
        shape = tuple(self.shape[d] for d in order)
        found = self.with_same_arrays(self.format.permuted(order), shape)
        write(found, "longest_row", self.longest_row)
        return found

    def with_same_arrays(self, format: Format, shape: tuple[int, ...]) -> Pattern:
        """The same arrays as another structure, which is valid if this one is."""
        self._notice_other_memory()
        make = Pattern._of_valid if self.is_checked else Pattern
        found = make(format, shape, self.arrays, self.index_dtype)
        write(found, "version", self.version)
        return found

    def with_batch(self, size: int) -> Pattern:
        """The pattern of that many tensors with this pattern, as one tensor whose last dimension is
        the batch. The values of an entry are neighbours."""
        return self.sharing(self.format.with_batch(), (*self.shape, size))

    def sharing(self, format: Format, shape: tuple[int, ...]) -> Pattern:
        """The same arrays as a structure of this format and shape, which is valid if this one is:
        one pattern for each, so that it keeps its derived data."""
        if self.shape == shape and self.format == format:
            return self
        owner = None if self._owner is None else self._owner()
        if owner is not None:
            return owner.sharing(format, shape)
        key = (format.counted_levels, shape)
        found = self._sharing.get(key)
        if found is None:
            found = self._sharing[key] = self.with_same_arrays(format, shape)
            write(found, "_owner", weakref.ref(self))
        return found

    def __deepcopy__(self, memo: object) -> Pattern:
        return self.with_each(Tensor.clone)

    def parts_of(self, values: Tensor) -> list[tuple[Pattern, Tensor]]:
        """The patterns of the parts with their values. A pattern that is not composite is its only
        part."""
        return [(self, values)]

    # ---- slots and entries ---------------------------------------------------------------------

    @property
    def has_padding(self) -> bool:
        """Whether there may be slots that are no entries."""
        return slots.has_padding(self)

    def coordinates_at(self, places: Tensor) -> tuple[Tensor, Tensor]:
        """The coordinates at these slots, [rank, n], padding included, and whether each slot is an
        entry."""
        self.ensure_checked()
        return slots.coordinates_at(self, places)

    def count_slots(self) -> int:
        """The number of slots."""
        return slots.count(self)

    def count_entries(self, stored: int) -> int:
        """The number of entries among that many slots, which are all of them. A pattern with
        padding counts once."""
        if not self.has_padding:
            return stored
        if self.entry_count is None:
            self.ensure_checked()
            found = slots.count_entries(self, stored)
            write(self, "entry_count", found)
            return found
        return self.entry_count

    def note_longest_row(self, seen: Sequence[Tensor]) -> None:
        """Computes `longest_row` from equal arrays if the host can read them."""
        names = [name for level in self.format.levels for name in level.arrays]
        at = max((at for at, name in enumerate(names) if name == "pos"), default=None)
        if at is None or type(seen[at]) is not Tensor or seen[at].is_cuda or seen[at].numel() < 2:
            return
        write(self, "longest_row", int(seen[at].diff().max()))
        self._specs.clear()
        self._permuted.clear()

    # ---- derived data --------------------------------------------------------------------------

    def derived_sizes(self) -> dict[str, int]:
        """The size in bytes of each piece of data that is cached beside the structure, by name."""
        found = {name: _bytes_of(value) for name, value in self.derived.items()}
        if self.entry_count is not None:
            found["number of entries"] = _bytes_of(self.entry_count)
        for line in bindings.kept_data(self.structure).splitlines():
            what, size = line.split(" ")
            found[what] = int(size)
        return found

    def forget_other_patterns(self) -> None:
        """Drops what depends on the contents of the arrays."""
        self.free_derived()
        self.calls.clear()
        self._permuted.clear()

    def free_derived(self) -> None:
        """Frees that data."""
        self.derived.clear()
        self._sharing.clear()
        bindings.forget_structure(self.structure)
        write(self, "entry_count", None)

    # ---- checks --------------------------------------------------------------------------------

    def validate(self, name: str, values: Tensor) -> None:
        """Checks the structure, in O(entries); messages call the tensor `name`."""
        tensors = self._on_host(values)
        bindings.validate(name, self.spec(values.dtype), self.sizes, tensors)
        self._mark_checked()
        if self.structure:
            self.note_longest_row(tensors)

    def is_in_order(self, name: str, values: Tensor) -> bool:
        """Checks everything except the order of coordinates and duplicates, and returns whether
        these are as the format requires."""
        tensors = self._on_host(values)
        found = bindings.is_in_order(name, self.spec(values.dtype), self.sizes, tensors)
        if found:
            self._mark_checked()
        if self.structure:
            self.note_longest_row(tensors)
        return found

    def _on_host(self, values: Tensor) -> list[Tensor]:
        """The arrays and values where the host can read them: checks run on the host."""
        return [tensor.cpu() for tensor in (*self.arrays, values)]


class _OpenPattern(Pattern):
    """A pattern while its attributes are set: this class makes setting them fast."""

    __slots__ = ()
    __setattr__ = object.__setattr__  # type: ignore[assignment]
    __delattr__ = object.__delattr__


Pattern._closed = Pattern
Pattern._open = _OpenPattern


def _bytes_of(value: object) -> int:
    """The approximate size of a tensor, or of a Python object and the objects that it holds."""
    if isinstance(value, Tensor):
        return value.numel() * value.element_size()
    parts: list[object] = []
    if isinstance(value, dict):
        parts = [*value.keys(), *value.values()]
    elif isinstance(value, tuple | list):
        parts = list(value)
    elif hasattr(value, "__dict__"):
        parts = list(vars(value).values())
    return sys.getsizeof(value) + sum(map(_bytes_of, parts))


def _power_of_two(number: int) -> int:
    """The smallest power of two that is at least `number` and at least 32."""
    return int(max(32, 1 << (number - 1).bit_length()))


_SLOTS = {*HeldStructure.__slots__, *Pattern.__slots__}

# The living patterns by the id of their first array, which each pattern keeps alive.
_by_first_array: weakref.WeakValueDictionary[int, Pattern] = weakref.WeakValueDictionary()


def living_pattern(
    format: Format, shape: tuple[int, ...], arrays: tuple[Tensor, ...]
) -> Pattern | None:
    """The pattern that holds these very arrays, or None. Using it again keeps its derived data."""
    found = _by_first_array.get(id(arrays[0])) if arrays else None
    return found if found is not None and found.holds(format, shape, arrays) else None
