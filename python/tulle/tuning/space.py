"""What a search tries: formats of the sparse operands, and schedules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tulle.notation import statements
from tulle.programs.candidates import (
    Candidate,
    candidates_for,
    predicted_seconds,
    steps_of,
    without_statement,
)
from tulle.programs.problem import Problem, untuned_problem
from tulle.support.arguments import check_text
from tulle.support.errors import UserError
from tulle.tensors.formats import Format
from tulle.tensors.sparse_tensor import SparseTensor
from tulle.tuning.suitable_formats import suitable_formats

_SHOWN_STEPS = 8  # of each rewrite, in the text of a space


def problem_of(
    caller: str, text: str, operands: Sequence[Any], named: Mapping[str, Any], out_format: Any
) -> Problem:
    """The problem of an einsum (operands in order) or of statements (operands by name)."""
    return untuned_problem(*statements.prepare(caller, text, operands, named, out_format))


@dataclass(frozen=True)
class Space:
    """What a search tries. It prints its content; its methods return new spaces.

    `Space.default("ij,jk->ik", A, B)` has the formats that suit the patterns of the operands, and
    the schedules that the compiler proposes. `formats(A=["csr", "bsr(4,4)"])` tries these formats
    of an operand besides its own, `only(schedules)` these schedules besides the planned one,
    `also(schedules)` these additional schedules, and `without("prefetch")` omits every format and
    every schedule with a step that contains the word.
    """

    problem: Problem
    formats_of: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    given: tuple[str, ...] = ()  # schedules of the user's
    is_only_given: bool = False
    left_out: tuple[str, ...] = ()

    @staticmethod
    def default(text: str, /, *operands: Any, out_format: Any = None, **named: Any) -> Space:
        """The space that `tune` uses without `space`."""
        return default_space(problem_of("Space.default", text, operands, named, out_format))

    def formats(
        self, by_name: Mapping[Any, Sequence[str | Format]] | None = None, /, **named: Any
    ) -> Space:
        """The space with these formats of sparse operands, given by name. The operands of an einsum
        have the numbers 0, 1, ... or the names t0, t1, ..., as in schedules."""
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
        """The space with these schedules in place of the compiler's."""
        return replace(self, given=_checked(self.problem, schedules), is_only_given=True)

    def also(self, schedules: Sequence[str]) -> Space:
        """The space with these additional schedules."""
        return replace(self, given=self.given + _checked(self.problem, schedules))

    def without(self, *words: str) -> Space:
        """The space without the steps and formats that contain one of the words: "prefetch",
        "unroll(j, 8)". The text of the space names the words without effect."""
        return replace(self, left_out=self.left_out + words)

    def format_choices(self) -> list[dict[str, str]]:
        """The formats of all sparse operands: their own first, then other formats of one operand,
        then a common format of all."""
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
        """The formats of an operand, its own first. `without` never omits an operand's own
        format."""
        several = dict.fromkeys((own, *self.formats_of.get(name, ())))
        return [f for f in several if f == own or not self._is_left_out(f)]

    def candidates(self, problem: Problem) -> list[Candidate]:
        """The candidates for operands in their formats, the default first."""
        default, *others = candidates_for(problem)
        kept = [] if self.is_only_given else others
        seen = {default.schedule, *(one.schedule for one in kept)}
        given = [schedule for schedule in self.given if schedule not in seen]
        for one in given:
            predicted = predicted_seconds(problem, one)
            kept.append(Candidate(default.formats, one, predicted, is_given=True))
        kept = [one for one in kept if not any(map(self._is_left_out, steps_of(one.schedule)))]
        return [default, *kept]

    def _words_without_effect(self) -> list[str]:
        """The words of `without` that no format contains, and no schedule for the operands in their
        own formats."""
        whole = replace(self, left_out=())
        schedules = [one.schedule for one in whole.candidates(self.problem)]
        formats = [format for choice in whole.format_choices() for format in choice.values()]
        texts = [*(step for schedule in schedules for step in steps_of(schedule)), *formats]
        return [word for word in self.left_out if not any(word in text for text in texts)]

    def _is_left_out(self, text: str) -> bool:
        return any(word in text for word in self.left_out)

    def __len__(self) -> int:
        """An estimate of the number of candidates: the schedules for the operands in their own
        formats, times the choices of formats. Other formats have fewer schedules or more; a search
        counts the schedules of the formats that it reaches."""
        return len(self.candidates(self.problem)) * len(self.format_choices())

    def __str__(self) -> str:
        found = self.candidates(self.problem)
        choices = len(self.format_choices())
        lines = [f"{self.problem.program.text}"]
        for name, format in self.problem.formats().items():
            lines.append(f"  {name}: {', '.join(self._formats(name, format))}")
        lines.append(
            f"  {choices} choice{'s' if choices > 1 else ''} of formats; {len(found)} schedules "
            "for the operands in their own formats, made of"
        )
        lines += _lines_of_steps(found)
        lines.append(f"  planned by rule: {found[0].schedule or 'none'}")
        if idle := self._words_without_effect():
            lines.append(
                f"  without {', '.join(map(repr, idle))}: no effect; no format contains this, and "
                "no schedule for the operands in their own formats"
            )
        return "\n".join(lines)

    __repr__ = __str__


def default_space(problem: Problem) -> Space:
    """The formats that suit the operands, and the compiler's schedules."""
    formats = {
        name: tuple(suitable_formats(operand))
        for name, operand in zip(problem.names, problem.operands, strict=True)
        if isinstance(operand, SparseTensor)
    }
    return Space(problem, formats)


def _checked(problem: Problem, schedules: Sequence[str]) -> tuple[str, ...]:
    """The schedules in one notation. Raises UserError if one is invalid."""
    if isinstance(schedules, str):
        schedules = [schedules]
    for schedule in schedules:
        check_text("Space", schedule, "parallel(i)")
        problem.with_schedule(schedule).key()
    return tuple("; ".join(steps_of(schedule)) for schedule in schedules)


def _lines_of_steps(candidates: Sequence[Candidate]) -> list[str]:
    """A line for each rewrite with the steps that the schedules have."""
    by_rewrite: dict[str, dict[str, None]] = {}
    for candidate in candidates:
        for step in steps_of(candidate.schedule):
            bare = without_statement(step)
            by_rewrite.setdefault(bare.partition("(")[0], {})[bare] = None
    lines = []
    for rewrite, steps in by_rewrite.items():
        shown = list(steps)
        rest = len(shown) - _SHOWN_STEPS
        more = f", and {rest} more" if rest > 0 else ""
        lines.append(f"    {rewrite}: {', '.join(shown[:_SHOWN_STEPS])}{more}")
    return lines
