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
