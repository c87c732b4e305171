"""Sums of many terms are as accurate as torch's."""

import math

import pytest
import torch

import tulle

MILLION = 1_000_000


def one_row(values):
    """A CSR matrix of one row that stores all columns."""
    n = len(values)
    structure = {"pos": torch.tensor([0, n], dtype=torch.int32), "crd": torch.arange(n).int()}
    return tulle.from_levels("csr", (1, n), [{}, structure], values)


def one_entry_per_row(values, columns):
    n = len(values)
    structure = {"crd": (torch.arange(n) % columns).int()}
    return tulle.from_levels("ell(1)", (n, columns), [{}, structure], values)


def test_total_of_42_million_ones():
    n = 42 * MILLION
    A = one_entry_per_row(torch.ones(n), 2)
    assert A.sum().item() == n
    assert A.mean().item() == 0.5
    assert A.sum(0).tolist() == [n / 2, n / 2]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_column_of_20_million_entries(dtype):
    n = 20 * MILLION
    value = 1 if dtype == torch.float32 else 2**-10
    A = one_entry_per_row(torch.full((n,), value, dtype=dtype), 1)
    for format in ("ell(1)", "csr", "coo"):
        column = A.to(format=format).sum(0)
        torch.testing.assert_close(column, torch.tensor([n * value], dtype=dtype))


@pytest.mark.parametrize("format", ["ell(1)", "csr", "coo"])
def test_functions_of_the_sum_of_a_long_column(format):
    n = 20 * MILLION
    A = one_entry_per_row(torch.ones(n), 1).to(format=format)
    halves = A.with_values((torch.arange(n) % 2).float())
    assert A.mean(0).item() == 1
    assert A.logsumexp(0).item() == pytest.approx(1 + math.log(n), rel=1e-7)
    assert halves.var(0).item() == pytest.approx(0.25, rel=1e-6)
    assert tulle.compute("y[j] = max(i, A[i,j]) + sum(i, A[i,j])", A=A).item() == n
    explanation = tulle.explain("y[j] = mean(i, A[i,j])", A=A)
    assert "y.sum0 is accumulated in f64" in explanation.summary


def test_softmax_of_a_long_row_times_a_matrix():
    n = 20 * MILLION
    A = one_row(torch.ones(n))
    text = "O[i,d] = softmax(j in A[i,j], A[i,j]) * V[j,d]"
    torch.testing.assert_close(tulle.compute(text, A=A, V=torch.ones(n, 2)), torch.ones(1, 2))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64, torch.int64])
@pytest.mark.parametrize("format", ["csr", "csc", "coo", "ell(3)", "bsr(2,1)", "hyb(1,2)"])
def test_wide_sums_equal_those_of_dense_tensors(format, dtype):
    torch.manual_seed(0)
    rows = 6000
    dense = torch.randint(-3, 4, (rows, 3)) * (torch.rand(rows, 3) < 0.6)
    x = torch.randn(rows)
    A = tulle.tensor(dense.to(dtype), format=format)
    exact = dense.double()
    if dtype.is_floating_point:
        expected = torch.stack([exact.mean(0), exact.logsumexp(0)]).to(dtype)
        torch.testing.assert_close(torch.stack([A.mean(0), A.logsumexp(0)]), expected)
        is_stored = A.with_values(torch.ones_like(A.values())).to_dense() > 0
        weights = exact.masked_fill(~is_stored, -torch.inf).softmax(0)
        text = "y[j] = sum(i, softmax(i in A[i,j], A[i,j]) * x[i])"
        found = tulle.compute(text, A=A, x=x.to(dtype))
        expected = (weights * x.to(dtype).double()[:, None]).sum(0)
        torch.testing.assert_close(found.double(), expected, atol=1e-3, rtol=2e-2)
    found = tulle.compute("y[j] = max(i, A[i,j]) - sum(i, A[i,j])", A=A)
    torch.testing.assert_close(found, (exact.amax(0) - exact.sum(0)).to(dtype))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_prefetching_rows_of_one_element(dtype):
    n = 40 * MILLION  # more than the caches hold
    A = one_row(torch.full((n,), 2**-12, dtype=dtype))
    assert (A @ torch.ones(n, 1, dtype=dtype)).item() == pytest.approx(n * 2**-12, rel=1e-2)


def test_row_of_20_million_entries():
    n = 20 * MILLION
    A = one_row(torch.ones(n))
    assert A.sum(1).item() == n
    assert (A @ torch.ones(n)).item() == n
    assert A.mean(1).item() == 1
    total = tulle.compute("y[i] = sqrt(sum(j, square(A[i,j])))", A=A)
    assert total.item() == pytest.approx(math.sqrt(n), rel=1e-7)
    assert A.logsumexp(1, stored=True).item() == pytest.approx(1 + math.log(n), rel=1e-7)
    assert A.softmax(1).values()[0].item() == pytest.approx(1 / n, rel=1e-6)


def test_columns_of_dense_tensors():
    n = 20 * MILLION
    D = torch.ones(n, 2)
    assert tulle.compute("y[k] = D[j,k]", D=D).tolist() == [n, n]
    assert tulle.compute("y = D[j,k]", D=D).item() == 2 * n


FORMATS = ["csr", "coo", "csc", "dcsr", "ell(40)", "bsr(2,3)", "dia", "bitmap", "hyb(2,2)"]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_error_of_random_sums(format, dtype):
    generator = torch.Generator().manual_seed(3)
    shape = (40, 40) if format in ("dia", "bitmap") else (5000, 40)
    dense = torch.rand(shape, generator=generator, dtype=dtype) ** 3
    A = tulle.tensor(dense, format=format)
    # Columns in memory have plain sums if they are float64 or belong to parts.
    in_memory = "hyb" in format or (dtype == torch.float64 and format != "csc")
    for dims in (None, 1) if in_memory else (None, 0, 1):
        ours = A.sum() if dims is None else A.sum(dims)
        torchs = dense.sum() if dims is None else dense.sum(dims)
        exact = exact_sum(dense, dims)
        # A single rounding error is allowed for sums that torch happens to round correctly.
        bound = 4 * relative_error(torchs, exact) + 8 * torch.finfo(dtype).eps
        assert relative_error(ours, exact) <= bound


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_error_of_a_long_random_sum(dtype):
    values = torch.rand(4 * MILLION, generator=torch.Generator().manual_seed(5)).to(dtype)
    exact = torch.tensor(math.fsum(values.tolist()), dtype=torch.float64)
    for A in (one_row(values), one_entry_per_row(values, 1)):
        eps = torch.finfo(dtype).eps
        assert relative_error(A.sum(), exact) <= 4 * relative_error(values.sum(), exact) + 4 * eps


def test_mean_over_extents_whose_product_exceeds_64_bits():
    n = 2**31 - 1
    structure = [{"pos": torch.tensor([0, 2]), "crd": torch.tensor([0, 5])}]
    structure += [{"crd": torch.tensor([0, 0])}, {"crd": torch.tensor([1, 7])}]
    A = tulle.from_levels("coo", (n, n, n), structure, torch.ones(2))
    assert A.mean().item() == pytest.approx(2 / n**3, rel=1e-6)
    assert tulle.compute("y = max((i,j,k), A[i,j,k])", A=A.with_values(-torch.ones(2))).item() == 0


def exact_sum(dense, dim):
    rows = dense.double()
    if dim is None:
        return torch.tensor(math.fsum(rows.flatten().tolist()), dtype=torch.float64)
    rows = rows if dim == 1 else rows.T
    return torch.tensor([math.fsum(row.tolist()) for row in rows], dtype=torch.float64)


def relative_error(found, exact):
    return ((found.double() - exact).abs() / exact.abs()).max().item()
