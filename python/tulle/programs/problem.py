"""A program with operands: a computation that can run, be explained and be tuned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tulle.programs.bound_program import bind
from tulle.programs.operand_checks import checked
from tulle.programs.program import Operand, Program
from tulle.tensors.sparse_tensor import SparseTensor


@dataclass(frozen=True)
class Problem:
    """A program and its operands by name."""

    program: Program
    names: tuple[str, ...]
    operands: tuple[Operand, ...]

    def key(self) -> str:
        """The key of the program for these operands."""
        return bind(self.program, self.names, self.operands).key

    def formats(self) -> dict[str, str]:
        """The formats of the sparse operands by name."""
        return {
            name: str(operand.format)
            for name, operand in zip(self.names, self.operands, strict=True)
            if isinstance(operand, SparseTensor)
        }

    def computes_like(self, other: Problem) -> bool:
        """Whether both compute the same from operands with the same names."""
        same = _complete_text(self.program) == _complete_text(other.program)
        return same and set(self.names) == set(other.names)

    def with_schedule(self, schedule: str) -> Problem:
        """The same computation with this schedule; the empty one stands for the planned
        schedule."""
        return replace(self, program=replace(self.program, schedule=schedule))

    def tuned(self) -> Problem:
        """The same computation with the schedule of an earlier search, if there is one."""
        return replace(self, program=replace(self.program, tuned=True))

    def converted(self, formats: Mapping[str, str]) -> Problem:
        """The same computation with operands in other formats."""
        operands = tuple(
            operand.to(format=formats[name])
            if name in formats and isinstance(operand, SparseTensor)
            else operand
            for name, operand in zip(self.names, self.operands, strict=True)
        )
        return replace(self, operands=operands)


def untuned_problem(program: Program, names: Sequence[str], operands: Sequence[Operand]) -> Problem:
    """The computation with the planned schedule. Ignores the results of searches."""
    ready = checked(program, names, operands)
    return Problem(replace(program, tuned=False), tuple(names), tuple(ready))


def _complete_text(program: Program) -> str:
    """The text without spaces. An einsum without "->" gets its implicit result."""
    text = "".join(program.text.split())
    if not program.is_einsum or "->" in text:
        return text
    once = sorted(letter for letter in set(text) if letter.isalpha() and text.count(letter) == 1)
    return f"{text}->{'...' if '...' in text else ''}{''.join(once)}"
