"""Programs for operands of given types and formats: their keys, and the kinds of their results."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import torch

from tulle.library import bindings, dtypes
from tulle.programs.program import Operand, Program, spec_of
from tulle.tensors.formats import Format


class ResultType(NamedTuple):
    """What is known of a result before the program runs."""

    name: str
    index_dtype: torch.dtype
    format: Format
    array_count: int  # structure arrays


class ResolvedProgram(NamedTuple):
    """A program for operands of given types and formats."""

    key: str
    results: tuple[ResultType, ...]
    has_one_dense_result: bool  # and no other result


def resolve(program: Program, names: Sequence[str], operands: Sequence[Operand]) -> ResolvedProgram:
    """The program for operands of these types and formats. Kernels are compiled at the first
    run."""
    return _resolved(program, tuple(map(spec_of, names, operands)))


@lru_cache(maxsize=16384)
def _resolved(program: Program, specs: tuple[str, ...]) -> ResolvedProgram:
    key = program.key(specs)
    results = []
    for line in bindings.describe(key).splitlines()[::2]:
        name, _, index, rank, format_text = line.split(" ", 4)
        format = Format(format_text, int(rank))
        arrays = sum(len(level.arrays) for level in format.levels)
        results.append(ResultType(name, dtypes.BY_NAME[index], format, arrays))
    is_dense = len(results) == 1 and results[0].format.is_dense
    return ResolvedProgram(key, tuple(results), is_dense)
