"""Index notation for operators that run one statement."""

from __future__ import annotations

from collections.abc import Sequence

OPERAND_NAMES = ("A", "B")


def access(name: str, indices: Sequence[str]) -> str:
    """ "A[i,j]"; the name alone for rank 0."""
    return f"{name}[{','.join(indices)}]" if indices else name


def index_names(count: int) -> list[str]:
    """Names for that many indices: i, j, k, ..."""
    letters = "ijklmnopqrst"
    return [letters[n] if n < len(letters) else f"i{n}" for n in range(count)]
