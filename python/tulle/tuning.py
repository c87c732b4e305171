"""Finds the fastest formats and schedule for a computation by measuring, and keeps them."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from tulle import _library
from tulle.errors import UserError, translated
from tulle.pictures import Picture
from tulle.programs import Operand, OutFormat, flatten
from tulle.tuning_measure import Contender, Measured, made_ready, race
from tulle.tuning_space import Candidate, Problem, Space, default_space, problem_of

FIRST = 6  # candidates that are chosen to be far from each other
FINALISTS = 3  # that are measured for longer in the end
ROUNDS, LAST_ROUNDS = 5, 15
HOPELESS = 2.5  # times the best: not measured for longer
BUSY = "the machine was busy with other work (load {:.1f}): search again when it is quiet"
GAIN = 0.98  # of the default's time: what a schedule must stay under to take its place


@dataclass
class Tuned:
    """What a search found. It prints as a table."""

    problem: Problem
    best: Measured  # of the operands' own formats: what is used from now on
    best_of_all: Measured  # of any formats
    default: Measured
    measured: list[Measured]
    space_size: int
    seconds: float  # that it took
    is_interrupted: bool = False
    notes: list[str] = field(default_factory=list)

    @property
    def schedule(self) -> str:
        """The schedule that is used from now on; it can be given to `Kernel.schedule`."""
        return self.best.candidate.schedule

    @property
    def speedup(self) -> float:
        """The default's time over that of the schedule that is used from now on."""
        return self.default.seconds / self.best.seconds

    @property
    def formats(self) -> dict[str, str]:
        """The formats of the sparse operands with which the computation is fastest."""
        return dict(self.best_of_all.candidate.formats)

    @property
    def conversion_seconds(self) -> float:
        """What it costs to bring the operands into these formats."""
        return self.best_of_all.conversion_seconds

    @property
    def pays_after(self) -> float:
        """After how many calls such a conversion has paid: 0 where none is needed."""
        if self.best_of_all is self.best:
            return 0.0
        return self.conversion_seconds / (self.best.seconds - self.best_of_all.seconds)

    @property
    def operands(self) -> tuple[Operand, ...]:
        """The operands in these formats."""
        return self.problem.converted(self.formats).operands

    def plot(self, path: str | Path | None = None) -> Picture:
        """What was measured against what was predicted, as SVG: written to `path` if given."""
        from tulle import plots

        return plots.plot_search(self, path)

    def __str__(self) -> str:
        lines = [
            f"{self.problem.program.text}: {len(self.measured)} of {self.space_size} candidates "
            f"measured in {self.seconds:.1f} s{', interrupted' if self.is_interrupted else ''}",
            _table(self.measured, self.default),
            f"planned by rule {_ms(self.default.seconds)}, best {_ms(self.best.seconds)} "
            f"({self.speedup:.2f}x)" + (": the planned one stays" if self.best.is_default else ""),
        ]
        if self.best_of_all is not self.best:
            chosen = ", ".join(
                f"{self.problem.program.called(name)} as {format}"
                for name, format in self.formats.items()
            )
            lines.append(
                f"with {chosen}: {_ms(self.best_of_all.seconds)}; the conversion takes "
                f"{_ms(self.conversion_seconds)} and has paid after {self.pays_after:.0f} calls"
            )
        return "\n".join([*lines, *self.notes])

    __repr__ = __str__


def tune(
    text: str,
    /,
    *operands: Any,
    space: Space | None = None,
    seconds: float = 10.0,
    out_format: OutFormat = None,
    progress: bool | None = None,
    **named: Any,
) -> Tuned:
    """Measures schedules, and formats if the space has several, of an einsum (operands in order) or
    of statements (operands by name) for about so many seconds. The best schedule for the operands'
    own formats is kept, and used from then on by all that computes the same with operands like
    these, in other processes too; one that is slower than what is planned by rule never is.

    Ctrl-C ends the search early with what was measured so far. Operands are never converted behind
    a caller's back: where another format is faster, the result says so, and what converting costs.
    """
    problem = problem_of("tune", text, operands, named, out_format)
    if not problem.operands:
        raise UserError("tune: the computation has no operands to measure it with.")
    if not isinstance(seconds, int | float) or not seconds > 0:
        raise UserError(f"tune: seconds should be a number above 0, but found {seconds!r}.")
    if space is None:
        space = default_space(problem)
    elif not isinstance(space, Space):
        raise UserError(
            f"tune: space should be a tulle.Space, but found {type(space).__name__}; "
            "Space.default(...) makes one from the same arguments."
        )
    show = sys.stderr.isatty() if progress is None else progress
    search = _Search(replace(space, problem=problem), seconds, _bar if show else None)
    found = search.run()
    _keep(found)
    return found


class _Search:
    """The state of a search: what is to be tried, what was measured."""

    def __init__(
        self, space: Space, seconds: float, show: Callable[[float, str], None] | None
    ) -> None:
        self.space = space
        self.start = self.begin = time.perf_counter()
        self.seconds = seconds
        self.show = show
        self.problems: dict[tuple[tuple[str, str], ...], Problem] = {}
        self.conversions: dict[tuple[tuple[str, str], ...], float] = {}
        self.waiting: list[Candidate] = []
        self.contenders: list[Contender] = []  # the default first
        self.refused: list[Measured] = []
        self.size = 0
        self.is_interrupted = False

    def run(self) -> Tuned:
        self._start()
        try:
            if self.waiting:
                self._try(self._next())
            for number, choice in enumerate(self.space.format_choices()[1:]):
                if number == 0 or not self._is_over(0.6):
                    self._add_formats(choice)
            while self.waiting and not self._is_over(0.8):
                self._try(self._next())
            self._decide()
        except KeyboardInterrupt:
            self.is_interrupted = True
        finally:
            if self.show:
                self.show(1.0, "")
        return self._result()

    def _start(self) -> None:
        """Measures the default, without which nothing can be said."""
        problem = self.space.problem
        default, *others = self.space.candidates(problem)
        contender = Contender(problem, default)
        try:
            self.expected = contender.warm_up()
        except RuntimeError as error:
            raise translated(error) from None
        self.problems[default.formats] = problem
        self.contenders.append(contender)
        race(self.contenders, 3, self._deadline(1.0))
        self.waiting += others
        self.size = 1 + len(others)
        self.begin = time.perf_counter()  # the compiler's own time does not count

    def _add_formats(self, choice: dict[str, str]) -> None:
        """Converts the operands; the candidates of those formats wait too."""
        begin = time.perf_counter()
        problem = self.space.problem.converted(choice)
        first = time.perf_counter() - begin
        begin = time.perf_counter()
        problem = self.space.problem.converted(choice)
        second = time.perf_counter() - begin
        default, *others = self.space.candidates(problem)
        self.problems[default.formats] = problem
        self.conversions[default.formats] = min(first, second)
        self.size += 1 + len(others)
        self.waiting += others
        self._try(default)

    def _next(self) -> Candidate:
        """At first what is promising and unlike what was tried, then what is like the best."""
        tried = [contender.measured.candidate for contender in self.contenders]

        def estimate(candidate: Candidate) -> float:
            return float("inf") if candidate.predicted is None else candidate.predicted

        if len(tried) <= FIRST:
            unlike = [
                c for c in self.waiting if min(c.difference(other) for other in tried) >= 2
            ] or self.waiting
            chosen = min(unlike, key=estimate)
        else:
            best = min(self.contenders, key=lambda c: c.measured.seconds).measured.candidate
            chosen = min(self.waiting, key=lambda c: (c.difference(best), estimate(c)))
        self.waiting.remove(chosen)
        return chosen

    def _try(self, candidate: Candidate) -> None:
        problem = self.problems[candidate.formats]
        # Sparse results of other formats may be stored in another order.
        is_same = candidate.formats == self._own_formats() or len(self.expected) == 1
        expected = self.expected if is_same else None
        contender, measured, _ = made_ready(problem, candidate, expected)
        measured.conversion_seconds = self.conversions.get(candidate.formats, 0.0)
        if contender is None:
            self.refused.append(measured)
            return
        best = min(self.contenders, key=lambda c: c.measured.seconds)
        self.contenders.append(contender)
        measured.samples = [contender.sample() for _ in range(2)]
        measured.seconds = min(measured.samples)
        if measured.seconds < HOPELESS * best.measured.seconds:
            race([self.contenders[0], contender], ROUNDS, self._deadline(1.0))
        if self.show:
            self._report(best)

    def _report(self, best: Contender) -> None:
        default = self.contenders[0].measured.seconds
        text = (
            f"{len(self.contenders)} measured, best {_ms(best.measured.seconds)}, "
            f"{default / best.measured.seconds:.2f}x"
        )
        assert self.show
        self.show((time.perf_counter() - self.begin) / self.seconds, text)

    def _decide(self) -> None:
        """Races the best few against the default for longer, until those are the best that have
        been: what looked best at first was partly lucky."""
        while True:
            ranked = sorted(self.contenders[1:], key=lambda c: c.measured.seconds)
            own = [c for c in ranked if c.measured.candidate.formats == self._own_formats()]
            best = {id(c): c for c in [*ranked[:FINALISTS], *own[:FINALISTS]]}.values()
            again = [c for c in best if c.measured.rounds < LAST_ROUNDS]
            if not again:
                return
            race([self.contenders[0], *again], LAST_ROUNDS, self._deadline(1.0))
            if self._is_over(1.0):
                return

    def _own_formats(self) -> tuple[tuple[str, str], ...]:
        return self.contenders[0].measured.candidate.formats

    def _result(self) -> Tuned:
        default = self.contenders[0].measured
        done = [c.measured for c in self.contenders if c.measured.samples]
        measured = sorted(done, key=lambda m: m.seconds)

        longest = max((m.rounds for m in measured), default=0)

        def best_of(choice: Sequence[Measured]) -> Measured:
            seen = [m for m in choice if m.rounds >= min(longest, LAST_ROUNDS)]
            return next((m for m in seen if m.beats(default, GAIN)), default)

        own = [m for m in measured if m.candidate.formats == self._own_formats()]
        best = best_of(own)
        best_of_all = best_of(measured)
        if best_of_all.seconds >= GAIN * best.seconds:
            best_of_all = best
        busy = os.getloadavg()[0] - torch.get_num_threads()
        notes = [BUSY.format(os.getloadavg()[0])] if busy > 0.5 * (os.cpu_count() or 1) else []
        return Tuned(
            self.space.problem,
            best,
            best_of_all,
            default,
            measured + self.refused,
            self.size,
            time.perf_counter() - self.start,
            self.is_interrupted,
            notes,
        )

    def _deadline(self, share: float) -> float:
        return self.begin + share * self.seconds

    def _is_over(self, share: float) -> bool:
        return time.perf_counter() > self._deadline(share)


def _keep(found: Tuned) -> None:
    """Stores the best schedule for the operands' own formats, and that for the best formats."""
    report = _table(found.measured, found.default)
    for best in {id(m): m for m in (found.best, found.best_of_all)}.values():
        problem = found.problem.converted(dict(best.candidate.formats))
        schedule = "" if best.is_default else best.candidate.schedule
        defaults = {m.candidate.formats: m for m in found.measured if m.is_default}
        default = defaults.get(best.candidate.formats, found.default)
        try:
            _library.keep_schedule(
                problem.key(),
                *flatten(problem.operands),
                schedule,
                best.seconds,
                default.seconds,
                report,
            )
        except RuntimeError as error:
            raise translated(error) from None


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.3g} ms"


def _shortened(schedule: str) -> str:
    """Without what would fill several lines: the schedules of many statements."""
    if len(schedule) < 300:
        return schedule or "none"
    return f"{schedule[:260]}... and {schedule.count(';') - schedule[:260].count(';')} steps more"


def _table(measured: Sequence[Measured], default: Measured, most: int = 12) -> str:
    """The best of those measured, and the default, a line for each."""
    shown = list(measured[:most])
    shown += [m for m in measured[most:] if m is default]
    own = default.candidate.formats
    lines = [" measured   predicted  schedule"]
    for one in shown:
        predicted = one.candidate.predicted
        time_text = "refused" if one.refused else _ms(one.seconds)
        formats = one.candidate.formats
        chosen = "" if formats == own else " ".join(f"{n}:{f}" for n, f in formats) + "  "
        mark = " (planned by rule)" if one is default else ""
        lines.append(
            f"{time_text:>9}  {'' if predicted is None else _ms(predicted):>9}  "
            f"{chosen}{one.refused or _shortened(one.candidate.schedule)}{mark}"
        )
    left = len(measured) - len(shown)
    return "\n".join([*lines, f"           and {left} more"] if left else lines)


def _bar(share: float, text: str) -> None:
    """A progress bar on stderr, which goes when the search is over."""
    width = 30
    if not text:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
        return
    filled = round(width * min(1.0, share))
    bar = "#" * filled + "." * (width - filled)
    print(f"\r\x1b[K[{bar}] {text}", end="", file=sys.stderr, flush=True)
