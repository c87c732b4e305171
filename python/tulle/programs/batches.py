"""Programs over batches of operands: torch.vmap.

The program gets a further index, the batch, as the last one of each operand that has a batch and of
each tensor that depends on one. A batch of sparse tensors with one pattern is one sparse tensor
whose innermost level is the batch, so that a program runs once for all of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from tulle.library import bindings
from tulle.programs.bound_program import BoundProgram, ResultType
from tulle.programs.program import Operand, Program, Result, statement_program
from tulle.tensors.pattern import Pattern
from tulle.tensors.sparse_tensor import SparseTensor


def batched_program(bound: BoundProgram, wide: Sequence[str]) -> Program:
    """The program for operands of which those in `wide` have a batch."""
    key = ("batched", *wide)
    found: Program | None = bound.derivatives.get(key)
    if found is None:
        text = bindings.batched(bound.key, " ".join(wide))
        ranks = _ranks_of_results(text)
        formats = tuple((one.name, _format_of(one, ranks[one.name])) for one in bound.results)
        found = bound.derivatives[key] = statement_program(text.strip("\n"), formats)
    return found


def _ranks_of_results(text: str) -> dict[str, int]:
    """The number of indices on the left of each statement."""
    ranks = {}
    for line in text.splitlines():
        name, _, indices = line.partition(" = ")[0].partition("[")
        ranks[name.strip()] = indices.count(",") + 1 if indices else 0
    return ranks


def _format_of(result: ResultType, rank: int) -> str:
    format = result.format
    if format.is_dense:
        return "dense"
    is_wide = rank > len(result.sizes_from)
    return str(format.with_batch() if is_wide else format)


def batched_operand(
    pattern: Pattern | None, values: Tensor, dimension: int | None, size: int
) -> Operand:
    """An operand whose values have the batch at this dimension; None if they have none."""
    if dimension is None:
        return values if pattern is None else SparseTensor(pattern, values)
    moved = values.movedim(dimension, -1)
    if pattern is None:
        return moved
    return SparseTensor(pattern.with_batch(size), moved.reshape(-1).contiguous())


def one_of_batch(
    pattern: Pattern | None, values: Tensor, dimension: int | None, at: int = 0
) -> Operand:
    """An operand of one member of the batch."""
    one = values if dimension is None else values.select(dimension, at)
    return one if pattern is None else SparseTensor(pattern, one.contiguous())


def taken_apart(
    result: Result,
    described: ResultType,
    size: int,
    names: Sequence[str],
    patterns: Sequence[Pattern | None],
) -> tuple[Pattern | None, Tensor, int | None]:
    """Of a result: the pattern of one member, the values, and the dimension of the batch in them.
    `described` is the result for one member."""
    rank = len(described.sizes_from)
    if isinstance(result, Tensor):
        return None, result, rank if result.ndim > rank else None
    if result.ndim == rank:
        return result._pattern, result._values, None
    pattern = patterns[names.index(described.like)] if described.like else None
    if pattern is None:
        own = result._pattern
        pattern = own.with_same_arrays(described.format, own.shape[:-1])
    return pattern, result._values.reshape(-1, size), 1
