"""Derivatives of the operator that graphs contain.

torch.compile traces a computation together with its gradients. An exported program contains the
computation alone: where a training step runs it, autograd or forward mode meets `tulle::compute`,
which then is a recorded run of its program. So it is inside of transforms of torch.func such as
vmap. torch.autocast has no rule: the key holds the types of the operands, and a traced product has
the conversions of autocast in front of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor
from torch._C import DispatchKey, DispatchKeySet, _functorch
from torch.autograd import forward_ad
from torch.library import Library

from tulle.library import bindings, dtypes
from tulle.programs import recording
from tulle.programs.bound_program import results_of
from tulle.programs.program import Operand, Program
from tulle.tensors.formats import Format
from tulle.tensors.graph_boundary import pattern_of
from tulle.tensors.sparse_tensor import SparseTensor


class _Place(NamedTuple):
    """An operand in the arguments of the operator."""

    name: str
    like: str  # the operand whose structure it has; empty: its own
    format: str
    index_dtype: torch.dtype
    rank: int
    part_count: int
    array_count: int
    is_dense: bool


def _compute(key: str, sizes: Sequence[int], tensors: Sequence[Tensor]) -> list[Tensor]:
    """The operator for tensors that autograd may follow."""
    if not _is_followed(tensors):
        with torch._C._AutoDispatchBelowAutograd():
            return bindings.compute(key, list(sizes), list(tensors))
    return _recorded(key, sizes, tensors)


def _transformed(key: str, sizes: Sequence[int], tensors: Sequence[Tensor]) -> list[Tensor]:
    """The operator inside of transforms of torch.func."""
    if any(map(_functorch.is_functorch_wrapped_tensor, tensors)):
        return _recorded(key, sizes, tensors)
    with torch._C._ExcludeDispatchKeyGuard(_transforms):
        return bindings.compute(key, list(sizes), list(tensors))


def _recorded(key: str, sizes: Sequence[int], tensors: Sequence[Tensor]) -> list[Tensor]:
    """The operator as a recorded run of its program."""
    program, places = _parsed(key)
    names = tuple(place.name for place in places)
    results = recording.run(program, names, _operands(places, sizes, tensors))
    returned: list[Tensor] = []
    for described, result in zip(results_of(key), results, strict=True):
        if isinstance(result, Tensor):
            returned.append(result)
            continue
        if not described.like:
            returned += result._pattern.arrays
        returned.append(result._values)
    return returned


def _is_followed(tensors: Sequence[Tensor]) -> bool:
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors):
        return True
    return forward_ad._current_level >= 0 and any(
        forward_ad.unpack_dual(tensor).tangent is not None for tensor in tensors
    )


@lru_cache(maxsize=4096)
def _parsed(key: str) -> tuple[Program, tuple[_Place, ...]]:
    """The program of a key (`Program.key`), and where the operator takes its operands."""
    head, kind, text = _split(key)
    given: dict[str, list[str]] = {}
    for line in head:
        word, _, rest = line.partition(" ")
        given.setdefault(word, []).append(rest)
    ones = [tuple(map(int, one.split())) for one in given.get("one", [])]
    outs = [one.split(" ", 1) for one in given.get("out", [])]
    program = Program(
        text,
        is_einsum=kind == "einsum",
        out_formats=tuple((name, format) for name, format in outs),
        ones=tuple((operand, dimension) for operand, dimension in ones),
        schedule="\n".join(given.get("schedule", [])),
        features="".join(given.get("features", [])),
        checked="checked" in given,
        tuned="untuned" not in given,
        reduce="".join(given.get("reduce", ["sum"])),
    )
    return program, tuple(map(_place_of, given.get("operand", [])))


def _split(key: str) -> tuple[list[str], str, str]:
    lines = key.split("\n")
    at = next(at for at, line in enumerate(lines) if line in ("compute", "einsum"))
    return lines[:at], lines[at], "\n".join(lines[at + 1 :])


def _place_of(spec: str) -> _Place:
    name, _, index, rank_text, text = spec.split(" ", 4)
    like = ""
    while text.startswith(("longest=", "like=")):
        word, _, text = text.partition(" ")
        like = word.removeprefix("like=") if word.startswith("like=") else like
    format = Format(text, int(rank_text))
    parts = [part.format for part in format.parts]
    return _Place(
        name=name,
        like=like,
        format=text,
        index_dtype=dtypes.BY_NAME[index],
        rank=int(rank_text),
        part_count=len(parts),
        array_count=sum(len(level.arrays) for one in parts or [format] for level in one.levels),
        is_dense=format.is_dense,
    )


def _operands(
    places: Sequence[_Place], sizes: Sequence[int], tensors: Sequence[Tensor]
) -> list[Operand]:
    found: dict[str, Operand] = {}
    for place in places:
        if place.is_dense:
            found[place.name], *tensors = tensors
            continue
        numbers = tuple(sizes[: place.rank + place.part_count])
        arrays, values = tuple(tensors[: place.array_count]), tensors[place.array_count]
        sizes, tensors = sizes[len(numbers) :], tensors[place.array_count + 1 :]
        owner = found.get(place.like)
        if isinstance(owner, SparseTensor):
            pattern = owner._pattern
        else:
            shape, counts = numbers[: place.rank], numbers[place.rank :]
            pattern = pattern_of(place.format, shape, arrays, place.index_dtype, counts)
        found[place.name] = SparseTensor(pattern, values)
    return list(found.values())


def register() -> None:
    """Makes autograd, forward mode and the transforms of torch.func follow the operator."""
    _library.impl("compute", _compute, "Autograd")
    # Before the transforms take the operator apart: each of them has a rule for a recorded run.
    _library.impl("compute", _transformed, "FuncTorchDynamicLayerFrontMode")


_transforms = DispatchKeySet(DispatchKey.FuncTorchDynamicLayerFrontMode).add(
    DispatchKey.FuncTorchDynamicLayerBackMode
)
# The registrations last as long as this object.
_library = Library("tulle", "IMPL")
