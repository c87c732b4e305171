"""Splitting text that contains brackets."""

from __future__ import annotations


def split_outside_brackets(text: str, separators: str) -> list[str]:
    """Splits at each of the separator characters that is outside of (), [] and {}; drops empty
    pieces and the whitespace around the others."""
    pieces, depth = [""], 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if depth == 0 and character in separators:
            pieces.append("")
        else:
            pieces[-1] += character
    return [piece.strip() for piece in pieces if piece.strip()]
