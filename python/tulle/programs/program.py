"""A program: the text of a computation with the choices of the caller, without operands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

from torch import Tensor

from tulle.library import bindings
from tulle.support.errors import UserError
from tulle.tensors.formats import Format
from tulle.tensors.sparse_tensor import SparseTensor

Operand: TypeAlias = SparseTensor | Tensor
Result: TypeAlias = SparseTensor | Tensor
OutFormat: TypeAlias = str | Format | Mapping[str, str | Format] | None

LONGEST_LABEL = 160  # characters of the text of a program


@dataclass(frozen=True)
class Program:
    """A computation for operands of any types and formats."""

    text: str  # index notation, or the equation of an einsum
    is_einsum: bool = False
    out_formats: tuple[tuple[str, str], ...] = ()  # name of the result or "*", format
    ones: tuple[tuple[int, int], ...] = ()  # of an einsum: operand and dimension with the size 1
    schedule: str = ""
    features: str = ""
    checked: bool = False
    tuned: bool = True  # uses the schedule of an earlier search if there is one
    reduce: str = "sum"  # of an einsum
    # The bound programs (`bound_program`) by the names and specs of operands.
    bound: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __reduce__(self) -> tuple[Any, ...]:
        # Without the bound programs, whose numbers are those of this process.
        return Program, tuple(getattr(self, one.name) for one in fields(self) if one.init)

    @cached_property
    def has_composite_results(self) -> bool:
        """Whether the caller wants a result in a composite format."""
        return any(Format(format).is_composite for _, format in self.out_formats)

    @cached_property
    def label(self) -> str:
        """What profilers and anomaly mode call a run of the program."""
        kind = "einsum " if self.is_einsum else ""
        text = "; ".join(filter(None, map(str.strip, self.text.splitlines())))
        shown = text if len(text) <= LONGEST_LABEL else f"{text[:LONGEST_LABEL]}..."
        return f"tulle: {kind}{shown}"

    def called(self, name: str) -> str:
        """What messages call an operand. The names of an einsum's operands are internal."""
        return f"operand {int(name[1:]) + 1}" if self.is_einsum else name

    def key(self, specs: Sequence[str]) -> str:
        """The text from which any process can compile the program for operands with these specs.
        src/torch/key.h describes it."""
        lines = [f"operand {spec}" for spec in specs]
        lines += [f"out {name} {format}" for name, format in self.out_formats]
        lines += [f"one {operand} {dimension}" for operand, dimension in self.ones]
        if self.schedule:
            lines += [f"schedule {line}" for line in self.schedule.split("\n")]
        if self.features:
            lines.append(f"features {self.features}")
        if self.checked:
            lines.append("checked")
        if not self.tuned:
            lines.append("untuned")
        if self.reduce != "sum":
            lines.append(f"reduce {self.reduce}")
        lines += ["einsum" if self.is_einsum else "compute", self.text]
        return "\n".join(lines)


def out_formats(given: OutFormat) -> tuple[tuple[str, str], ...]:
    """The formats of results as a program holds them: pairs of name and format. The name "*" stands
    for the only result."""
    if given is None:
        return ()
    by_name = given if isinstance(given, Mapping) else {"*": given}
    for format in by_name.values():
        if not isinstance(format, str | Format):
            raise UserError(f"out_format: expected text or a tulle.Format, but found {format!r}.")
    return tuple((name, str(Format(format))) for name, format in by_name.items())


@lru_cache(maxsize=4096)
def statement_program(text: str, out_formats: tuple[tuple[str, str], ...] = ()) -> Program:
    """The program of index notation. Equal arguments give one object, whose bound programs later
    calls find again."""
    return Program(text, out_formats=out_formats)


@lru_cache(maxsize=4096)
def einsum_program(
    equation: str,
    out_formats: tuple[tuple[str, str], ...],
    ones: tuple[tuple[int, int], ...],
    reduce: str,
) -> Program:
    """As `statement_program`, for an einsum."""
    return Program(equation, is_einsum=True, out_formats=out_formats, ones=ones, reduce=reduce)


# ---- what the text says --------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def names_in(program: Program) -> tuple[list[str], list[str]]:
    """The operands that the statements read and the names that they assign. Raises UserError if the
    statements are invalid, or if a step of the schedule is invalid or fits no statement."""
    lines = _described(program)
    operands = [name for kind, name, *_ in lines if kind == "operand"]
    return operands, [name for kind, name, *_ in lines if kind == "assigned"]


def decomposed_in(program: Program) -> dict[str, str]:
    """The operands that the schedule decomposes, and the composite format of each."""
    if not program.schedule:
        return {}
    return {line[1]: line[2] for line in _described(program) if line[0] == "decomposed"}


def _described(program: Program) -> list[list[str]]:
    """Facts about the statements: the kind of the fact, a name, for some kinds more."""
    text = bindings.describe_notation(program.text, program.schedule)
    return [line.split(" ", 2) for line in text.splitlines()]
