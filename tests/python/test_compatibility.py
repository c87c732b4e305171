"""Torch's functions on sparse tensors of all layouts, in torch and in Tulle."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from compatibility import page
from compatibility.cells import Cell, Outcome, Row, cell
from compatibility.first_tries import ROWS
from compatibility.functions import GROUPS, LEFT_OUT
from compatibility.operands import COLUMNS, TORCH_LAYOUTS

FUNCTIONS = [row for rows in GROUPS.values() for row in rows]
PAGE = Path(__file__).resolve().parents[2] / "docs/compatibility.md"


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """The matrices are too small for several threads."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def _name(row: Row) -> str:
    return row.name


@pytest.mark.parametrize("row", [*FUNCTIONS, *ROWS], ids=_name)
def test_results_and_gradients_are_right(row: Row) -> None:
    for column in COLUMNS:
        found = cell(row, column)
        is_right = found.tulle in (Outcome.RIGHT, Outcome.REFUSED)
        assert is_right or row.differs, f"{column}: {found.tulle.value}: {found.reason}"
        assert not _is_missing(found), f"{column}: {found.reason}"


def _is_missing(found: Cell) -> bool:
    """Whether torch has a function that Tulle does not have."""
    works = (Outcome.RIGHT, Outcome.NO_GRADIENT)
    return found.tulle is Outcome.REFUSED and found.torch in works


def test_tulle_refuses_little() -> None:
    """Of torch's functions only those refuse formats that concern the arrays of one layout."""
    refused = {
        row.name
        for row in FUNCTIONS
        for column in COLUMNS
        if cell(row, column).tulle is Outcome.REFUSED
    }
    names = "indices _indices crow_indices col_indices ccol_indices row_indices"
    assert refused == {*names.split(), "constructor from arrays"}


def test_names_are_distinct() -> None:
    for rows in (*GROUPS.values(), ROWS):
        names = [row.name for row in rows]
        assert len(names) == len(set(names))
    assert len(ROWS) >= 90


def test_the_page_is_up_to_date() -> None:
    text = PAGE.read_text(encoding="utf-8")
    written = re.search(r"in torch (\S+) on a CPU", text)
    assert written
    if written[1] != page.version():
        pytest.skip(f"the page shows torch {written[1]}")
    message = "run PYTHONPATH=tests/python .venv/bin/python -m compatibility"
    assert text == page.compose(), message


# ---- torch's list of operators ---------------------------------------------------------------

# Operators that other functions of the table call, or that make tensors.
_INTERNAL = [
    "allreduce",
    "copy_sparse_to_sparse",
    "empty",
    "native_norm",
    "sparse_sampled_addmm",
    "threshold_backward",
    "zeros",
]


def test_the_table_covers_torchs_operators() -> None:
    """All operators that torch registers for sparse tensors are in the table, or left out with a
    reason."""
    if PAGE.read_text(encoding="utf-8").find(f"torch {page.version()} ") < 0:
        pytest.skip("another version of torch")
    registered: set[str] = set()
    for key in ("SparseCPU", "SparseCsrCPU"):
        for name in torch._C._dispatch_get_registrations_for_dispatch_key(key):
            registered.add(name.partition("::")[2].partition(".")[0])
    public = {name for name in registered if not name.startswith("_")}
    text = " ".join([*(row.name for row in FUNCTIONS), *LEFT_OUT])
    known = set(re.findall(r"\w+", text)) | set(_INTERNAL)
    missing = {name for name in public if name not in known and name.rstrip("_") not in known}
    assert not missing
    assert set(TORCH_LAYOUTS) == {"COO", "CSR", "CSC", "BSR", "BSC"}
