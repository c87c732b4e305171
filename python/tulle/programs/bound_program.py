"""Programs bound to types and formats of operands.

Operators, reductions, einsum, index notation and kernels all come to a `Program` and its operands.
`bind` finds the program for operands of these types and formats in the program's table.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import torch

from tulle.library import bindings, dtypes
from tulle.programs.program import Operand, Program
from tulle.tensors.formats import Format
from tulle.tensors.sparse_tensor import SparseTensor

MOST_BOUND = 1024  # bound programs in the table of one program


class ResultType(NamedTuple):
    """The properties of a result that the types and formats of operands determine."""

    name: str
    dtype: torch.dtype
    index_dtype: torch.dtype
    format: Format
    array_count: int  # structure arrays
    like: str  # the operand whose entries it has, in the same order; empty: none
    # For each dimension an operand and the dimension of it that has the same size.
    sizes_from: tuple[tuple[int, int], ...]


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
        self.results = results_of(key)
        # The number of the program in this process.
        self.number = bindings.program_number(key)
        # Whether the program has one result, and that is an ordinary tensor.
        self.has_one_dense_result = len(self.results) == 1 and self.results[0].format.is_dense
        # The operand whose pattern the only result had in the last run; None if it has its own.
        self.pattern_source: int | None = None
        # The programs derived from it (`derivatives`, `batches`), by the kind of derivation and the
        # tensors that vary.
        self.derivatives: dict[Any, Any] = {}


def bind(program: Program, names: tuple[str, ...], operands: Sequence[Operand]) -> BoundProgram:
    """The program for operands of these names, types and formats."""
    specs: list[str | tuple[str, ...]] = [names]
    owners: dict[int, str] = {}  # the first operand of each pattern
    for name, operand in zip(names, operands, strict=True):
        if isinstance(operand, SparseTensor):
            pattern = operand._pattern
            spec = pattern.spec(operand._values.dtype)
            owner = owners.setdefault(id(pattern), name)
            specs.append(spec if owner == name else _with_owner(spec, owner))
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


def _with_owner(spec: str, owner: str) -> str:
    """The spec of an operand with the structure arrays of another one."""
    dtype, index, rank, *rest = spec.split(" ", 3)
    if rest[0].startswith("longest="):
        longest, format_text = rest[0].split(" ", 1)
        return f"{dtype} {index} {rank} {longest} like={owner} {format_text}"
    return f"{dtype} {index} {rank} like={owner} {rest[0]}"


_dense_specs: dict[tuple[torch.dtype, int], str] = {}


def _dense_spec(dtype: torch.dtype, rank: int) -> str:
    found = _dense_specs.get((dtype, rank))
    if found is None:
        found = _dense_specs[dtype, rank] = f"{dtypes.name_of(dtype)} i64 {rank} dense"
    return found


@lru_cache(maxsize=4096)
def results_of(key: str) -> tuple[ResultType, ...]:
    """The results of the program of that key."""
    lines = bindings.describe(key).splitlines()
    return tuple(map(_result_of, lines[::2], lines[1::2]))


def _result_of(spec: str, sizes: str) -> ResultType:
    """The result that two lines of `describe` tell."""
    name, dtype, index, rank, format_text = spec.split(" ", 4)
    like = ""
    if format_text.startswith("like="):
        like, format_text = format_text.removeprefix("like=").split(" ", 1)
    format = Format(format_text, int(rank))
    return ResultType(
        name=name,
        dtype=dtypes.BY_NAME[dtype],
        index_dtype=dtypes.BY_NAME[index],
        format=format,
        array_count=sum(len(level.arrays) for level in format.levels),
        like=like,
        sizes_from=tuple(
            (int(operand), int(dimension))
            for operand, dimension in (size.split(".") for size in sizes.split())
        ),
    )
