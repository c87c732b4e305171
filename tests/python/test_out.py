"""`out=`: results written to existing tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from helpers import DTYPES, MATRIX_FORMATS, assert_equal, random_dense, random_sparse

import tulle

TEXT = "C[i,k] = A[i,j] * B[j,k]"
PRODUCTS: list[Callable[..., Any]] = [
    lambda a, b, out: torch.mm(a, b, out=out),
    lambda a, b, out: torch.matmul(a, b, out=out),
    lambda a, b, out: a.matmul(b, out=out),
    lambda a, b, out: tulle.einsum("ij,jk->ik", a, b, out=out),
    lambda a, b, out: tulle.compute(TEXT, A=a, B=b, out=out),
    lambda a, b, out: tulle.kernel(TEXT, B="dense")(A=a, B=b, out=out),
]


@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("format", MATRIX_FORMATS)
def test_products_fill_the_tensor(product: Callable[..., Any], format: str) -> None:
    a, b = random_sparse(6, 7), random_dense(7, 5)
    tensor, out = tulle.tensor(a, format=format), torch.empty(6, 5, dtype=torch.float64)
    memory = out.data_ptr()
    for step in range(3):
        out.fill_(float("nan"))
        version = out._version
        assert product(tensor, b * step, out) is out
        assert out.data_ptr() == memory
        assert out._version > version
        assert_equal(out, a @ (b * step))


@pytest.mark.parametrize("dtype", DTYPES)
def test_types(dtype: torch.dtype) -> None:
    a, b = random_sparse(6, 7, dtype=dtype), random_dense(7, 5, dtype=dtype)
    out = torch.empty(6, 5, dtype=dtype)
    assert_equal(torch.mm(tulle.tensor(a), b, out=out), a @ b)
    assert_equal(torch.mm(a, tulle.tensor(b), out=torch.empty(6, 5, dtype=dtype)), a @ b)


def test_other_shapes() -> None:
    a, b = random_sparse(6, 7), random_dense(7, 5)
    tensor = tulle.tensor(a)
    assert_equal(torch.mv(tensor, b[:, 0], out=torch.empty(6, dtype=torch.float64)), a @ b[:, 0])
    total = tulle.compute("s = A[i,j]", A=tensor, out=torch.empty((), dtype=torch.float64))
    assert_equal(total, a.sum())
    nothing = torch.empty(6, 0, dtype=torch.float64)
    assert torch.mm(tensor, b[:, :0], out=nothing) is nothing
    whole = torch.full((4, 6, 5), 7.0, dtype=torch.float64)
    torch.mm(tensor, b, out=whole[2])
    assert_equal(whole[2], a @ b)
    assert bool((whole[[0, 1, 3]] == 7).all())
    unaligned = torch.empty(31, dtype=torch.float64)[1:].view(6, 5)
    assert_equal(torch.mm(tensor, b, out=unaligned), a @ b)


def test_large_results_that_are_not_aligned() -> None:
    a, b = random_sparse(3000, 400, density=0.02), random_dense(400, 200)
    tensor = tulle.tensor(a)
    for shift in (0, 1):
        out = torch.empty(3000 * 200 + 1, dtype=torch.float64)[shift:][: 3000 * 200].view(3000, 200)
        assert_equal(torch.mm(tensor, b, out=out), a @ b)


@pytest.mark.parametrize("product", PRODUCTS)
def test_operands_that_overlap_the_result(product: Callable[..., Any]) -> None:
    a, memory = random_sparse(7, 7), random_dense(100)
    tensor = tulle.tensor(a)
    for _ in range(2):
        b = memory[:49].view(7, 7)
        expected = a @ b
        assert_equal(product(tensor, b, b), expected)
        expected = a @ b
        assert_equal(product(tensor, b, memory[10:59].view(7, 7)), expected)
        expected = a @ b.T
        assert_equal(product(tensor, b.T, b), expected)


def test_values_that_overlap_the_result() -> None:
    memory = random_dense(6)
    levels = [{}, {"pos": [0, 1, 3], "crd": [1, 0, 1]}]
    tensor = tulle.from_levels("csr", (2, 2), levels, memory[:3])
    expected = tensor.to_dense() @ torch.ones(2, 2, dtype=torch.float64)
    out = memory[2:].view(2, 2)
    assert_equal(torch.mm(tensor, torch.ones(2, 2, dtype=torch.float64), out=out), expected)


def test_several_results() -> None:
    a, b = random_sparse(6, 6), random_dense(6, 6)
    text = "C[i,k] = A[i,j] * B[j,k]; D[i,k] = B[i,j] * A[j,k]; S[i,j] = A[i,j] * 2"
    tensor = tulle.tensor(a)
    first, second = torch.empty(2, 6, 6, dtype=torch.float64)
    c, d, s = tulle.compute(text, A=tensor, B=b, out={"D": second, "C": first})
    assert c is first
    assert d is second
    assert_equal(first, a @ b)
    assert_equal(second, b @ a)
    assert_equal(s, a * 2)
    c, d = tulle.compute(text.rsplit(";", 1)[0], A=tensor, B=b, out=(second, first))
    assert c is second
    assert_equal(second, a @ b)
    assert_equal(first, b @ a)


def refused(message: str, **wrong: Any) -> None:
    tensor, b = tulle.tensor(random_sparse(6, 7)), random_dense(7, 5)
    for _ in range(2):
        for product in PRODUCTS:
            with pytest.raises((tulle.UserError, tulle.Unsupported), match=message):
                product(tensor, b, wrong["out"])
        _ = tensor @ b


def test_wrong_tensors_are_refused() -> None:
    refused(r"expected .* float64 \[6, 5\] .* found float64 \[5, 6\]", out=random_dense(5, 6))
    refused(r"found float64 \[6, 5\], which is not contiguous", out=random_dense(5, 6).T)
    refused(r"found float32 \[6, 5\]", out=random_dense(6, 5, dtype=torch.float32))
    refused("found SparseTensor|out is sparse", out=tulle.tensor(random_sparse(6, 5)))
    refused("layout torch.sparse_coo", out=random_sparse(6, 5).to_sparse_coo())
    refused("the device 'meta'", out=random_dense(6, 5).to("meta"))
    refused("requires a gradient", out=random_dense(6, 5).requires_grad_())


def test_what_cannot_have_a_place_is_refused() -> None:
    a = tulle.tensor(random_sparse(6, 6))
    out = torch.empty(6, 6, dtype=torch.float64)
    with pytest.raises(tulle.UserError, match=r"the result 'S' is sparse \(csr\)"):
        tulle.compute("S[i,j] = A[i,j] * 2", A=a, out=out)
    two = "C[i] = A[i,j]; D[i] = A[j,i]"
    with pytest.raises(tulle.UserError, match=r"2 results \(C, D\), but 1 tensors"):
        tulle.compute(two, A=a, out=out[0])
    with pytest.raises(tulle.UserError, match="no result 'Q'; the results are C, D"):
        tulle.compute(two, A=a, out={"Q": out[0]})
    with pytest.raises(tulle.UserError, match="the same memory"):
        tulle.compute(two, A=a, out=[out[0], out[0]])
    with pytest.raises(tulle.UserError, match="out: the result is sparse, but out is dense"):
        torch.mul(a, out, out=out)


def test_gradients_notice_what_is_overwritten() -> None:
    weight = torch.ones(6, 5, dtype=torch.float64, requires_grad=True)
    out = torch.ones(6, 5, dtype=torch.float64)
    tensor, b = tulle.tensor(random_sparse(6, 7)), random_dense(7, 5)
    for _ in range(2):
        loss = (weight * out).sum()
        torch.mm(tensor, b, out=out)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            loss.backward()
