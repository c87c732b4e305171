"""Draws what a search found: measured against predicted times."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

import torch
from torch import Tensor

from tulle.pictures import COLOURS, Picture, line, png, rgb, svg, text

if TYPE_CHECKING:
    from tulle.tuning_race import Measured
    from tulle.tuning_result import Tuned

_WIDTH, _HEIGHT, _LEFT, _TOP = 560.0, 300.0, 70.0, 64.0


def plot_search(found: Tuned, path: str | Path | None = None) -> Picture:
    """What was measured against what was predicted: a dot for each candidate, its colour that of
    the formats."""
    shown = [m for m in found.measured if not m.refused and math.isfinite(m.seconds)]
    formats = list(dict.fromkeys(m.candidate.formats for m in [found.default, *shown]))
    guess = max((m.candidate.predicted or 0 for m in shown), default=0) or 1e-3
    across = _Axis([m.candidate.predicted or guess for m in shown], _LEFT, _LEFT + _WIDTH)
    up = _Axis([m.seconds for m in shown], _TOP + _HEIGHT, _TOP)
    dots = [
        _Dot(
            across(one.candidate.predicted or guess),
            up(one.seconds),
            COLOURS[formats.index(one.candidate.formats) % len(COLOURS)],
            one is found.best or one is found.best_of_all,
            one,
        )
        for one in shown
    ]
    parts = [*_frame(found, across, up, len(shown)), *map(_circle, dots), *_legend(formats)]
    size = _LEFT + _WIDTH + 24, _TOP + _HEIGHT + 52
    pixels = _pixels(dots, across, up, up(found.default.seconds), size)
    picture = Picture(svg(*size, parts), png(pixels))
    return picture if path is None else picture.save(path)


@dataclass(frozen=True)
class _Dot:
    """A candidate."""

    x: float
    y: float
    colour: str
    is_marked: bool
    measured: Measured


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


def _frame(found: Tuned, across: _Axis, up: _Axis, count: int) -> list[str]:
    """Titles, and lines behind the dots."""
    title = (
        f"{found.problem.program.text}: {count} measured, {found.speedup:.2f}x the planned schedule"
    )
    parts = [text(_LEFT, 18, title, 'font-weight="bold"')]
    for tick in across.ticks():
        parts.append(line(across(tick), _TOP, across(tick), _TOP + _HEIGHT, 'stroke="#eee"'))
        style = 'text-anchor="middle" fill="#555"'
        parts.append(text(across(tick), _TOP + _HEIGHT + 16, f"{1e3 * tick:.3g}", style))
    for tick in up.ticks():
        parts.append(line(_LEFT, up(tick), _LEFT + _WIDTH, up(tick), 'stroke="#eee"'))
        style = 'text-anchor="end" fill="#555"'
        parts.append(text(_LEFT - 6, up(tick) + 4, f"{1e3 * tick:.3g}", style))
    middle = 'text-anchor="middle" fill="#555"'
    parts.append(text(_LEFT + _WIDTH / 2, _TOP + _HEIGHT + 36, "predicted, ms", middle))
    turned = f'{middle} transform="rotate(-90 16 {_TOP + _HEIGHT / 2:.1f})"'
    parts.append(text(16, _TOP + _HEIGHT / 2, "measured, ms", turned))
    level = up(found.default.seconds)
    dashes = 'stroke="#555" stroke-dasharray="4 3"'
    return [*parts, line(_LEFT, level, _LEFT + _WIDTH, level, dashes)]


def _circle(dot: _Dot) -> str:
    ring = 'stroke="black" stroke-width="1.5"' if dot.is_marked else ""
    label = f"<title>{escape(dot.measured.candidate.schedule or 'none')}</title>"
    return (
        f'<circle cx="{dot.x:.1f}" cy="{dot.y:.1f}" r="{5 if dot.is_marked else 4}" '
        f'fill="{dot.colour}" fill-opacity="0.8" {ring}>{label}</circle>'
    )


def _legend(formats: Sequence[tuple[tuple[str, str], ...]]) -> list[str]:
    parts = []
    x = _LEFT
    for number, choice in enumerate(formats):
        name = ", ".join(format for _, format in choice) or "dense"
        colour = COLOURS[number % len(COLOURS)]
        parts.append(f'<circle cx="{x + 4:.1f}" cy="36" r="4" fill="{colour}"/>')
        parts.append(text(x + 12, 40, name))
        x += 30 + 6.8 * len(name)
    return [*parts, text(_LEFT, 56, "dashed: planned by rule; ringed: best", 'fill="#555"')]


def _pixels(
    dots: Sequence[_Dot], across: _Axis, up: _Axis, level: float, size: tuple[float, float]
) -> Tensor:
    """[height, width, 3]: the same lines and dots, without the text."""
    width, height = (2 * round(extent) for extent in size)
    pixels = torch.full((height, width, 3), 255, dtype=torch.uint8)
    top, bottom = round(2 * _TOP), round(2 * (_TOP + _HEIGHT))
    left, right = round(2 * _LEFT), round(2 * (_LEFT + _WIDTH))
    for tick in across.ticks():
        pixels[top:bottom, round(2 * across(tick))] = 238
    for tick in up.ticks():
        pixels[round(2 * up(tick)), left:right] = 238
    for start in range(left, right, 14):
        pixels[round(2 * level), start : min(right, start + 8)] = 85
    y, x = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    for dot in dots:
        distance = ((x - 2 * dot.x) ** 2 + (y - 2 * dot.y) ** 2).sqrt()
        if dot.is_marked:
            pixels[distance <= 11.5] = 0
        pixels[distance <= (8.5 if dot.is_marked else 8)] = torch.tensor(
            rgb(dot.colour), dtype=torch.uint8
        )
    return pixels
