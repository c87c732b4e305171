"""float16 and bfloat16 against dense torch in float32, rounded once."""

from __future__ import annotations

import pytest
import torch
from helpers import MATRIX_FORMATS, dense, random_sparse

import tulle

HALVES = [torch.float16, torch.bfloat16]


def normal(*shape: int, dtype: torch.dtype, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator).to(dtype)


def matrix(dtype: torch.dtype, rows: int = 7, columns: int = 9) -> torch.Tensor:
    """Numbers that a half does not represent exactly, rounded to halves; one row is empty."""
    x = normal(rows, columns, dtype=torch.float32) * (random_sparse(rows, columns) != 0)
    x[3] = 0
    return x.to(dtype)


def assert_rounded_once(
    found: tulle.SparseTensor | torch.Tensor, wanted: torch.Tensor, dtype: torch.dtype
) -> None:
    """Asserts the rounded float32 result; the order of a sum may decide how a tie is rounded."""
    found = dense(found)
    assert found.dtype == dtype
    nearest = torch.finfo(dtype).eps / 2
    torch.testing.assert_close(found.float(), wanted, rtol=nearest * 1.02, atol=1e-5)


@pytest.mark.parametrize("format", MATRIX_FORMATS)
@pytest.mark.parametrize("width", [1, 5, 32, 200])
@pytest.mark.parametrize("dtype", HALVES)
def test_products_with_dense_matrices(dtype: torch.dtype, width: int, format: str) -> None:
    x, b = matrix(dtype), normal(9, width, dtype=dtype, seed=1)
    found = tulle.tensor(x, format=format) @ b
    assert_rounded_once(found, x.float() @ b.float(), dtype)


@pytest.mark.parametrize("dtype", HALVES)
def test_long_sums_do_not_stop_growing(dtype: torch.dtype) -> None:
    """A sum of ones in a half type would stop at 2048 or 256."""
    x = torch.ones(3, 5000, dtype=dtype)
    found = tulle.tensor(x, format="csr") @ torch.ones(5000, dtype=dtype)
    assert found.tolist() == torch.full((3,), 5000.0).to(dtype).tolist()
    columns = tulle.tensor(x.T.contiguous(), format="csr").sum(0)
    assert columns.tolist() == torch.full((3,), 5000.0).to(dtype).tolist()


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "bsr(2,3)"])
@pytest.mark.parametrize("dtype", HALVES)
def test_sparse_results(dtype: torch.dtype, format: str) -> None:
    x, y = matrix(dtype), matrix(dtype, 9, 8)
    a, b = tulle.tensor(x, format=format), tulle.tensor(y, format=format)
    assert_rounded_once(a @ b, x.float() @ y.float(), dtype)
    assert_rounded_once(a + a * 0.3, x.float() + x.float() * 0.3, dtype)
    assert_rounded_once(a.to(format="csf"), x.float(), dtype)
    q, k = normal(7, 40, dtype=dtype), normal(9, 40, dtype=dtype, seed=2)
    found = tulle.compute("S[i,j] = A[i,j] * Q[i,d] * K[j,d]", A=a, Q=q, K=k)
    assert_rounded_once(found, x.float() * (q.float() @ k.float().T), dtype)


@pytest.mark.parametrize("dtype", HALVES)
def test_intermediates_are_not_rounded(dtype: torch.dtype) -> None:
    x, v = matrix(dtype), normal(9, 4, dtype=dtype, seed=3)
    found = tulle.compute(
        "T[i,k] = A[i,j] * V[j,k]\n Y[i,k] = T[i,k] / 3", A=tulle.tensor(x, format="csr"), V=v
    )
    assert_rounded_once(found, x.float() @ v.float() / 3, dtype)


@pytest.mark.parametrize("name", ["sum", "mean", "amax", "amin", "prod", "logsumexp"])
@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("dtype", HALVES)
def test_reductions(dtype: torch.dtype, dim: int, name: str) -> None:
    x = matrix(dtype)
    found = getattr(tulle.tensor(x, format="csr"), name)(dim)
    assert_rounded_once(found, getattr(x.float(), name)(dim), dtype)


@pytest.mark.parametrize("dtype", HALVES)
def test_softmax_and_attention(dtype: torch.dtype) -> None:
    x = matrix(dtype)
    a = tulle.tensor(x, format="csr")
    wanted = torch.sparse.softmax(x.float().to_sparse_coo(), 1).to_dense()
    assert_rounded_once(a.softmax(1), wanted, dtype)
    q, k, v = (normal(n, 16, dtype=dtype, seed=n) for n in (7, 9, 10))
    v = v[:9]
    found = tulle.compute(
        """S[i,j] = sum(c, Q[i,c] * K[j,c]) * s
           O[i,d] = softmax(j in A[i,j], S[i,j]) * V[j,d]""",
        **{"A": a, "Q": q, "K": k, "V": v, "s": 0.25},
    )
    scores = torch.where(x != 0, q.float() @ k.float().T * 0.25, -torch.inf)
    weights = torch.nan_to_num(torch.softmax(scores, 1), nan=0.0)
    assert_rounded_once(found, weights @ v.float(), dtype)


@pytest.mark.parametrize("dtype", HALVES)
def test_types_promote_as_in_torch(dtype: torch.dtype) -> None:
    a = tulle.tensor(matrix(dtype), format="csr")
    other = torch.float16 if dtype == torch.bfloat16 else torch.bfloat16
    for operand in (torch.float32, torch.float64, torch.int64, torch.bool, other):
        b = torch.ones(9, 3, dtype=operand)
        found = tulle.einsum("ij,jk->ik", a, b)
        assert found.dtype == torch.promote_types(dtype, operand)
        torch.testing.assert_close(found, (a.to_dense().double() @ b.double()).to(found.dtype))


@pytest.mark.parametrize("dtype", HALVES)
def test_values_are_shared(dtype: torch.dtype) -> None:
    x = matrix(dtype).to_sparse_csr()
    a = tulle.tensor(x)
    assert a.values().data_ptr() == x.values().data_ptr()
    assert (a @ torch.ones(9, 2, dtype=dtype)).dtype == dtype


@pytest.mark.parametrize("features", ["sse4.2", "avx2"])
@pytest.mark.parametrize("dtype", HALVES)
def test_specials_and_small_numbers(dtype: torch.dtype, features: str) -> None:
    """Every half times one is itself, also on machines without conversion instructions."""
    bits = torch.arange(-(2**15), 2**15, dtype=torch.int32).to(torch.int16)
    x = bits.view(dtype)
    kernel = tulle.kernel("Y[i] = X[i] * o", X="dense", o="dense").features(features)
    found = kernel(X=x, o=torch.ones((), dtype=dtype))
    torch.testing.assert_close(found, x, rtol=0, atol=0, equal_nan=True)
