"""Calls inside graphs: what torch.compile and torch.export record in place of a run.

While torch traces a function, tensors have no memory. A call then becomes the operator
`tulle::compute`, which takes the key of the program, so that a graph is valid in any process. The
shapes of results follow from the key and the operands.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor
from torch._guards import TracingContext
from torch.compiler import is_exporting
from torch.library import get_ctx

from tulle.library import bindings
from tulle.programs.arguments import sizes_of, with_arrays
from tulle.programs.bound_program import BoundProgram, results_of
from tulle.programs.program import Operand, Result
from tulle.tensors import own_memory
from tulle.tensors.formats import Format
from tulle.tensors.pattern import Pattern
from tulle.tensors.sparse_tensor import SparseTensor


def is_traced(operands: Sequence[Operand]) -> bool:
    """Whether torch traces the computation, so that the tensors have no memory."""
    for operand in operands:
        if isinstance(operand, SparseTensor):
            if own_memory.is_traced(operand._values):
                return True
            if not operand._pattern._is_held and any(
                map(own_memory.is_traced, operand._pattern.arrays)
            ):
                return True
        elif own_memory.is_traced(operand):
            return True
    return False


def compute(
    found: BoundProgram, names: tuple[str, ...], operands: Sequence[Operand]
) -> list[Result]:
    """The results of the operator in the graph."""
    sizes, tensors = list(sizes_of(operands)), with_arrays(operands)
    # Graphs of torch.compile contain their gradients; the user of an exported program may want
    # gradients of it (`graph_derivatives`).
    has_gradients = TracingContext.try_get() is not None and not is_exporting()
    operator = bindings.compute_traced if has_gradients else bindings.compute
    returned = iter(operator(found.key, sizes, tensors))
    results: list[Result] = []
    for result in found.results:
        if result.format.is_dense:
            results.append(next(returned))
        elif result.like:
            source = operands[names.index(result.like)]
            assert isinstance(source, SparseTensor)
            results.append(SparseTensor(source._pattern, next(returned)))
        else:
            arrays = tuple(next(returned) for _ in range(result.array_count))
            shape = tuple(_size(operands[o], dimension) for o, dimension in result.sizes_from)
            pattern = Pattern(result.format, shape, arrays, result.index_dtype)
            results.append(SparseTensor(pattern, next(returned)))
    return results


def _size(operand: Operand, dimension: int) -> int:
    """A size as it is: `shape` of a sparse tensor would make it a number in a graph."""
    shape = operand._pattern.shape if isinstance(operand, SparseTensor) else operand.shape
    return shape[dimension]


# ---- results without memory ----------------------------------------------------------------------


class _OperandPlace(NamedTuple):
    """Where the arguments of the operator have an operand."""

    name: str
    rank: int
    first_size: int | None  # of a sparse operand; None: the values have the shape
    values: int


@lru_cache(maxsize=4096)
def _places_of(key: str) -> tuple[_OperandPlace, ...]:
    places = []
    sizes = tensors = 0
    for line in key.splitlines():
        kind, _, spec = line.partition(" ")
        if kind != "operand":
            break
        name, _, _, rank_text, rest = spec.split(" ", 4)
        rank = int(rank_text)
        text = rest
        while text.startswith(("longest=", "like=")):
            text = text.split(" ", 1)[1]
        format = Format(text, rank)
        formats = [part.format for part in format.parts] or [format]
        if format.is_dense:
            places.append(_OperandPlace(name, rank, None, tensors))
        else:
            tensors += sum(len(level.arrays) for one in formats for level in one.levels)
            places.append(_OperandPlace(name, rank, sizes, tensors))
            sizes += rank + len(format.parts)
        tensors += 1
    return tuple(places)


@torch.library.register_fake("tulle::compute_traced")
@torch.library.register_fake("tulle::compute")
def _fake_results(key: str, sizes: list[int], tensors: list[Tensor]) -> list[Tensor]:
    """The results of the operator without memory."""
    places = _places_of(key)

    def size_of(operand: int, dimension: int) -> int:
        place = places[operand]
        if place.first_size is None:
            return tensors[place.values].shape[dimension]
        return sizes[place.first_size + dimension]

    made: list[Tensor] = []
    for result in results_of(key):
        shape = [size_of(*source) for source in result.sizes_from]
        if result.format.is_dense:
            made.append(tensors[0].new_empty(shape, dtype=result.dtype))
        elif result.like:
            like = next(place for place in places if place.name == result.like)
            made.append(torch.empty_like(tensors[like.values], dtype=result.dtype))
        else:
            made += fake_storage(result.format, result.index_dtype, result.dtype, shape, tensors[0])
    return made


def fake_storage(
    format: Format, index_dtype: torch.dtype, dtype: torch.dtype, shape: list[int], like: Tensor
) -> list[Tensor]:
    """The structure arrays and the values of a result whose number of entries only a run tells."""
    made = []
    count = 1
    for level in format.levels:
        if level.pos:
            made.append(like.new_empty(count + 1, dtype=index_dtype))
            count = get_ctx().new_dynamic_size()
        elif level.direct:
            count *= level.extent(shape[level.dimension])
        elif level.width:
            count *= level.width
        if level.crd:
            made.append(like.new_empty(count, dtype=index_dtype))
        if level.bits:
            made.append(like.new_empty(count, dtype=torch.bool))
    return [*made, like.new_empty(count, dtype=dtype)]
