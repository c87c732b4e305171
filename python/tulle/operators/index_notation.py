"""Index notation for operators that run one statement."""

from __future__ import annotations

from collections.abc import Sequence

from tulle.programs.execution import execute_one
from tulle.programs.program import Operand, Program, Result

OPERAND_NAMES = ("A", "B")


def access(name: str, indices: Sequence[str]) -> str:
    """ "A[i,j]"; the name alone for rank 0."""
    return f"{name}[{','.join(indices)}]" if indices else name


def index_names(count: int) -> list[str]:
    """Names for that many indices: i, j, k, ..."""
    letters = "ijklmnopqrst"
    return [letters[n] if n < len(letters) else f"i{n}" for n in range(count)]


def run(text: str, *operands: Operand) -> Result:
    """The result of a statement over operands with the names A and B."""
    return execute_one(Program(text), OPERAND_NAMES[: len(operands)], operands)
