"""The picture of a search: measured against predicted times."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tulle.plotting.drawings import Dot, Line, Words, picture
from tulle.plotting.pictures import COLOURS, Picture

_WIDTH, _HEIGHT, _LEFT, _RIGHT = 560.0, 300.0, 70.0, 24.0
_LETTER = 6.8  # how wide one is, about
_STEP = 20.0  # from a line of text to the next
_GREY, _FAINT = "#555555", "#eeeeee"


@dataclass(frozen=True)
class Point:
    """A candidate that was measured."""

    predicted: float | None  # seconds; None: there is no estimate
    measured: float  # seconds
    formats: str
    schedule: str
    is_best: bool


def plot(
    points: Sequence[Point],
    default: Point,
    expression: str,
    outcome: str,
    path: str | Path | None = None,
) -> Picture:
    """A dot for each candidate, whose colour shows its formats. `default` is the planned
    schedule."""
    # Candidates without an estimate have no place unless there are no others.
    shown = [one for one in points if one.predicted] or list(points)
    formats = list(dict.fromkeys(one.formats for one in [default, *shown]))
    legend, top = _legend(formats)
    guess = max((one.predicted or 0 for one in shown), default=0) or 1e-3
    across = _Axis([one.predicted or guess for one in shown], _LEFT, _LEFT + _WIDTH)
    up = _Axis([one.measured for one in shown], top + _HEIGHT, top)
    dots = [
        Dot(
            across(one.predicted or guess),
            up(one.measured),
            _colour(formats.index(one.formats)),
            one.is_best,
            one.schedule or "none",
        )
        for one in shown
    ]
    level = up(default.measured)
    planned = Line(_LEFT, level, _LEFT + _WIDTH, level, _GREY, is_dashed=True)
    title = _title(expression, f"{len(shown)} measured, {outcome}")
    parts = [title, *legend, *_axes(across, up, top), planned, *dots]
    drawn = picture(_LEFT + _WIDTH + _RIGHT, top + _HEIGHT + 52, parts)
    return drawn if path is None else drawn.save(path)


class _Axis:
    """Seconds to places, logarithmic."""

    def __init__(self, values: Sequence[float], low: float, high: float) -> None:
        self._first = math.log(min(values) / 1.1)
        self._span = math.log(max(values) * 1.1) - self._first
        self._low, self._high = low, high

    def __call__(self, value: float) -> float:
        share = (math.log(value) - self._first) / self._span
        return self._low + share * (self._high - self._low)

    def ticks(self) -> list[float]:
        first, last = math.exp(self._first), math.exp(self._first + self._span)
        steps = [b * 10.0**e for e in range(-9, 4) for b in (1, 2, 5)]
        found = [step for step in steps if first <= step <= last]
        return found or [first, last]


def _axes(across: _Axis, up: _Axis, top: float) -> list[Words | Line]:
    """Lines behind the dots, and what they stand for."""
    parts: list[Words | Line] = []
    bottom, right = top + _HEIGHT, _LEFT + _WIDTH
    for tick in across.ticks():
        parts.append(Line(across(tick), top, across(tick), bottom, _FAINT))
        parts.append(Words(across(tick), bottom + 16, f"{1e3 * tick:.3g}", "middle", _GREY))
    for tick in up.ticks():
        parts.append(Line(_LEFT, up(tick), right, up(tick), _FAINT))
        parts.append(Words(_LEFT - 6, up(tick) + 4, f"{1e3 * tick:.3g}", "end", _GREY))
    parts.append(Words(_LEFT + _WIDTH / 2, bottom + 36, "predicted, ms", "middle", _GREY))
    middle = top + _HEIGHT / 2
    return [*parts, Words(16, middle, "measured, ms", "middle", _GREY, is_turned=True)]


def _title(expression: str, outcome: str) -> Words:
    lines = [line.strip() for line in expression.splitlines()]
    room = int((_WIDTH + _RIGHT) / _LETTER) - len(outcome) - 2
    text = f"{_shortened('; '.join(filter(None, lines)), room)}: {outcome}"
    return Words(_LEFT, 18, text, is_bold=True)


def _legend(formats: Sequence[str]) -> tuple[list[Words | Dot], float]:
    """The colours of formats, in as many lines as they need; where what is under it begins."""
    parts: list[Words | Dot] = []
    x, y = _LEFT, 40.0
    for number, choice in enumerate(formats):
        name = _shortened(choice or "dense", 80)
        width = 12 + _LETTER * len(name)
        if x > _LEFT and x + width > _LEFT + _WIDTH + _RIGHT:
            x, y = _LEFT, y + _STEP
        parts += [Dot(x + 4, y - 4, _colour(number)), Words(x + 12, y, name)]
        x += width + 18
    note = "dashed: planned by rule; ringed: best"
    return [*parts, Words(_LEFT, y + _STEP, note, colour=_GREY)], y + _STEP + 10


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."
