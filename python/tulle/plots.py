"""Draws where the entries of a matrix lie, and what a search found."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from tulle.errors import UserError
from tulle.pictures import COLOURS, Picture, image, line, png, rgb, svg, text
from tulle.sparse_tensor import SparseTensor

if TYPE_CHECKING:
    from tulle.tuning_race import Measured
    from tulle.tuning_result import Tuned

FAINTEST = 0.6  # how strong a colour a single entry in a large cell gets


def plot_pattern(tensor: SparseTensor, path: str | Path | None = None, size: int = 480) -> Picture:
    """The entries of a matrix; the more of them in a pixel, the stronger its colour."""
    if tensor.ndim != 2:
        raise UserError(f"plot: expected a matrix, but found rank {tensor.ndim}.")
    if not isinstance(size, int) or size < 1:
        raise UserError(f"plot: size should be a number of pixels above 0, but found {size!r}.")
    parts = _parts(tensor)
    height, width = (max(1, min(size, extent)) for extent in tensor.shape)
    pixels = _pixels([coordinates for _, coordinates in parts], tuple(tensor.shape), height, width)
    data = png(pixels)
    scale = size / max(height, width)
    picture = Picture(
        _framed(tensor, [name for name, _ in parts], data, width * scale, height * scale), data
    )
    return picture if path is None else picture.save(path)


def _parts(tensor: SparseTensor) -> list[tuple[str, Tensor]]:
    """The coordinates of the parts of a composite tensor, those of all column ranges together; of
    any other tensor all of them."""
    if not tensor.format.is_composite:
        return [(str(tensor.format), tensor.coordinates())]
    found: dict[str, list[Tensor]] = {}
    for part, chosen in zip(tensor.parts(), tensor.format.parts, strict=True):
        name = f"{chosen.selector.partition(' in column range')[0]}: {chosen.format}"
        found.setdefault(name, []).append(part.coordinates())
    return [(name, torch.cat(several, dim=1)) for name, several in found.items()]


def _pixels(parts: Sequence[Tensor], shape: tuple[int, ...], height: int, width: int) -> Tensor:
    """[height, width, 3]: a colour for each part, mixed where they meet."""
    pixels = torch.full((height, width, 3), 255.0)
    left = torch.ones(height, width, 1)  # the share of white
    in_cell = max(1.0, shape[0] / height * shape[1] / width)
    for number, coordinates in enumerate(parts):
        rows = (coordinates[0].cpu() * height).div(max(1, shape[0]), rounding_mode="floor")
        columns = (coordinates[1].cpu() * width).div(max(1, shape[1]), rounding_mode="floor")
        counts = torch.bincount(rows * width + columns, minlength=height * width)
        share = counts.reshape(height, width, 1) / in_cell
        strength = torch.where(share > 0, FAINTEST + (1 - FAINTEST) * share.clamp(max=1).sqrt(), 0)
        colour = torch.tensor(rgb(COLOURS[number % len(COLOURS)]), dtype=torch.float32)
        pixels -= left * strength * (255 - colour)
        left *= 1 - strength
    return pixels.clamp(0, 255).to(torch.uint8)


def _framed(
    tensor: SparseTensor, names: Sequence[str], data: bytes, width: float, height: float
) -> str:
    rows, columns = tensor.shape
    left, top = 56.0, 26.0 + 18 * len(names)
    parts = [
        text(left, 18, f"{rows} x {columns}, {tensor.nnz} entries", 'font-weight="bold"'),
        image(left, top, width, height, data),
        f'<rect x="{left}" y="{top}" width="{width:.1f}" height="{height:.1f}" fill="none" '
        'stroke="#555"/>',
        text(left, top + height + 16, "0", 'fill="#555"'),
        text(left + width, top + height + 16, str(columns), 'text-anchor="end" fill="#555"'),
        text(left - 6, top + 10, "0", 'text-anchor="end" fill="#555"'),
        text(left - 6, top + height, str(rows), 'text-anchor="end" fill="#555"'),
    ]
    for number, name in enumerate(names):
        colour = COLOURS[number % len(COLOURS)]
        y = 25 + 18 * number
        parts.append(f'<rect x="{left}" y="{y}" width="10" height="10" fill="{colour}"/>')
        parts.append(text(left + 14, y + 9, name))
    longest = max(map(len, [*names, " " * 24]))
    return svg(max(left + width, left + 7 * longest) + 24, top + height + 28, parts)


# ---- searches ----------------------------------------------------------------------------------

_WIDTH, _HEIGHT, _LEFT, _TOP = 560.0, 300.0, 70.0, 64.0


def plot_search(found: Tuned, path: str | Path | None = None) -> Picture:
    """What was measured against what was predicted: a dot for each candidate, its colour that of
    the formats."""
    shown = [m for m in found.measured if not m.refused and math.isfinite(m.seconds)]
    formats = list(dict.fromkeys(m.candidate.formats for m in [found.default, *shown]))
    picture = Picture(
        svg(_LEFT + _WIDTH + 24, _TOP + _HEIGHT + 52, _search_parts(found, shown, formats))
    )
    return picture if path is None else picture.save(path)


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


def _search_parts(
    found: Tuned, shown: Sequence[Measured], formats: Sequence[tuple[tuple[str, str], ...]]
) -> list[str]:
    guess = max((m.candidate.predicted or 0 for m in shown), default=0) or 1e-3

    def predicted(one: Measured) -> float:
        return one.candidate.predicted or guess

    across = _Axis([predicted(m) for m in shown], _LEFT, _LEFT + _WIDTH)
    up = _Axis([m.seconds for m in shown], _TOP + _HEIGHT, _TOP)
    parts = [
        text(
            _LEFT,
            18,
            f"{found.problem.program.text}: {len(shown)} measured, "
            f"{found.speedup:.2f}x the planned schedule",
            'font-weight="bold"',
        )
    ]
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
    parts.append(line(_LEFT, level, _LEFT + _WIDTH, level, 'stroke="#555" stroke-dasharray="4 3"'))
    for one in shown:
        colour = COLOURS[formats.index(one.candidate.formats) % len(COLOURS)]
        is_marked = one is found.best or one is found.best_of_all
        ring = 'stroke="black" stroke-width="1.5"' if is_marked else ""
        place = f'cx="{across(predicted(one)):.1f}" cy="{up(one.seconds):.1f}"'
        label = f"<title>{one.candidate.schedule or 'none'}</title>"
        parts.append(
            f'<circle {place} r="{5 if is_marked else 4}" fill="{colour}" fill-opacity="0.8" '
            f"{ring}>{label}</circle>"
        )
    x = _LEFT
    for number, choice in enumerate(formats):
        name = ", ".join(format for _, format in choice) or "dense"
        colour = COLOURS[number % len(COLOURS)]
        parts.append(f'<circle cx="{x + 4:.1f}" cy="36" r="4" fill="{colour}"/>')
        parts.append(text(x + 12, 40, name))
        x += 30 + 6.8 * len(name)
    parts.append(text(_LEFT, 56, "dashed: planned by rule; ringed: best", 'fill="#555"'))
    return parts
