"""The structure of a sparse tensor without its values: immutable, shared by all that have it."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from tulle.library import bindings, dtypes
from tulle.programs.outputs import increment_version
from tulle.support.errors import UserError, translated
from tulle.tensors.formats import Format


@lru_cache(maxsize=4096)
def sizes_tensor(sizes: tuple[int, ...]) -> Tensor:
    """Sizes as the operators take them; nobody may write to it."""
    return torch.tensor(sizes, dtype=torch.int64, device="cpu")


def _version_of(arrays: tuple[Tensor, ...]) -> int | None:
    try:
        return sum(array._version for array in arrays)
    except RuntimeError:  # made in inference mode, where nothing is counted
        return None


def _bytes_of(value: object) -> int:
    """About how much memory an object of Python's or a tensor takes."""
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
    """The smallest from there on, and not below 32."""
    return int(max(32, 1 << (number - 1).bit_length()))


def _check_version(arrays: tuple[Tensor, ...], version: int | None) -> None:
    if version is not None and version != _version_of(arrays):
        raise UserError(
            "A structure array of this sparse tensor was written to after the tensor was made, so "
            "that its positions and coordinates can no longer be trusted; or the torch.sparse "
            "tensor that it shares them with was, whose values PyTorch counts with its structure. "
            "Make a new tensor with tulle.tensor or tulle.from_levels; to change values only, "
            "write to values() of this one, or use with_values."
        )


def _bound_to_two(
    call: Callable[..., Tensor],
    into: Callable[..., None],
    head: Tensor,
    arrays: tuple[Tensor, ...],
    version: int,
) -> tuple[Callable[..., Tensor], Callable[..., None]]:
    """`Pattern.bound` for two arrays, the most common number, without loops over them."""
    first, second = arrays

    def compute(values: Tensor, other: Tensor) -> Tensor:
        if first._version + second._version != version:
            _check_version(arrays, version)
        return call(head, first, second, values, other)

    def fill(out: Tensor, values: Tensor, other: Tensor) -> None:
        if first._version + second._version != version:
            _check_version(arrays, version)
        increment_version((out,))
        into(head, out, first, second, values, other)

    return compute, fill


class Pattern:
    """Format, shape and structure arrays: for each level its positions and coordinates, where it
    stores them."""

    __slots__ = (
        "__weakref__",
        "_specs",
        "_version",
        "arrays",
        "calls",
        "derived",
        "entry_count",
        "format",
        "index_dtype",
        "longest_row",
        "shape",
        "structure",
    )

    def __init__(
        self,
        format: Format,
        shape: tuple[int, ...],
        arrays: tuple[Tensor, ...],
        index_dtype: torch.dtype,
    ) -> None:
        self.format = format
        self.shape = shape
        self.arrays = arrays
        self.index_dtype = index_dtype
        # By type of the values: what `bound` made, as the sparse tensor looks for it.
        self.calls: dict[torch.dtype, dict[Any, Callable[..., Any]]] = {}
        self.entry_count: int | None = None  # for tulle.entries
        # What else was found out or made from the structure and is worth keeping, by name.
        self.derived: dict[str, Any] = {}
        # Of one on a GPU, where the host has seen the structure: the entries of its longest row.
        self.longest_row = 0
        self._specs: dict[torch.dtype, str] = {}
        self._version = _version_of(arrays)
        # On a GPU: the number under which programs keep what they make of the arrays.
        self.structure = 0
        if arrays and arrays[0].is_cuda:
            self.structure = bindings.new_structure()
            forget = weakref.finalize(self, bindings.forget_structure, self.structure)
            forget.atexit = False
        if arrays:
            _by_first_array[id(arrays[0])] = self

    def __repr__(self) -> str:
        from tulle.tensors import printing

        return printing.text_of_pattern(self)

    @property
    def numbers(self) -> tuple[int, ...]:
        """What the operators have to know of the sizes: the shape, of a composite pattern also how
        many values its parts have."""
        return self.shape

    @property
    def sizes(self) -> Tensor:
        """The shape as the operators take it."""
        return sizes_tensor(self.numbers)

    def with_arrays(self, arrays: Sequence[Tensor], index_dtype: torch.dtype) -> Pattern:
        """The same format and shape with other structure arrays."""
        found = Pattern(self.format, self.shape, tuple(arrays), index_dtype)
        if found.structure:
            found.longest_row = self.longest_row
            if not found.longest_row:
                found.note_longest_row(self.arrays)
        return found

    def note_longest_row(self, seen: Sequence[Tensor]) -> None:
        """Remembers it from equal arrays that the host can read."""
        names = [name for level in self.format.levels for name in level.arrays]
        at = max((at for at, name in enumerate(names) if name == "pos"), default=None)
        if at is None or type(seen[at]) is not Tensor or seen[at].is_cuda or seen[at].numel() < 2:
            return
        self.longest_row = int(seen[at].diff().max())
        self._specs.clear()

    def permuted(self, order: tuple[int, ...]) -> Pattern:
        """The same storage, its dimensions in another order."""
        shape = tuple(self.shape[d] for d in order)
        found = Pattern(self.format.permuted(order), shape, self.arrays, self.index_dtype)
        found.longest_row = self.longest_row
        return found

    def spec(self, dtype: torch.dtype) -> str:
        """What the compiler has to know of a tensor of this pattern, but for its name."""
        found = self._specs.get(dtype)
        if found is None:
            index = dtypes.name_of(self.index_dtype)
            # In powers of two, so that patterns that are alike have programs in common.
            longest = f"longest={_power_of_two(self.longest_row)} " if self.longest_row else ""
            found = f"{dtypes.name_of(dtype)} {index} {len(self.shape)} {longest}{self.format}"
            self._specs[dtype] = found
        return found

    def check_unchanged(self) -> None:
        """Refuses structure that was written to since it was checked."""
        _check_version(self.arrays, self._version)

    def bound(self, key: str) -> tuple[Callable[..., Tensor], Callable[..., None]]:
        """The program of that key with all but the values and one dense operand filled in; and the
        same with a tensor before these that takes the result. They do not hold the pattern, which
        keeps them: structure is freed as soon as nobody uses it."""
        arrays, version = self.arrays, self._version
        count = len(arrays) + 1
        structure = [~self.structure] if self.structure else []
        head = torch.tensor([bindings.number(key), *self.numbers, *structure], device="cpu")
        call, into = bindings.quick_calls[count], bindings.into_calls[count]
        if len(arrays) == 2 and version is not None:
            return _bound_to_two(call, into, head, arrays, version)

        def compute(values: Tensor, other: Tensor) -> Tensor:
            _check_version(arrays, version)
            return call(head, *arrays, values, other)

        def fill(out: Tensor, values: Tensor, other: Tensor) -> None:
            _check_version(arrays, version)
            increment_version((out,))
            into(head, out, *arrays, values, other)

        return compute, fill

    def derived_sizes(self) -> dict[str, int]:
        """What is kept beside the structure, by name, and its size in bytes."""
        found = {name: _bytes_of(value) for name, value in self.derived.items()}
        if self.entry_count is not None:
            found["number of entries"] = _bytes_of(self.entry_count)
        for line in bindings.kept_data(self.structure).splitlines():
            what, size = line.split(" ")
            found[what] = int(size)
        calls = sum(map(len, self.calls.values()))
        if calls:
            found["programs bound to it"] = sum(map(_bytes_of, self.calls.values()))
        return found

    def free_derived(self) -> None:
        """Lets go of that. What a tensor has bound to itself is emptied in place."""
        self.derived.clear()
        bindings.forget_structure(self.structure)
        self.entry_count = None
        for calls in self.calls.values():
            calls.clear()

    def __deepcopy__(self, memo: object) -> Pattern:
        self.check_unchanged()
        return self.with_arrays([array.clone() for array in self.arrays], self.index_dtype)

    def validate(self, name: str, values: Tensor) -> None:
        """Checks structure that comes from outside, in O(entries)."""
        self._ask(bindings.validate, name, values)

    def is_in_order(self, name: str, values: Tensor) -> bool:
        """Checks it, but for the order of the coordinates and duplicates: whether these are as the
        format says."""
        return bool(self._ask(bindings.is_in_order, name, values))

    def _ask(self, operator: Callable[..., Any], name: str, values: Tensor) -> Any:
        # The host looks at structure, also at that of a GPU.
        tensors = [tensor.cpu() for tensor in (*self.arrays, values)]
        try:
            found = operator(name, self.spec(values.dtype), self.sizes, tensors)
        except RuntimeError as error:
            raise translated(error) from None
        if self.structure:
            self.note_longest_row(tensors)
        return found


# The living patterns by the id of their first array, which they keep alive.
_by_first_array: weakref.WeakValueDictionary[int, Pattern] = weakref.WeakValueDictionary()


def living_pattern(
    format: Format, shape: tuple[int, ...], arrays: tuple[Tensor, ...]
) -> Pattern | None:
    """The pattern that has these very arrays, if there is one: what it knows is not found anew."""
    found = _by_first_array.get(id(arrays[0])) if arrays else None
    if found is None or found.shape != shape or len(found.arrays) != len(arrays):
        return None
    same = all(mine is given for mine, given in zip(found.arrays, arrays, strict=True))
    return found if same and str(found.format) == str(format) else None
