"""Programs bound to types and formats of operands.

Operators, reductions, einsum, index notation and kernels all come to a `Program` and its operands.
`bind` finds the program for operands of these types and formats in the program's table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from tulle.library import bindings, dtypes
from tulle.programs.program import Operand, Program
from tulle.tensors.formats import Format
from tulle.tensors.sparse_tensor import SparseTensor

MOST_BOUND = 1024  # bound programs in the table of one program


class ResultType(NamedTuple):
    """What is known of a result before the program runs."""

    name: str
    index_dtype: torch.dtype
    format: Format
    array_count: int  # structure arrays


class BoundProgram:
    """A program for operands of given types and formats. Kernels are compiled at the first run."""

    __slots__ = (
        "derivatives",
        "has_one_dense_result",
        "key",
        "number",
        "pattern_source",
        "results",
    )

    def __init__(self, key: str) -> None:
        self.key = key
        self.results = _results_of(key)
        # The number of the program in this process.
        self.number = bindings.program_number(key)
        # Whether the program has one result, and that is an ordinary tensor.
        self.has_one_dense_result = len(self.results) == 1 and self.results[0].format.is_dense
        # The operand whose pattern the only result had in the last run; None if it has its own.
        self.pattern_source: int | None = None
        # The derivatives of the program (`derivatives`), by what they are towards.
        self.derivatives: dict[Any, Any] = {}


def bind(program: Program, names: tuple[str, ...], operands: Sequence[Operand]) -> BoundProgram:
    """The program for operands of these names, types and formats."""
    specs: list[str | tuple[str, ...]] = [names]
    for operand in operands:
        if isinstance(operand, SparseTensor):
            specs.append(operand._pattern.spec(operand._values.dtype))
        else:
            specs.append(_dense_spec(operand.dtype, operand.ndim))
    table = program.bound
    wanted = tuple(specs)
    found = table.get(wanted)
    if found is None:
        lines = [f"{name} {spec}" for name, spec in zip(names, specs[1:], strict=True)]
        if len(table) >= MOST_BOUND:
            table.clear()
        found = table[wanted] = BoundProgram(program.key(lines))
    return found


_dense_specs: dict[tuple[torch.dtype, int], str] = {}


def _dense_spec(dtype: torch.dtype, rank: int) -> str:
    found = _dense_specs.get((dtype, rank))
    if found is None:
        found = _dense_specs[dtype, rank] = f"{dtypes.name_of(dtype)} i64 {rank} dense"
    return found


def _results_of(key: str) -> tuple[ResultType, ...]:
    results = []
    for line in bindings.describe(key).splitlines()[::2]:
        name, _, index, rank, format_text = line.split(" ", 4)
        format = Format(format_text, int(rank))
        arrays = sum(len(level.arrays) for level in format.levels)
        results.append(ResultType(name, dtypes.BY_NAME[index], format, arrays))
    return tuple(results)
