"""Programs that compute derivatives of a bound program. The library derives them from its text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tulle.library import bindings
from tulle.programs.bound_program import BoundProgram
from tulle.programs.program import Program, statement_program


class DerivativeOperand(NamedTuple):
    """A tensor that a derivative reads. `role` is "operand", "part", "result", "gradient" or
    "tangent"; `of` is an operand or a result of the derived program."""

    role: str
    of: str


class Derivative(NamedTuple):
    """A program that computes gradients or tangents."""

    program: Program
    names: tuple[str, ...]  # of its operands
    operands: tuple[DerivativeOperand, ...]
    # For each of its results, the operand (gradient) or result (tangent) of the derived program.
    results: tuple[str, ...]
    # The operands or results whose derivative is 0.
    zeros: frozenset[str]

    @property
    def is_zero(self) -> bool:
        """Whether all derivatives are 0, so that there is nothing to run."""
        return not self.results

    @property
    def constants(self) -> frozenset[str]:
        """The names of operands that later runs may pass again."""
        return frozenset(
            name
            for name, operand in zip(self.names, self.operands, strict=True)
            if operand.role in ("operand", "part")
        )

    def reads(self, role: str) -> frozenset[str]:
        """The operands or results of the derived program that it reads in this role."""
        return frozenset(operand.of for operand in self.operands if operand.role == role)


def gradient_of(bound: BoundProgram, wanted: Sequence[str], seeds: Sequence[str]) -> Derivative:
    """The gradients of the operands `wanted`, given the gradients of the results `seeds`."""
    key = ("gradient", *wanted, "", *seeds)
    found: Derivative | None = bound.derivatives.get(key)
    if found is None:
        text = bindings.gradient(bound.key, " ".join(wanted), " ".join(seeds))
        found = bound.derivatives[key] = _read(text)
    return found


def tangent_of(bound: BoundProgram, moved: Sequence[str]) -> Derivative:
    """The tangents of all results, given the tangents of the operands `moved`."""
    key = ("tangent", *moved)
    found: Derivative | None = bound.derivatives.get(key)
    if found is None:
        found = bound.derivatives[key] = _read(bindings.tangent(bound.key, " ".join(moved)))
    return found


def _read(text: str) -> Derivative:
    """The derivative that an operator of the library describes."""
    head, _, statements = text.partition("compute\n")
    names: list[str] = []
    operands: list[DerivativeOperand] = []
    assigned: dict[str, str] = {}  # result: the tensor whose gradient or tangent it is
    zeros: list[str] = []
    for kind, name, *rest in map(str.split, head.splitlines()):
        if kind == "operand":
            names.append(name)
            operands.append(DerivativeOperand(*rest))
        elif kind == "result":
            assigned[name] = rest[0]
        else:
            zeros.append(name)
    # The results of a program are in the order of their statements.
    order = [line.partition("=")[0].partition("[")[0].strip() for line in statements.splitlines()]
    results = tuple(assigned[name] for name in order if name in assigned)
    program = statement_program(statements.strip("\n"))
    return Derivative(program, tuple(names), tuple(operands), results, frozenset(zeros))
