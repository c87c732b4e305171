"""Formats: text, ranks, equality, transposition."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import tulle


def test_text_parses_back() -> None:
    for text in ("csr", "coo", "bsr(2,3)", "(a,b) -> (b: compressed, a: dense)"):
        format = tulle.Format(text, 2)
        assert tulle.Format(str(format), 2) == format


def test_long_form_of_a_named_format_has_its_name() -> None:
    format = tulle.Format("(i,j) -> (i: dense, j: compressed)")
    assert str(format) == "csr"
    assert format == "csr"
    assert format.rank == 2
    assert repr(format) == "tulle.Format('csr', rank=2)"


def test_equality_is_of_storage() -> None:
    assert tulle.Format("(x,y) -> (x: compressed, y: dense)") == tulle.Format(
        "(i,j) -> (i: compressed,  j:  dense)"
    )
    assert tulle.Format("csr") != tulle.Format("csc")
    assert tulle.Format("csr") == tulle.Format("csr", 2)
    assert tulle.Format("bsr(2,2)") != tulle.Format("bsr(2,3)")
    assert tulle.Format("(i,j) -> (i: compressed, j: dense)") != tulle.Format(
        "(i,j) -> (j: compressed, i: dense)"
    )


def test_permuted_reads_the_same_levels() -> None:
    assert tulle.Format("csr", 2).permuted((1, 0)) == "csc"
    permuted = tulle.Format("csf", 3).permuted((2, 0, 1))
    assert [level.dimension for level in permuted.levels] == [1, 2, 0]


def test_named_matrix_formats_have_dense_batches() -> None:
    format = tulle.Format("csr", 3)
    assert [level.full for level in format.levels] == [True, True, False]


def test_pickles() -> None:
    format = tulle.Format("bsr(2,3)", 2)
    assert pickle.loads(pickle.dumps(format)) == format


@pytest.mark.parametrize(
    ("text", "rank", "message"),
    [
        ("crs", None, "there is no format 'crs'"),
        ("csr", 1, "is for matrices"),
        ("bsr", None, "takes the rows and columns of a block"),
        ("(i,j) -> (i: dense)", None, "j"),
        ("(i,j) -> (i: dense, j: compact)", None, "there is no level kind 'compact'"),
        ("csr ->", None, "does not read"),
    ],
)
def test_wrong_formats_are_refused(text: str, rank: int | None, message: str) -> None:
    with pytest.raises(tulle.UserError, match=message):
        tulle.Format(text, rank)


def test_a_name_without_a_rank_has_no_levels() -> None:
    with pytest.raises(tulle.UserError, match="say which"):
        _ = tulle.Format("csr").levels


@pytest.mark.parametrize("rank", [-1, "2", 2.0])
def test_ranks_are_whole_numbers(rank: Any) -> None:
    with pytest.raises(tulle.UserError, match="expected a rank from 0 on"):
        tulle.Format("csr", rank=rank)


@pytest.mark.parametrize("text", [None, 3, (2, 3)])
def test_formats_are_text(text: Any) -> None:
    with pytest.raises(tulle.UserError, match="expected text such as 'csr'"):
        tulle.Format(text)
