"""A progress bar on a terminal."""

from __future__ import annotations

import sys

WIDTH = 30


def bar(share: float, text: str) -> None:
    """Draws it on stderr; without a text it goes."""
    if not text:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
        return
    filled = round(WIDTH * min(1.0, share))
    drawn = "#" * filled + "." * (WIDTH - filled)
    print(f"\r\x1b[K[{drawn}] {text}", end="", file=sys.stderr, flush=True)
