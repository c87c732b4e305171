"""The result of a search, and how it prints."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from tulle.plotting import search_plot
from tulle.plotting.pictures import Picture
from tulle.programs.problem import Problem
from tulle.programs.program import Operand
from tulle.tuning.race import Measured
from tulle.tuning.report import milliseconds, table

BUSY = 0.2  # the share of disturbed samples from which a note follows
NOTE = (
    "other work on the machine disturbed {:.0f}% of the samples: search again on an idle machine, "
    "or for more seconds"
)
INTERRUPTED = "the search was interrupted before a decision: the schedule in use stays"
TOO_BUSY = "no decision, because the machine was too busy: the schedule in use stays"
UNSTEADY = "no decision, because the times varied too much: the schedule in use stays"


@dataclass(frozen=True)
class Decision:
    """The schedule to use for operands in some formats. It won a race against the planned schedule,
    or it is the planned one."""

    best: Measured
    seconds: float  # medians of that race
    default_seconds: float

    @property
    def formats(self) -> tuple[tuple[str, str], ...]:
        """The formats of the sparse operands: name, format."""
        return self.best.candidate.formats


@dataclass(frozen=True)
class Recommendation:
    """Formats that are faster than the operands' own; both were measured with their best schedules,
    side by side."""

    best: Measured
    seconds: float
    own_seconds: float  # with the operands' own formats


@dataclass
class Tuned:
    """The result of a search. It prints as a table."""

    problem: Problem
    default: Measured
    measured: list[Measured]
    decisions: list[Decision]  # the decision for the operands' own formats first if there is one
    recommended: Recommendation | None  # None: no formats are faster than the operands' own
    space_size: int
    formats_tried: tuple[int, int]  # choices of formats: tried, all
    seconds: float  # of the search
    is_interrupted: bool = False

    @property
    def disturbed(self) -> float:
        """The share of the samples that other work on the machine disturbed."""
        count = sum(len(one.samples) for one in self.measured)
        return sum(one.disturbed for one in self.measured) / max(1, count)

    @property
    def notes(self) -> list[str]:
        """Remarks on the search."""
        return [NOTE.format(100 * self.disturbed)] if self.disturbed > BUSY else []

    @property
    def decision(self) -> Decision | None:
        """The decision for the operands' own formats. None if the search ended before it, or if the
        machine was too busy."""
        own = self.default.candidate.formats
        return next((one for one in self.decisions if one.formats == own), None)

    @property
    def best(self) -> Measured:
        """The schedule that computations with the operands' own formats use from now on, if there
        is a decision; else the planned one."""
        return self.decision.best if self.decision else self.default

    @property
    def best_of_all(self) -> Measured:
        """The best of all formats."""
        return self.recommended.best if self.recommended else self.best

    @property
    def schedule(self) -> str:
        """The best schedule, as `Kernel.schedule` takes it."""
        return self.best.candidate.schedule

    @property
    def speedup(self) -> float:
        """The time of the planned schedule over the time of the best, measured side by side."""
        return self.decision.default_seconds / self.decision.seconds if self.decision else 1.0

    @property
    def formats(self) -> dict[str, str]:
        """The formats of the sparse operands for which the computation is fastest."""
        return dict(self.best_of_all.candidate.formats)

    @property
    def conversion_seconds(self) -> float:
        """The time to convert the operands to these formats."""
        return self.best_of_all.conversion_seconds

    @property
    def pays_after(self) -> float:
        """The number of calls after which the conversion pays; 0 if none is needed."""
        if self.recommended is None:
            return 0.0
        return self.conversion_seconds / (self.recommended.own_seconds - self.recommended.seconds)

    @property
    def operands(self) -> tuple[Operand, ...]:
        """The operands in these formats."""
        return self.problem.converted(self.formats).operands

    def plot(self, path: str | Path | None = None) -> Picture:
        """A picture of measured against predicted times. With `path` it is written to that file,
        whose name ends in .svg or .png. Needs matplotlib."""
        measured = [m for m in self.measured if not m.refused and math.isfinite(m.seconds)]
        outcome = f"{self.speedup:.2f}x the planned schedule" if self.decision else "no decision"
        return search_plot.plot(
            [self._point(one) for one in measured],
            self._point(self.default),
            self.problem.program.text,
            outcome,
            path,
        )

    def _point(self, one: Measured) -> search_plot.Point:
        candidate = one.candidate
        return search_plot.Point(
            candidate.predicted,
            one.seconds,
            ", ".join(format for _, format in candidate.formats),
            is_best=one is self.best or one is self.best_of_all,
        )

    def __str__(self) -> str:
        refused = sum(bool(one.refused) for one in self.measured)
        lines = [
            f"{self.problem.program.text}: {len(self.measured) - refused} of {self.space_size} "
            f"candidates measured{f', {refused} refused' if refused else ''}, "
            f"with {' of '.join(map(str, self.formats_tried))} choices of formats, "
            f"in {self.seconds:.1f} s{', interrupted' if self.is_interrupted else ''}",
            table(self.measured, self.default),
            self._verdict(),
        ]
        if self.recommended:
            own = self.default.candidate.formats
            chosen = ", ".join(
                f"{name} as {format}"
                for (name, format), before in zip(self.formats.items(), own, strict=True)
                if (name, format) != before
            )
            lines.append(
                f"with {chosen}: {milliseconds(self.recommended.seconds)}, "
                f"{milliseconds(self.recommended.own_seconds)} as stored; the conversion takes "
                f"{milliseconds(self.conversion_seconds)} and pays after "
                f"{self.pays_after:.0f} calls"
            )
        return "\n".join([*lines, *self.notes])

    __repr__ = __str__

    def _verdict(self) -> str:
        if self.decision is None:
            reason = TOO_BUSY if self.disturbed > BUSY else UNSTEADY
            reason = INTERRUPTED if self.is_interrupted else reason
            return f"planned by rule {milliseconds(self.default.seconds)}; {reason}"
        default, best = self.decision.default_seconds, self.decision.seconds
        stays = ": the planned schedule stays" if self.best.is_default else ""
        return (
            f"planned by rule {milliseconds(default)}, best {milliseconds(best)} "
            f"({self.speedup:.2f}x){stays}"
        )
