"""Draws where the entries of a matrix lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor

from tulle.plotting.lettering import HEIGHT, lettering
from tulle.plotting.pictures import COLOURS, Picture, image, png, rgb, svg, text
from tulle.support.errors import UserError

FAINTEST = 0.6  # how strong a colour a single entry in a large cell gets
FRAME = "#555555"
MARGIN, LETTERS = 8, 2  # around what is drawn, and the size of letters, in pixels


def plot(
    parts: Mapping[str, Tensor],
    shape: tuple[int, int],
    nnz: int,
    path: str | Path | None = None,
    size: int = 480,
) -> Picture:
    """The entries of a matrix, whose coordinates are given for each part by its label; the more of
    them in a pixel, the stronger its colour."""
    if not isinstance(size, int) or size < 1:
        raise UserError(f"plot: size should be a number of pixels above 0, but found {size!r}.")
    height, width = (max(1, min(size, extent)) for extent in shape)
    pixels = _pixels(list(parts.values()), shape, height, width)
    names = list(parts)
    title = f"{shape[0]} x {shape[1]}, {nnz} entries"
    scale = size / max(height, width)
    drawn = _framed(title, shape, names, png(pixels), width * scale, height * scale)
    picture = Picture(drawn, png(_lettered(title, names, pixels, max(1, int(scale)))))
    return picture if path is None else picture.save(path)


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


def _lettered(title: str, names: Sequence[str], pixels: Tensor, scale: int) -> Tensor:
    """The pixels, each so many wide and high, in a frame under the title and a line a part."""
    drawn = pixels.repeat_interleave(scale, 0).repeat_interleave(scale, 1)
    height, width, _ = drawn.shape
    lines = [lettering(line, LETTERS) for line in (title, *names)]
    step = LETTERS * HEIGHT + 4
    top = MARGIN + step * len(lines) + 1
    indent = step + MARGIN
    widest = max([width + 2, lines[0].shape[1], *(indent + line.shape[1] for line in lines[1:])])
    canvas = torch.full((top + height + 1 + MARGIN, widest + 2 * MARGIN, 3), 255, dtype=torch.uint8)

    def fill(y: int, x: int, height: int, width: int, colour: str) -> None:
        canvas[y : y + height, x : x + width] = torch.tensor(rgb(colour), dtype=torch.uint8)

    for number, line in enumerate(lines):
        y, x = MARGIN + step * number, MARGIN + (indent if number else 0)
        canvas[y : y + line.shape[0], x : x + line.shape[1]][line] = 0
        if number:
            fill(y, MARGIN, 7 * LETTERS, 7 * LETTERS, COLOURS[(number - 1) % len(COLOURS)])
    fill(top - 1, MARGIN, height + 2, width + 2, FRAME)
    canvas[top : top + height, MARGIN + 1 : MARGIN + 1 + width] = drawn
    return canvas


def _framed(
    title: str,
    shape: tuple[int, int],
    names: Sequence[str],
    data: bytes,
    width: float,
    height: float,
) -> str:
    rows, columns = shape
    left, top = 56.0, 26.0 + 18 * len(names)
    parts = [
        text(left, 18, title, 'font-weight="bold"'),
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
