"""Structures in state dicts: a dense tensor for each array."""

from __future__ import annotations

import hashlib

import torch
from torch import Tensor

from tulle.library import dtypes
from tulle.support.errors import UserError
from tulle.tensors.composite_pattern import CompositePattern, reassembled
from tulle.tensors.formats import Format
from tulle.tensors.own_memory import has_elements
from tulle.tensors.pattern import Pattern

# Of a composite format: the number of values in each part.
_COUNTS = "counts"
# In the derived data of a pattern.
_FINGERPRINT = "fingerprint"


def state_of(pattern: Pattern) -> dict[str, Tensor]:
    """The arrays by name: pos1 and crd1 for level 1. The levels of a composite format are numbered
    through all parts."""
    levels = [level for format in _formats_of(pattern) for level in format.levels]
    names = [f"{name}{at}" for at, level in enumerate(levels) for name in level.arrays]
    state = dict(zip(names, pattern.arrays, strict=True))
    if isinstance(pattern, CompositePattern):
        state[_COUNTS] = torch.tensor(pattern.counts)
    return state


def _formats_of(pattern: Pattern) -> list[Format]:
    if isinstance(pattern, CompositePattern):
        return [part.format for part in pattern.parts]
    return [pattern.format]


def same_structure(state: dict[str, Tensor], pattern: Pattern) -> bool:
    """Whether the state holds the structure of this pattern. Raises UserError if the state holds
    something else than arrays of structure."""
    known = state_of(pattern)
    for name, own in known.items():
        _check_array(name, state[name], own)
    return all(
        state[name].shape == own.shape
        and torch.equal(state[name].to(own.device, torch.int64), own.to(torch.int64))
        for name, own in known.items()
    )


def _check_array(name: str, given: object, own: Tensor) -> None:
    """Raises UserError unless this is a vector that can stand for an array of a structure."""
    if not has_elements(given) or not isinstance(given, Tensor) or given.ndim != 1:
        raise UserError(f"the array {name} of the state is no vector.")
    if given.is_meta:
        raise UserError(f"the array {name} of the state has no elements: it is on the device meta.")
    types = [own.dtype] if own.dtype == torch.bool or name == _COUNTS else dtypes.INDEX_DTYPES
    if given.dtype not in types:
        raise UserError(f"the array {name} of the state is {given.dtype}, not {own.dtype}.")


def from_state(state: dict[str, Tensor], like: Pattern, values: Tensor) -> Pattern:
    """The pattern with the format and the shape of another one and the arrays of a state, on the
    device of the other one. Raises UserError if the structure is invalid or does not fit the
    values. The arrays are copied, so that writes to the state do not change them."""
    arrays = []
    for (name, given), own in zip(state.items(), [*like.arrays, None], strict=False):
        if name == _COUNTS:
            continue
        assert own is not None
        _check_array(name, given, own)
        arrays.append(given.detach().to(own.device, own.dtype, copy=True))
    found = _assembled(state, like, arrays)
    if values.ndim != 1:
        raise UserError(f"the values of the state have the shape {list(values.shape)}.")
    found.validate("the state", values.detach())
    if values.numel() != found.count_slots():  # a composite tensor may have too many
        raise UserError(
            f"the state has {values.numel()} values, but its structure {found.count_slots()}."
        )
    return found


def _assembled(state: dict[str, Tensor], like: Pattern, arrays: list[Tensor]) -> Pattern:
    if not isinstance(like, CompositePattern):
        return Pattern(like.format, like.shape, tuple(arrays), like.index_dtype)
    given = state[_COUNTS]
    if not isinstance(given, Tensor) or given.ndim != 1 or given.dtype != torch.int64:
        raise UserError(f"{_COUNTS} of the state is no vector of int64.")
    counts = tuple(given.tolist())
    if len(counts) != len(like.parts) or min(counts) < 0:
        raise UserError(f"{counts} are no numbers of values for {len(like.parts)} parts.")
    numbers = (*like.shape, *counts)
    return reassembled(str(like.format), numbers, like.index_dtype, arrays)


def fingerprint(pattern: Pattern) -> int:
    """A number that differs for different structures and agrees for equal ones, also on another
    device, with other index types and in other processes."""
    known = pattern.derived.get(_FINGERPRINT)
    if not isinstance(known, int):
        digest = hashlib.blake2b(f"{pattern.format} {pattern.numbers}".encode(), digest_size=7)
        for array in pattern.arrays:
            digest.update(array.to("cpu", torch.int64).numpy())
        known = pattern.derived[_FINGERPRINT] = int.from_bytes(digest.digest(), "little")
    return known
