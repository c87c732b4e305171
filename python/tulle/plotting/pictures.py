"""Pictures as SVG text and PNG bytes, written by hand."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from torch import Tensor

from tulle.support.errors import UserError

COLOURS = ["#30638e", "#d1495b", "#edae49", "#00798c", "#8a5a83", "#5b8c5a", "#7a6c5d"]


def check_file_name(path: str | Path) -> None:
    """Raises UserError unless the name ends in .svg or .png."""
    if Path(path).suffix.lower() not in (".svg", ".png"):
        raise UserError(
            f"plot: the name of the file should end in .svg or .png: '{path}' does not."
        )


class Picture:
    """Shows itself in a notebook; `save` writes a file whose name ends in .svg or .png."""

    def __init__(self, svg: str, png: bytes | None = None) -> None:
        self.svg = svg
        self.png = png

    def save(self, path: str | Path) -> Picture:
        """Writes it."""
        check_file_name(path)
        if self.png is not None and Path(path).suffix.lower() == ".png":
            Path(path).write_bytes(self.png)
        else:
            Path(path).write_text(self.svg, encoding="utf-8")
        return self

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"tulle.Picture({len(self.svg)} bytes of SVG; save(path) writes it)"


def text(x: float, y: float, content: str, style: str = "") -> str:
    """An element of SVG."""
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(content)}</text>'


def svg(width: float, height: float, parts: Sequence[str]) -> str:
    """A whole picture on white."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
            f'width="{width:.0f}" height="{height:.0f}" font-family="sans-serif" font-size="12">',
            '<rect width="100%" height="100%" fill="white"/>',
            *parts,
            "</svg>\n",
        ]
    )


def png(pixels: Tensor) -> bytes:
    """Of [height, width, 3] bytes of red, green and blue."""
    height, width, _ = pixels.shape

    def chunk(name: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(name + data))
        return struct.pack(">I", len(data)) + name + data + check

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = b"".join(b"\0" + row.tobytes() for row in pixels.cpu().contiguous().numpy())
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def image(x: float, y: float, width: float, height: float, data: bytes) -> str:
    """A PNG as an element of SVG, its pixels left sharp."""
    encoded = base64.b64encode(data).decode()
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    sharp = 'preserveAspectRatio="none" style="image-rendering: pixelated"'
    return f'<image {place} {sharp} href="data:image/png;base64,{encoded}"/>'


def rgb(colour: str) -> tuple[int, int, int]:
    """Of "#30638e"."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
