"""Requests that are refused: gradients, devices, dense results that are too large."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from helpers import assert_equal, random_dense, random_sparse

import tulle


def test_errors_are_of_the_usual_kinds() -> None:
    assert issubclass(tulle.UserError, ValueError)
    assert issubclass(tulle.Unsupported, NotImplementedError)
    assert issubclass(tulle.InternalError, RuntimeError)


def test_programs_are_text() -> None:
    a = tulle.tensor(torch.eye(2))
    for function in (tulle.einsum, tulle.explain):
        with pytest.raises(tulle.UserError, match=r"expected text first, 'ij,jk->ik' .* SparseTen"):
            function(a, a)
    for call in (tulle.compute, tulle.kernel):
        with pytest.raises(tulle.UserError, match=r"expected text first, .* found NoneType"):
            call(None)
    for function in (tulle.explain, tulle.compute):
        with pytest.raises(tulle.UserError, match="given by name"):
            function("C[i,k] = A[i,j] * B[j,k]", a, a)
    with pytest.raises(tulle.UserError, match="given by name"):
        tulle.compute("C[i] = A[i,j]", a)


def test_other_devices_are_refused() -> None:
    tensor = tulle.tensor(random_sparse(4, 5))
    meta = torch.ones(5, 6, dtype=torch.float64, device="meta")
    for _ in range(2):
        with pytest.raises(tulle.Unsupported, match="the device 'meta'"):
            _ = tensor @ meta
        _ = tensor @ random_dense(5, 6)
    with pytest.raises(tulle.Unsupported, match="the device 'meta'"):
        tulle.tensor(meta)


@pytest.fixture
def limit() -> Iterator[None]:
    yield
    tulle.set_dense_limit(None)


@pytest.mark.usefixtures("limit")
def test_large_dense_results_are_refused() -> None:
    tensor, b = tulle.tensor(random_sparse(4, 5)), random_dense(5, 6)
    _ = tensor @ b
    tulle.set_dense_limit(4 * 6 * 8 - 1)
    with pytest.raises(
        tulle.UserError,
        match=r"The dense result of 4 x 6 float64 needs 192 bytes, but .* is 191 bytes\. Ask for a "
        r"sparse format with out_format=, which tulle.einsum and tulle.compute take, or raise the "
        r"limit with tulle.set_dense_limit",
    ) as refused:
        _ = tensor @ b
    with pytest.raises(tulle.UserError) as again:
        tulle.einsum("ij,jk->ik", tensor, b)
    assert str(again.value) == str(refused.value)
    assert tulle.einsum("ij,jk->ik", tensor, b, out_format="csr").format == "csr"
    with pytest.raises(tulle.UserError, match="The dense result 'D' of 4 x 6 float64 needs"):
        tulle.compute("c[i] = A[i,j]; D[i,k] = A[i,j] * B[j,k]", A=tensor, B=b)
    with pytest.raises(tulle.UserError, match=r"bytes \(7\.8 KiB\).*\. Ask for a sparse format"):
        tulle.tensor(random_sparse(10, 100)).to_dense()
    tulle.set_dense_limit(4 * 6 * 8)
    _ = tensor @ b
    with pytest.raises(tulle.UserError, match="a number of bytes"):
        tulle.set_dense_limit(-1)


def test_dense_results_beyond_memory_are_refused() -> None:
    n = 10_000_000
    levels = [{"pos": [0, 1], "crd": [n - 1]}]
    vector = tulle.from_levels("(i) -> (i: compressed)", (n,), levels, [1.0])
    with pytest.raises(tulle.UserError, match="half of the free memory"):
        tulle.einsum("i,j->ij", vector, vector, out_format="dense")
    assert tulle.einsum("i,j->ij", vector, vector).nnz == 1


@pytest.mark.filterwarnings("ignore:Dynamo detected")
def test_compiling_breaks_graphs() -> None:
    a, b = random_sparse(4, 4), random_dense(4, 4)
    tensor = tulle.tensor(a)
    uses: list[Callable[[Any, torch.Tensor], Any]] = [
        lambda left, right: left @ right + 1,
        lambda left, right: torch.mm(left, right) + 1,
        lambda left, right: tensor @ right + 1,
        lambda left, right: tulle.einsum("ij,jk->ik", left, right) + 1,
    ]
    for use in uses:
        torch.compiler.reset()
        assert_equal(torch.compile(use, backend="eager")(tensor, b), a @ b + 1)
