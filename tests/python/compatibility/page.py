"""The page docs/compatibility.md: the table as Markdown."""

from __future__ import annotations

from itertools import groupby
from textwrap import fill

import torch

from compatibility.cells import Cell, Outcome, Row, cell
from compatibility.first_tries import ROWS
from compatibility.functions import GROUPS, LEFT_OUT
from compatibility.operands import FORMATS, TORCH_LAYOUTS

_SIGNS = {
    Outcome.RIGHT: "yes",
    Outcome.NO_GRADIENT: "no gradient",
    Outcome.WRONG: "other result",
    Outcome.WRONG_GRADIENT: "other gradient",
    Outcome.REFUSED: "error",
    Outcome.CRASH: "crash",
}

_WIDTH = 120

_INTRODUCTION = """\
# Compatibility with torch.sparse

The tables show which of torch's functions work on which layouts, in torch {version} on a CPU and in
Tulle. A test runs every function on small float64 matrices. It compares results and gradients with
those of dense tensors.

This page is generated: `PYTHONPATH=tests/python .venv/bin/python -m compatibility`. A test fails if
it is out of date.

A cell has the answers "torch / Tulle", or one word for both:

- yes: the result is right, and so are the gradients of all operands, if the function has one.
- no gradient: the result is right. The backward pass raises an error, or an operand has no gradient
  after it.
- other result, other gradient: it differs from that of dense tensors.
- error: the function raises an error.
- crash: the process ends.

The columns on the right are formats that torch does not have. `bsr` and `bsc` have blocks of 2 x 3.
`A` is a sparse matrix, and `B` is one with other entries.
"""

_TRIES = """\
## What users of tensors try first

In Tulle each of these expressions gives the result and the gradients that dense tensors give, or
raises an error.
"""


def compose() -> str:
    """The text of the page."""
    parts = [_INTRODUCTION.format(version=version())]
    for title, rows in GROUPS.items():
        parts.append(f"## {title}\n")
        parts.append(_table(rows))
    parts.append(_TRIES)
    parts.append(_table(ROWS))
    parts.append(
        "## Left out\n\nThese functions of torch for sparse tensors have no counterpart:\n"
    )
    items = [f"- {_names(names)}: {reason}" for names, reason in LEFT_OUT.items()]
    parts.append("".join(fill(one, _WIDTH, subsequent_indent="  ") + "\n" for one in items))
    return "\n".join(parts)


def version() -> str:
    """The version of torch whose answers the page shows, without that of CUDA."""
    return torch.__version__.partition("+")[0]


def _names(names: str) -> str:
    return ", ".join(f"`{name}`" for name in names.split())


def _table(rows: list[Row]) -> str:
    columns = [*TORCH_LAYOUTS, *(f"`{format}`" for format in FORMATS)]
    lines = [f"| function | {' | '.join(columns)} |", f"|---{'|---' * len(columns)}|"]
    # Neighbours with the same answers share a line.
    for answers, group in groupby(rows, _answers):
        names = [f"`{one.name}`" + _note(one, rows) for one in group]
        lines.append(f"| {', '.join(names)} | {' | '.join(answers)} |")
    notes = [one.differs for one in rows if one.differs]
    remarks = "".join(f"\n[{number}] {note}\n" for number, note in enumerate(notes, 1))
    return "\n".join(lines) + "\n" + remarks


def _note(row: Row, rows: list[Row]) -> str:
    if not row.differs:
        return ""
    return f" [{[one for one in rows if one.differs].index(row) + 1}]"


def _answers(row: Row) -> tuple[str, ...]:
    with_torch = [_both(cell(row, layout)) for layout in TORCH_LAYOUTS]
    return (*with_torch, *(_SIGNS[cell(row, format).tulle] for format in FORMATS))


def _both(one: Cell) -> str:
    ours, theirs = _SIGNS[one.tulle], _SIGNS[one.torch]
    return ours if ours == theirs else f"{theirs} / {ours}"
