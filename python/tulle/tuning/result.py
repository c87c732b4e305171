"""What a search found, and how it prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tulle.plotting.pictures import Picture
from tulle.programs.execution import Operand
from tulle.tuning.race import Measured
from tulle.tuning.space import Problem

BUSY = 0.2  # of the samples disturbed: worth a note
NOTE = (
    "other work on the machine disturbed {:.0f}% of the samples: search again when it is quiet, or "
    "for more seconds"
)
INTERRUPTED = "nothing was decided before the interrupt: what was in use stays"
TOO_BUSY = "nothing could be decided, the machine was too busy: what was in use stays"
UNSTEADY = "nothing could be decided, times varied too much: what was in use stays"


@dataclass(frozen=True)
class Decision:
    """Which schedule is to be used for operands in some formats. All of it was measured side by
    side: the schedule won the race, or it is the planned one."""

    best: Measured
    seconds: float  # medians of that race
    default_seconds: float

    @property
    def formats(self) -> tuple[tuple[str, str], ...]:
        """Those of the sparse operands."""
        return self.best.candidate.formats


@dataclass(frozen=True)
class Recommendation:
    """Formats that are faster than the operands' own, each with its best schedule, side by side."""

    best: Measured
    seconds: float
    own_seconds: float  # of the operands as they are stored


@dataclass
class Tuned:
    """What a search found. It prints as a table."""

    problem: Problem
    default: Measured
    measured: list[Measured]
    decisions: list[Decision]  # what is kept; that for the operands' own formats first, if made
    recommended: Recommendation | None  # None: the operands' own formats are as good as any
    space_size: int
    formats_tried: tuple[int, int]  # so many of so many choices
    seconds: float  # that it took
    is_interrupted: bool = False

    @property
    def disturbed(self) -> float:
        """The share of the samples that other work on the machine got in the way of."""
        count = sum(len(one.samples) for one in self.measured)
        return sum(one.disturbed for one in self.measured) / max(1, count)

    @property
    def notes(self) -> list[str]:
        """What else should be known of the search."""
        return [NOTE.format(100 * self.disturbed)] if self.disturbed > BUSY else []

    @property
    def decision(self) -> Decision | None:
        """That for the operands' own formats; None where the search ended before it was made, or
        where the machine was too busy to say."""
        own = self.default.candidate.formats
        return next((one for one in self.decisions if one.formats == own), None)

    @property
    def best(self) -> Measured:
        """Of the operands' own formats: what is used from now on, if anything was decided."""
        return self.decision.best if self.decision else self.default

    @property
    def best_of_all(self) -> Measured:
        """Of any formats."""
        return self.recommended.best if self.recommended else self.best

    @property
    def schedule(self) -> str:
        """The best schedule; it can be given to `Kernel.schedule`."""
        return self.best.candidate.schedule

    @property
    def speedup(self) -> float:
        """The time of what is planned by rule over that of the best schedule, side by side."""
        return self.decision.default_seconds / self.decision.seconds if self.decision else 1.0

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
        if self.recommended is None:
            return 0.0
        return self.conversion_seconds / (self.recommended.own_seconds - self.recommended.seconds)

    @property
    def operands(self) -> tuple[Operand, ...]:
        """The operands in these formats."""
        return self.problem.converted(self.formats).operands

    def plot(self, path: str | Path | None = None) -> Picture:
        """What was measured against what was predicted: written to `path` if given, whose name ends
        in .svg or .png."""
        from tulle.plotting import search_plots

        return search_plots.plot_search(self, path)

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
                f"{milliseconds(self.conversion_seconds)} and has paid after "
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
        stays = ": the planned one stays" if self.best.is_default else ""
        return (
            f"planned by rule {milliseconds(default)}, best {milliseconds(best)} "
            f"({self.speedup:.2f}x){stays}"
        )


def milliseconds(seconds: float) -> str:
    """As people read it."""
    return f"{1e3 * seconds:.3g} ms"


def table(measured: Sequence[Measured], default: Measured, most: int = 12) -> str:
    """The best of those measured, and the default, a line for each."""
    shown = list(measured[:most])
    shown += [m for m in measured[most:] if m is default]
    own = default.candidate.formats
    lines = [" measured   predicted  schedule"]
    for one in shown:
        predicted = one.candidate.predicted
        time_text = "refused" if one.refused else milliseconds(one.seconds)
        time_text += "" if one.clean or one.refused else "*"
        chosen = "".join(f"{n}:{f}  " for n, f in one.candidate.formats if (n, f) not in own)
        mark = " (planned by rule)" if one.is_default else ""
        lines.append(
            f"{time_text:>9}  {'' if predicted is None else milliseconds(predicted):>9}  "
            f"{chosen}{_shortened(one.candidate.schedule)}{mark}"
        )
        if one.refused:
            lines.append(f"{'':22}{one.refused}")
    left = len(measured) - len(shown)
    if left:
        lines.append(f"           and {left} more")
    if any(not one.clean and not one.refused for one in shown):
        lines.append("           * while other work was in the way")
    return "\n".join(lines)


def _shortened(schedule: str) -> str:
    """Without what would fill several lines: the schedules of many statements."""
    if len(schedule) < 300:
        return schedule or "none"
    return f"{schedule[:260]}... and {schedule.count(';') - schedule[:260].count(';')} steps more"
