"""Sparse tensors in files: Matrix Market, SciPy, FROSTT, torch.save."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse
import torch
from helpers import assert_equal, random_sparse

import tulle

FORMATS = ["csr", "csc", "coo", "bsr(2,3)", "dia", "ell(7)", "hyb(2,2)"]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", ["a.mtx", "a.npz", "a.tns", "a.tns.gz", "a.pt"])
def test_written_tensors_are_read_back(name: str, format: str, tmp_path: Path) -> None:
    data = random_sparse(5, 7)
    data[4, 6] = 1 / 3
    tulle.save(tulle.tensor(data, format=format).requires_grad_(), tmp_path / name)
    found = tulle.load(tmp_path / name)
    assert_equal(found.detach(), data)
    assert_equal(tulle.load(str(tmp_path / name), "csc", dtype=torch.float32), data.float())
    if name == "a.pt":
        assert found.format == format


def test_files_of_others(tmp_path: Path) -> None:
    data = random_sparse(5, 7)
    scipy.io.mmwrite(tmp_path / "a.mtx", scipy.sparse.coo_array(data.numpy()))
    assert tulle.load(tmp_path / "a.mtx").format == "csr"
    packed = gzip.compress((tmp_path / "a.mtx").read_bytes())
    (tmp_path / "b.mtx.gz").write_bytes(packed)
    for kind in ("csr", "csc", "coo", "dia", "bsr"):
        scipy.sparse.save_npz(
            tmp_path / f"{kind}.npz", scipy.sparse.coo_array(data.numpy()).asformat(kind)
        )
        assert str(tulle.load(tmp_path / f"{kind}.npz").format).startswith(kind)
    for path in tmp_path.iterdir():
        assert_equal(tulle.load(path), data)


def test_tensors_of_frostt(tmp_path: Path) -> None:
    path = tmp_path / "a.tns"
    path.write_text("# a comment\n1 1 2 1.5\n3 2 1 -2\n\n1 1 2 0.5\n")
    expected = torch.zeros(3, 2, 2, dtype=torch.float64)
    expected[0, 0, 1], expected[2, 1, 0] = 2, -2
    found = tulle.load(path)
    assert found.format == "coo" and found.nnz == 2
    assert_equal(found, expected)
    assert tulle.load(path, "csf", shape=(4, 5, 6)).shape == (4, 5, 6)
    data = random_sparse(3, 4, 5).to(torch.int64)
    tulle.save(tulle.tensor(data), path)
    assert_equal(tulle.load(path, dtype=torch.int64, shape=data.shape), data)
    path.write_text("")
    assert tulle.load(path, shape=(2, 3)).nnz == 0


def test_what_is_no_file_of_a_tensor(tmp_path: Path) -> None:
    tensor = tulle.tensor(random_sparse(3, 4))
    (tmp_path / "damaged.mtx").write_text("no matrix")
    (tmp_path / "zero.tns").write_text("0 1 2.5\n")
    (tmp_path / "half.tns").write_text("1.5 1 2.5\n")
    (tmp_path / "ragged.tns").write_text("1 1 2.5\n1 2\n")
    (tmp_path / "empty.tns").write_text("")
    (tmp_path / "large.tns").write_text("9 1 2.5\n")
    (tmp_path / "known.npz").write_text("")
    for name, options, message in [
        ("a.csv", {}, r"should end in \.mtx"),
        ("missing.mtx", {}, "there is no file"),
        ("damaged.mtx", {}, "could not be read as a file of Matrix Market"),
        ("zero.tns", {}, "integers from 1 on"),
        ("half.tns", {}, "integers from 1 on"),
        ("ragged.tns", {}, "could not be read as a file of FROSTT"),
        ("empty.tns", {}, "give its shape="),
        ("large.tns", {"shape": (3, 3)}, "outside of the shape"),
        ("large.tns", {"shape": (3,)}, "have rank 2"),
        ("known.npz", {"shape": (3, 3)}, "omit shape="),
    ]:
        with pytest.raises(tulle.UserError, match=message):
            tulle.load(tmp_path / name, **options)
    with pytest.raises(tulle.UserError, match=r"should end in \.mtx"):
        tulle.save(tensor, tmp_path / "a.csv")
    with pytest.raises(tulle.UserError, match="compress it with gzip"):
        tulle.save(tensor, tmp_path / "a.mtx.gz")
    with pytest.raises(tulle.UserError, match=r"A\.float\(\)"):
        tulle.save(tensor.half(), tmp_path / "a.tns")
    with pytest.raises(tulle.UserError, match="expected a sparse tensor"):
        tulle.save(torch.ones(2), tmp_path / "a.pt")  # type: ignore[arg-type]
    with pytest.raises(tulle.UserError, match="has rank 3"):
        tulle.save(tulle.tensor(random_sparse(2, 3, 4)), tmp_path / "a.npz")


def test_reading_runs_no_code(tmp_path: Path) -> None:
    torch.save({"A": np.dtype}, tmp_path / "a.pt")
    with pytest.raises(tulle.UserError, match="could not be read"):
        tulle.load(tmp_path / "a.pt")
