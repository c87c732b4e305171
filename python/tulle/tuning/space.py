"""What a search looks through: formats of the sparse operands, and schedules."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from tulle.library import bindings
from tulle.notation import statements
from tulle.programs.execution import Operand, Program, checked, compiled, flatten, spec_of
from tulle.support.arguments import check_text
from tulle.support.errors import UserError, translated
from tulle.tensors.formats import Format
from tulle.tensors.sparse_tensor import SparseTensor
from tulle.tensors.statistics import suitable_formats


@dataclass(frozen=True)
class Problem:
    """A computation that can be run: a program and the operands that it runs on, by name."""

    program: Program
    names: tuple[str, ...]
    operands: tuple[Operand, ...]

    def key(self) -> str:
        """The key of the program for these operands."""
        specs = tuple(map(spec_of, self.names, self.operands))
        return compiled(self.program, specs).key

    def formats(self) -> dict[str, str]:
        """The formats of the sparse operands."""
        return {
            name: str(operand.format)
            for name, operand in zip(self.names, self.operands, strict=True)
            if isinstance(operand, SparseTensor)
        }

    def computes_like(self, other: Problem) -> bool:
        """Whether the texts say the same, of operands of the same names."""
        same = _in_full(self.program) == _in_full(other.program)
        return same and set(self.names) == set(other.names)

    def tuned(self) -> Problem:
        """The same computation with the schedule that is kept for it, if there is one."""
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


def problem_of(
    caller: str, text: str, operands: Sequence[Any], named: Mapping[str, Any], out_format: Any
) -> Problem:
    """An einsum over operands in order, or statements over operands by name."""
    return problem_for(*statements.prepare(caller, text, operands, named, out_format))


def problem_for(program: Program, names: Sequence[str], operands: Sequence[Operand]) -> Problem:
    """The computation as the rules plan it, whatever a search has found."""
    ready = checked(program, names, operands)
    return Problem(replace(program, tuned=False), tuple(names), tuple(ready))


@dataclass(frozen=True)
class Candidate:
    """Formats and a schedule to be tried; the planned schedule is the default of its formats."""

    formats: tuple[tuple[str, str], ...]  # of the sparse operands
    schedule: str
    predicted: float | None = None  # in seconds
    is_default: bool = False
    is_given: bool = False  # by the user: tried first

    @cached_property
    def steps(self) -> frozenset[str]:
        """The steps of the schedule, each as text."""
        return frozenset(steps_of(self.schedule))

    def difference(self, other: Candidate) -> int:
        """In how many decisions the two differ."""
        differing = self.steps ^ other.steps
        names = {_without_statement(step).partition("(")[0] for step in differing}
        return len(names) + 2 * (self.formats != other.formats)


def _in_full(program: Program) -> str:
    """The text without spaces, and with the result that an einsum leaves out."""
    text = "".join(program.text.split())
    if not program.is_einsum or "->" in text:
        return text
    once = sorted(letter for letter in set(text) if letter.isalpha() and text.count(letter) == 1)
    return f"{text}->{'...' if '...' in text else ''}{''.join(once)}"


def steps_of(schedule: str) -> list[str]:
    """ "split(k, 8, k0, k1); vectorize(k1, 8)" in pieces, without comments. What stands in
    brackets, a format say, stays together."""
    pieces, depth = [""], 0
    for character in re.sub(r"#[^\n]*", "", schedule):
        depth += (character in "({") - (character in ")}")
        if depth == 0 and character in ";\n":
            pieces.append("")
        else:
            pieces[-1] += character
    steps = (" ".join(piece.split()) for piece in pieces)
    return [step for step in steps if step]


def _without_statement(step: str) -> str:
    """ "C: parallel(i)" without the statement that it is for."""
    return re.sub(r"^\w+:\s*", "", step)


def candidates_for(problem: Problem) -> list[Candidate]:
    """What the compiler would try for operands in these formats: the default first, then by what is
    predicted."""
    formats = tuple(problem.formats().items())
    try:
        text = bindings.candidates(problem.key(), *flatten(problem.operands))
    except RuntimeError as error:
        raise translated(error) from None
    by_statement: dict[str, list[tuple[str, float]]] = {}
    for record in text.split("\x1e")[:-1]:
        seconds, statement, schedule = record.split("\x1f")
        by_statement.setdefault(statement, []).append((schedule, float(seconds)))
    total = sum(schedules[0][1] for schedules in by_statement.values())
    planned = "; ".join(schedules[0][0] for schedules in by_statement.values() if schedules[0][0])
    default = Candidate(formats, planned, total, is_default=True)
    # One statement at a time, the others as they are planned.
    found: list[Candidate] = []
    for schedules in by_statement.values():
        (_, planned_seconds), *others = schedules
        rest = total - planned_seconds
        found += [Candidate(formats, schedule, rest + time) for schedule, time in others]
    return [default, *sorted(found, key=lambda one: one.predicted or 0.0)]


@dataclass(frozen=True)
class Space:
    """What a search looks through. It prints; its methods return new spaces.

    `Space.default("ij,jk->ik", A, B)` has the formats that suit the patterns of the operands, and
    the schedules that the compiler's rules allow. `formats(A=["csr", "bsr(4,4)"])` tries these
    formats of an operand beside its own, `only(schedules)` these schedules beside the default,
    `also(schedules)` these too, and `without("prefetch")` leaves out every format and every
    schedule with a step that has the word in it.
    """

    problem: Problem
    formats_of: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    given: tuple[str, ...] = ()  # schedules of the user's
    is_only_given: bool = False
    left_out: tuple[str, ...] = ()

    @staticmethod
    def default(text: str, /, *operands: Any, out_format: Any = None, **named: Any) -> Space:
        """The space that `tune` looks through if it is given none."""
        return default_space(problem_of("Space.default", text, operands, named, out_format))

    def formats(
        self, by_name: Mapping[Any, Sequence[str | Format]] | None = None, /, **named: Any
    ) -> Space:
        """With these formats of sparse operands: by name, or by number in an einsum, from 0; their
        names are t0, t1, as in schedules."""
        known = self.problem.formats()
        chosen = dict(self.formats_of)
        for given, formats in {**(by_name or {}), **named}.items():
            name = f"t{given}" if isinstance(given, int) else given
            if name not in known:
                raise UserError(
                    f"Space.formats: there is no sparse operand {name}; there "
                    f"{'is' if len(known) == 1 else 'are'} {', '.join(known)}."
                )
            several = [formats] if isinstance(formats, str | Format) else formats
            rank = self.problem.operands[self.problem.names.index(name)].ndim
            chosen[name] = tuple(str(Format(one).of_rank(rank)) for one in several)
        return replace(self, formats_of=chosen)

    def only(self, schedules: Sequence[str]) -> Space:
        """With these schedules in place of the compiler's."""
        return replace(self, given=_checked(self.problem, schedules), is_only_given=True)

    def also(self, schedules: Sequence[str]) -> Space:
        """With these schedules beside those that are there."""
        return replace(self, given=self.given + _checked(self.problem, schedules))

    def without(self, *words: str) -> Space:
        """Without steps and formats that have one of the words: "prefetch", "unroll(j, 8)". The
        space prints those that leave nothing out."""
        return replace(self, left_out=self.left_out + words)

    def format_choices(self) -> list[dict[str, str]]:
        """Formats of all sparse operands: their own first, then others of one operand at a time,
        then others of all."""
        own = self.problem.formats()
        others = {
            name: [f for f in self._formats(name, format) if f != format]
            for name, format in own.items()
        }
        choices = [own]
        choices += [{**own, name: f} for name in own for f in others[name]]
        if len(own) > 1:
            first, *rest = others.values()
            shared = [f for f in first if all(f in formats for formats in rest)]
            choices += [dict.fromkeys(own, f) for f in shared]
        return choices

    def _formats(self, name: str, own: str) -> list[str]:
        """The formats of an operand, its own first, which cannot be left out."""
        several = dict.fromkeys((own, *self.formats_of.get(name, ())))
        return [f for f in several if f == own or not self._is_left_out(f)]

    def candidates(self, problem: Problem) -> list[Candidate]:
        """What is to be tried for operands in their formats, the default first."""
        default, *others = candidates_for(problem)
        kept = [] if self.is_only_given else others
        seen = {default.schedule, *(one.schedule for one in kept)}
        given = [schedule for schedule in self.given if schedule not in seen]
        for one in given:
            predicted = _predicted(problem, one)
            kept.append(Candidate(default.formats, one, predicted, is_given=True))
        kept = [one for one in kept if not any(map(self._is_left_out, steps_of(one.schedule)))]
        return [default, *kept]

    def _words_without_effect(self) -> list[str]:
        """Words to be left out that neither schedules for the operands as they are stored nor
        formats have."""
        whole = replace(self, left_out=())
        schedules = [one.schedule for one in whole.candidates(self.problem)]
        formats = [format for choice in whole.format_choices() for format in choice.values()]
        texts = [*(step for schedule in schedules for step in steps_of(schedule)), *formats]
        return [word for word in self.left_out if not any(word in text for text in texts)]

    def _is_left_out(self, text: str) -> bool:
        return any(word in text for word in self.left_out)

    def __len__(self) -> int:
        """Schedules of the operands as they are stored, times choices of formats: about as many
        candidates as there are. Other formats have fewer schedules or more, and a search counts
        those of the formats that it had time for."""
        return len(self.candidates(self.problem)) * len(self.format_choices())

    def __str__(self) -> str:
        found = self.candidates(self.problem)
        choices = len(self.format_choices())
        lines = [f"{self.problem.program.text}"]
        for name, format in self.problem.formats().items():
            lines.append(f"  {name}: {', '.join(self._formats(name, format))}")
        lines.append(
            f"  {choices} choice{'s' if choices > 1 else ''} of formats; {len(found)} schedules "
            "for the operands as they are stored, made of"
        )
        by_rewrite: dict[str, dict[str, None]] = {}
        for candidate in found:
            for step in steps_of(candidate.schedule):
                bare = _without_statement(step)
                by_rewrite.setdefault(bare.partition("(")[0], {})[bare] = None
        for rewrite, steps in by_rewrite.items():
            shown = list(steps)
            more = f", and {len(shown) - 8} more" if len(shown) > 8 else ""
            lines.append(f"    {rewrite}: {', '.join(shown[:8])}{more}")
        lines.append(f"  planned by rule: {found[0].schedule or 'none'}")
        if idle := self._words_without_effect():
            lines.append(
                f"  without {', '.join(map(repr, idle))}: no format has that in it, and no "
                "schedule for the operands as they are stored"
            )
        return "\n".join(lines)

    __repr__ = __str__


def default_space(problem: Problem) -> Space:
    """Formats that suit the operands, and the compiler's schedules."""
    formats = {
        name: tuple(suitable_formats(operand))
        for name, operand in zip(problem.names, problem.operands, strict=True)
        if isinstance(operand, SparseTensor)
    }
    return Space(problem, formats)


def _checked(problem: Problem, schedules: Sequence[str]) -> tuple[str, ...]:
    if isinstance(schedules, str):
        schedules = [schedules]
    for schedule in schedules:
        check_text("Space", schedule, "parallel(i)")
        replace(problem, program=replace(problem.program, schedule=schedule)).key()
    return tuple("; ".join(steps_of(schedule)) for schedule in schedules)


def _predicted(problem: Problem, schedule: str) -> float | None:
    """The estimate for a schedule of the user's, if it is legal."""
    given = replace(problem, program=replace(problem.program, schedule=schedule))
    try:
        text = bindings.candidates(given.key(), *flatten(given.operands))
    except RuntimeError:
        return None
    return sum(float(record.split("\x1f")[0]) for record in text.split("\x1e")[:-1])
