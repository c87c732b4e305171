"""The tables and lines in which a search reports times."""

from __future__ import annotations

from collections.abc import Sequence

from tulle.tuning.race import Measured

_LONGEST_SCHEDULE = 300  # characters; a longer one is cut


def milliseconds(seconds: float) -> str:
    """ "1.23 ms"."""
    return f"{1e3 * seconds:.3g} ms"


def table(measured: Sequence[Measured], default: Measured, most: int = 12) -> str:
    """A line for each of the best candidates and for the default."""
    shown = list(measured[:most])
    shown += [m for m in measured[most:] if m is default]
    lines = [" measured   predicted  schedule"]
    for one in shown:
        lines.append(_line(one, default))
        if one.refused:
            lines.append(f"{'':22}{one.refused}")
    left = len(measured) - len(shown)
    if left:
        lines.append(f"           and {left} more")
    if any(not one.clean and not one.refused for one in shown):
        lines.append("           * disturbed by other work")
    return "\n".join(lines)


def _line(one: Measured, default: Measured) -> str:
    predicted = one.candidate.predicted
    time_text = "refused" if one.refused else milliseconds(one.seconds)
    time_text += "" if one.clean or one.refused else "*"
    own = default.candidate.formats
    chosen = "".join(f"{n}:{f}  " for n, f in one.candidate.formats if (n, f) not in own)
    mark = " (planned by rule)" if one.is_default else ""
    return (
        f"{time_text:>9}  {'' if predicted is None else milliseconds(predicted):>9}  "
        f"{chosen}{_shortened(one.candidate.schedule)}{mark}"
    )


def _shortened(schedule: str) -> str:
    """The schedule without steps that would fill several lines."""
    if len(schedule) < _LONGEST_SCHEDULE:
        return schedule or "none"
    shown = schedule[: _LONGEST_SCHEDULE - 40]
    return f"{shown}... and {schedule.count(';') - shown.count(';')} more steps"
