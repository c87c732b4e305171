"""Derivatives in stages: programs that run one after the other instead of one program.

A program with several statements computes its sparse intermediates with structure arrays of their
own, and its loops merge them with the operands that have the same entries. As operands of a later
program they share the pattern of those operands: loops walk it once. Gradients that sum down its
columns can then read it in another storage order (`reordering`).

So no statement of a stage reads a sparse tensor that the stage assigns. Stages pass on tensors with
the structure arrays of an operand, and dense ones that are no larger than the operands together:
the memory of a derivative stays in proportion to its operands.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from tulle.programs import reordering
from tulle.programs.bound_program import BoundProgram, ResultType, bind, results_of
from tulle.programs.graph_calls import is_traced
from tulle.programs.program import Operand, Program, Result, statement_program
from tulle.tensors.pattern import Pattern
from tulle.tensors.sparse_tensor import SparseTensor

NARROWEST = 4  # bytes of the values that stages pass on
_KEY = "stages"  # among the derivatives of a bound program
_INDICES = re.compile(r"\[([^\[\]]*)\]")
_NAME = re.compile(r"[A-Za-z_]\w*")


class Stage(NamedTuple):
    """A program on operands of the derivative and results of earlier stages."""

    program: Program
    names: tuple[str, ...]  # of its operands
    results: tuple[str, ...]  # in the names of the derivative
    released: tuple[str, ...]  # results of stages that no later stage reads


class Stages(NamedTuple):
    """A derivative in stages."""

    stages: tuple[Stage, ...]
    results: tuple[str, ...]  # of the derivative
    passed_on: tuple[ResultType, ...]  # the dense tensors that stages pass on

    @property
    def text(self) -> str:
        return "\n\n".join(stage.program.text for stage in self.stages)


def stages_of(
    program: Program, names: tuple[str, ...], operands: Sequence[Operand]
) -> Stages | None:
    """The stages of the program for these operands; None if it runs as it is. Each statement of the
    program is one line."""
    if "\n" not in program.text or not _are_large(operands) or is_traced(operands):
        return None
    bound = bind(program, names, operands)
    if _KEY not in bound.derivatives:
        bound.derivatives[_KEY] = _split(program.text, names, bound)
    found: Stages | None = bound.derivatives[_KEY]
    if found is None or not _is_small(found.passed_on, operands):
        return None
    return found


def is_shared(result: Result, operands: Sequence[Operand]) -> bool:
    """Whether a result that a stage passes on is dense or has the structure arrays of an
    operand."""
    if not isinstance(result, SparseTensor):
        return True
    return any(pattern.has_arrays(result._pattern.arrays) for pattern in _patterns(operands))


def abandon_stages(program: Program, names: tuple[str, ...], operands: Sequence[Operand]) -> None:
    """Makes `stages_of` return None, because an intermediate has a structure of its own."""
    bind(program, names, operands).derivatives[_KEY] = None


def _patterns(operands: Sequence[Operand]) -> list[Pattern]:
    return [operand._pattern for operand in operands if isinstance(operand, SparseTensor)]


def _are_large(operands: Sequence[Operand]) -> bool:
    """Whether a sparse operand has enough entries for stages to pay, which was measured on CPUs."""
    is_large = False
    for operand in operands:
        if isinstance(operand, SparseTensor):
            count = operand._values.numel()
            # Inside a graph the number of entries may be a symbol.
            if not isinstance(count, int) or operand._pattern.format.is_composite:
                return False
            is_large = is_large or count >= reordering.FEWEST_ENTRIES
    return is_large and all(operand.device.type == "cpu" for operand in operands)


def _is_small(passed_on: Sequence[ResultType], operands: Sequence[Operand]) -> bool:
    """Whether none of these dense tensors is larger than the operands together."""
    if not passed_on:
        return True
    most = sum(_count(operand) for operand in operands)
    return all(
        math.prod(operands[number].shape[dimension] for number, dimension in one.sizes_from) <= most
        for one in passed_on
    )


def _count(operand: Operand) -> int:
    return (operand._values if isinstance(operand, SparseTensor) else operand).numel()


class _Line(NamedTuple):
    name: str  # of the tensor that it assigns
    left: str  # with its indices
    reads: frozenset[str]  # operands and tensors of earlier lines
    text: str


def _lines_of(text: str, names: Collection[str]) -> list[_Line] | None:
    """The statements; None if a name is both that of a tensor and of an index."""
    tensors, indices = set(names), set()
    lines = []
    for line in text.split("\n"):
        left, _, right = line.partition(" = ")
        for found in _INDICES.findall(line):
            indices.update(_NAME.findall(found))
        reads = tensors.intersection(_NAME.findall(_INDICES.sub("", right)))
        name = left.partition("[")[0].strip()
        lines.append(_Line(name, left, frozenset(reads), line))
        tensors.add(name)
    return lines if indices.isdisjoint(tensors) else None


def _split(text: str, names: tuple[str, ...], bound: BoundProgram) -> Stages | None:
    lines = _lines_of(text, names)
    if lines is None:
        return None
    read = frozenset().union(*(line.reads for line in lines))
    # A program in which each intermediate is a result tells the formats of all.
    copied = {f"{line.name}_kept": line for line in lines if line.name in read}
    if not copied.keys().isdisjoint({*names, *(line.name for line in lines)}):
        return None
    copies = [_copy_of(line) for line in copied.values()]
    assert bound.key.endswith(text)
    types = {
        copied[one.name].name: one
        for one in results_of("\n".join([bound.key, *copies]))
        if one.name in copied
    }
    # A program may hold its intermediates in a wider type than its results.
    if any(one.dtype.itemsize < NARROWEST for one in types.values()):
        return None
    sparse = {name for name, one in types.items() if not one.format.is_dense}
    levels: dict[str, int] = {}
    for line in lines:
        before = [levels[name] + (name in sparse) for name in line.reads if name in levels]
        levels[line.name] = max(before, default=0)
    count = max(levels.values()) + 1
    if count == 1:
        return None
    last: dict[str, int] = {}  # the last stage that reads a tensor
    for line in lines:
        for name in line.reads:
            last[name] = max(last.get(name, 0), levels[line.name])
    passed = {name for name, level in levels.items() if last.get(name, level) > level}
    stages = []
    for level in range(count):
        stages.append(_stage(level, lines, names, levels, last, passed))
    return Stages(
        tuple(stages),
        tuple(line.name for line in lines if line.name not in read),
        tuple(types[name] for name in sorted(passed - sparse)),
    )


def _copy_of(line: _Line) -> str:
    return f"{line.left.replace(line.name, f'{line.name}_kept', 1)} = {line.left}"


def _stage(
    level: int,
    lines: Sequence[_Line],
    names: tuple[str, ...],
    levels: dict[str, int],
    last: dict[str, int],
    passed: set[str],
) -> Stage:
    own = [line for line in lines if levels[line.name] == level]
    reads = frozenset().union(*(line.reads for line in own))
    texts, results = [line.text for line in own], [line.name for line in own]
    results = [name for name in results if name not in reads]
    for line in own:
        # The results of a program are what none of its statements reads.
        if line.name in reads and line.name in passed:
            texts.append(_copy_of(line))
            results.append(line.name)
    earlier = [line.name for line in lines if levels[line.name] < level and line.name in reads]
    return Stage(
        statement_program("\n".join(texts)),
        (*(name for name in names if name in reads), *earlier),
        tuple(results),
        tuple(name for name in earlier if last[name] == level),
    )
