"""Text in brackets, and names that are misspelled."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


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


def nearest(name: object, known: Iterable[str]) -> str:
    """The end of a message about a name that does not exist: "; did you mean 'amax'?" Without a
    similar name, a full stop."""
    near = get_close_matches(str(name), known, n=1, cutoff=0.75)
    return f"; did you mean '{near[0]}'?" if near else "."
