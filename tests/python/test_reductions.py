"""Reductions, softmax and elementary functions against dense torch."""

from __future__ import annotations

import pytest
import torch
from helpers import MATRIX_FORMATS, assert_equal, dense, random_dense, random_sparse

import tulle

FORMATS = [format for format in MATRIX_FORMATS if not format.startswith("b")]
UNPADDED = {"amax": -torch.inf, "amin": torch.inf, "prod": 1.0}


def matrix(seed: int = 0) -> torch.Tensor:
    """A matrix with an empty row, a full row and numbers of both signs."""
    x = random_sparse(7, 9, seed=seed)
    x = x * torch.where(random_dense(7, 9, seed=seed + 5) < 0, -1.0, 1.0)
    x[3] = 0
    x[5] = torch.arange(1.0, 10.0)
    return x


@pytest.mark.parametrize("format", MATRIX_FORMATS)
@pytest.mark.parametrize("dim", [0, 1, (0, 1)])
@pytest.mark.parametrize("name", ["amax", "amin", "mean", "prod", "sum", "logsumexp"])
def test_methods_see_the_extent(name: str, dim: int | tuple[int, int], format: str) -> None:
    x = matrix()
    found = getattr(tulle.tensor(x, format=format), name)(dim)
    expected = x.prod() if (name, dim) == ("prod", (0, 1)) else getattr(x, name)(dim)
    assert_equal(found, expected)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", ["amax", "amin", "prod"])
def test_methods_see_stored_entries_where_asked(name: str, format: str) -> None:
    x = matrix()
    filled = torch.where(x != 0, x, UNPADDED[name])
    found = getattr(tulle.tensor(x, format=format), name)(1, stored=True)
    assert_equal(found, getattr(filled, name)(1))


@pytest.mark.parametrize("format", FORMATS)
def test_stored_mean_of_an_empty_row_is_zero(format: str) -> None:
    x = matrix()
    counts = (x != 0).sum(1).clamp(min=1)
    assert_equal(tulle.tensor(x, format=format).mean(1, stored=True), x.sum(1) / counts)


@pytest.mark.parametrize("format", MATRIX_FORMATS)
@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("dim", [0, 1])
def test_arguments_are_the_first_of_several(name: str, dim: int, format: str) -> None:
    x = matrix()
    best = getattr(x, "amax" if name == "argmax" else "amin")(dim, keepdim=True)
    expected = (x == best).to(torch.int8).argmax(dim)
    assert_equal(getattr(tulle.tensor(x, format=format), name)(dim), expected)


@pytest.mark.parametrize(
    "format", [*MATRIX_FORMATS, "(i,j) -> (i: dense, j: compressed unordered)"]
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.int32, torch.float16])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_arguments_are_at_the_first_gap_where_entries_are_worse(
    name: str, dtype: torch.dtype, format: str
) -> None:
    sign = -1 if name == "argmax" else 1
    x = torch.zeros(9, 8, dtype=dtype)
    for row in range(8):
        x[row, :row] = sign  # the first gap is at `row`
    x[4, 6] = x[5, 7] = sign  # beyond the gap
    x[6, 2] = -sign  # better than a gap
    x[8] = sign  # no gap
    A = tulle.tensor(x, format=format)
    expected = torch.tensor([0, 1, 2, 3, 4, 5, 2, 7, 0])
    assert_equal(getattr(A, name)(1), expected)
    assert_equal(tulle.compute(f"y[i] = {name}(j, 2 * A[i,j] * 1)", A=A), expected)
    assert_equal(tulle.compute(f"s = sum(i, {name}(j, A[i,j]))", A=A), expected.sum())


def test_zeros_that_are_stored_are_zeros_among_others() -> None:
    x = torch.tensor([[-1.0, 2.0, 0.0, 3.0], [5.0, 0.0, 6.0, 0.0], [-1.0, -1.0, -1.0, 7.0]])
    A = tulle.tensor(x, format="csr")
    values = torch.where(A.values() > 0, 0.0, A.values())
    found = tulle.compute("y[i] = argmax(j, A[i,j])", A=A.with_values(values))
    assert_equal(found, torch.tensor([1, 0, 3]))
    nan = torch.where(A.values() == 3, torch.nan, values)
    found = tulle.compute("y[i] = argmax(j, A[i,j])", A=A.with_values(nan))
    assert_equal(found, torch.tensor([3, 0, 3]))


@pytest.mark.parametrize("shape", [(3, 0), (0, 3), (0, 0)])
def test_arguments_of_nothing(shape: tuple[int, int]) -> None:
    A = tulle.tensor(torch.zeros(shape), format="csr")
    found = tulle.compute("y[i] = argmax(j, A[i,j])", A=A)
    assert_equal(found, torch.full((shape[0],), -1 if shape[1] == 0 else 0))
    stated = tulle.compute("y[i] = argmax(j, A[i,j], empty=7)", A=A)
    assert_equal(stated, torch.full((shape[0],), 7 if shape[1] == 0 else 0))


@pytest.mark.parametrize("formats", [("csr", "csr"), ("csc", "coo"), ("bsr(2,2)", "dia")])
def test_arguments_of_products_and_sums_of_sparse_operands(formats: tuple[str, str]) -> None:
    x, y = matrix(), matrix().flip(1)
    A, B = tulle.tensor(x, format=formats[0]), tulle.tensor(y, format=formats[1])
    for text, terms in (
        ("A[i,j] * B[i,j]", -(x * y).abs()),
        ("A[i,j] + B[i,j]", -(x + y).abs()),
        ("sum(k, A[i,k] * B[j,k])", -(x @ y.T).abs()),
    ):
        expected = (terms == terms.amax(1, keepdim=True)).to(torch.int8).argmax(1)
        assert_equal(tulle.compute(f"y[i] = argmax(j, -abs({text}))", A=A, B=B), expected)


def test_arguments_of_more_rows_than_memory_holds_are_refused_at_once() -> None:
    places = torch.tensor([[0, 5, 2**36 - 1], [1, 0, 2]])
    values = torch.tensor([-1.0, 2.0, -3.0])
    A = tulle.tensor(torch.sparse_coo_tensor(places, values, (2**36, 3), check_invariants=False))
    with pytest.raises(tulle.UserError, match=r"out of memory|limit"):
        tulle.compute("C[i,k] = A[i,k] * argmax(j, A[i,j])", A=A)


def test_positions_of_entries_are_the_compilers() -> None:
    A = tulle.tensor(matrix(), format="csr")
    with pytest.raises(tulle.UserError, match="there is no function 'position'"):
        tulle.compute("B[i,j] = position(A[i,j])", A=A)


def test_arguments_are_along_one_dimension() -> None:
    A = tulle.tensor(matrix(), format="csr")
    with pytest.raises(tulle.UserError, match=r"give one dimension, as in argmax\(1\)"):
        A.argmax((0, 1))
    assert_equal(torch.argmax(A), matrix().argmax())
    assert_equal(torch.argmin(A, 1), A.argmin(1))


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("reduce", ["mean", "amax", "amin", "prod"])
@pytest.mark.parametrize("width", [1, 5, 32])
def test_einsum_reduces_over_entries(reduce: str, width: int, format: str) -> None:
    x, b = matrix(), random_dense(9, width)
    products = x[:, :, None] * b[None]
    neutral = {"mean": 0.0, "prod": 1.0, "amax": -torch.inf, "amin": torch.inf}[reduce]
    terms = torch.where(x[:, :, None] != 0, products, neutral)
    counts = (x != 0).sum(1)[:, None]
    expected = terms.sum(1) / counts.clamp(min=1) if reduce == "mean" else getattr(terms, reduce)(1)
    expected = torch.where(counts > 0, expected, 0.0)
    assert_equal(
        tulle.einsum("ij,jk->ik", tulle.tensor(x, format=format), b, reduce=reduce), expected
    )


def test_einsum_of_two_sparse_operands_reduces_where_both_have_entries() -> None:
    x, y = matrix(), matrix(1).T.contiguous()
    both = (x[:, :, None] != 0) & (y[None] != 0)
    terms = torch.where(both, x[:, :, None] * y[None], -torch.inf).amax(1)
    expected = torch.where(both.any(1), terms, 0.0)
    found = tulle.einsum("ij,jk->ik", tulle.tensor(x), tulle.tensor(y), reduce="amax")
    assert isinstance(found, tulle.SparseTensor)
    assert_equal(found, expected)


def test_another_reduction_is_refused() -> None:
    with pytest.raises(tulle.UserError, match="reduce must be one of sum, mean"):
        tulle.einsum("ij->i", tulle.tensor(matrix()), reduce="max")


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("dim", [0, 1])
def test_softmax_is_that_of_torch_sparse(dim: int, format: str) -> None:
    x = matrix()
    a = tulle.tensor(x, format=format)
    expected = torch.sparse.softmax(x.to_sparse_coo(), dim).to_dense()
    assert_equal(a.softmax(dim), expected)
    assert_equal(torch.softmax(a, dim), expected)
    assert_equal(torch.nn.functional.softmax(a, dim=dim), expected)
    logs = torch.sparse.log_softmax(x.to_sparse_coo(), dim).to_dense()
    assert_equal(torch.sparse.log_softmax(a, dim), logs)


def attention(
    mask: torch.Tensor, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor
) -> torch.Tensor:
    scores = torch.where(mask != 0, q @ k.T * 0.25, -torch.inf)
    return torch.nan_to_num(torch.softmax(scores, 1), nan=0.0) @ v


ATTENTION = """
    S[i,j] = sum(c, Q[i,c] * K[j,c]) * s
    O[i,d] = softmax(j in A[i,j], S[i,j]) * V[j,d]"""


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("width", [3, 64])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_attention(dtype: torch.dtype, width: int, format: str) -> None:
    x = matrix().to(dtype)
    q, k, v = (torch.randn(n, w, dtype=dtype) for n, w in ((7, 16), (9, 16), (9, width)))
    found = tulle.compute(ATTENTION, A=tulle.tensor(x, format=format), Q=q, K=k, V=v, s=0.25)
    torch.testing.assert_close(found, attention(x, q, k, v))


def test_attention_is_one_pass() -> None:
    x = tulle.tensor(matrix().float(), format="csr")
    q, k, v = torch.randn(7, 16), torch.randn(9, 16), torch.randn(9, 8)
    text = str(tulle.explain(ATTENTION, A=x, Q=q, K=k, V=v, s=0.25))
    assert "S is computed where it is used" in text
    assert "scaled=" in text
    lowered = text.split("== lower ==")[1].split("\n== ")[0]
    assert lowered.count("launch ") == lowered.count("launch compute_O") == 1


# Scores with several reads, of which none is outside of the mask.
SCORES = {
    "sum of vectors": "S[i,j] = t[i] + u[j]",
    "product": "S[i,j] = sum(c, Q[i,c] * K[j,c])",
    "chain": "R[i,j] = sum(c, Q[i,c] * K[j,c]) \n S[i,j] = R[i,j] * t[i] + max(R[i,j], u[j])",
}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", SCORES)
def test_scores_that_are_read_twice(name: str, format: str) -> None:
    x, (rows, columns) = matrix(), matrix().shape
    q, k = random_dense(rows, 4), random_dense(columns, 4, seed=1)
    t, u, v = random_dense(rows), random_dense(columns, seed=1), random_dense(columns, 3, seed=2)
    product = q @ k.T
    scores = {
        "sum of vectors": t[:, None] + u,
        "product": product,
        "chain": product * t[:, None] + torch.maximum(product, u[None]),
    }[name]
    text = f"""{SCORES[name]}
        O[i,d] = softmax(j in A[i,j], max(S[i,j], 0.2 * S[i,j])) * V[j,d]"""
    dense = {"t": t, "u": u, "Q": q, "K": k, "V": v}
    used = {key: one for key, one in dense.items() if f"{key}[" in text}
    found = tulle.compute(text, A=tulle.tensor(x, format=format), **used)
    leaky = torch.where(x != 0, torch.maximum(scores, 0.2 * scores), -torch.inf)
    torch.testing.assert_close(found, torch.nan_to_num(torch.softmax(leaky, 1), nan=0.0) @ v)


@pytest.mark.parametrize("name", SCORES)
def test_scores_need_no_dense_matrix(name: str) -> None:
    n = 20_000  # a dense matrix of doubles would take 3.2 GB
    a = tulle.rand(n, n, nnz=3 * n)
    text = f"""{SCORES[name]}
        O[i,d] = softmax(j in A[i,j], max(S[i,j], 0.2 * S[i,j])) * V[j,d]"""
    dense = {"t": torch.rand(n), "u": torch.rand(n), "V": torch.rand(n, 2)}
    dense |= {"Q": torch.rand(n, 2), "K": torch.rand(n, 2)}
    used = {key: one for key, one in dense.items() if f"{key}[" in text}
    explained = tulle.explain(text, A=a, **used)
    assert "computed first, as dense" not in str(explained)
    assert "S: loops" not in str(explained) and "R: loops" not in str(explained)


def test_a_read_outside_of_the_mask_needs_all_scores() -> None:
    x = matrix()
    rows, columns = x.shape
    t, u = random_dense(rows), random_dense(columns, seed=1)
    text = "S[i,j] = t[i] + u[j] \n O[i] = sum(j, within(A[i,j], S[i,j])) + max(j, S[i,j])"
    found = tulle.compute(text, A=tulle.tensor(x), t=t, u=u)
    scores = t[:, None] + u
    torch.testing.assert_close(found, ((x != 0) * scores).sum(1) + scores.amax(1))


def test_attention_of_large_scores() -> None:
    """Scores that grow along a row and overflow exp."""
    x = torch.ones(3, 50)
    scores = torch.linspace(-500, 900, 150).reshape(3, 50)
    v = torch.randn(50, 4)
    text = "O[i,d] = softmax(j in A[i,j], S[i,j]) * V[j,d]"
    found = tulle.compute(text, A=tulle.tensor(x, format="csr"), S=scores, V=v)
    torch.testing.assert_close(found, torch.softmax(scores, 1) @ v)


@pytest.mark.parametrize("value", [torch.inf, -torch.inf, torch.nan])
def test_attention_of_special_scores(value: float) -> None:
    scores = torch.randn(2, 5)
    scores[0, 1] = value
    scores[1] = value
    v = torch.randn(5, 4)
    a = tulle.tensor(torch.ones(2, 5), format="csr")
    found = tulle.compute("O[i,d] = softmax(j in A[i,j], S[i,j]) * V[j,d]", A=a, S=scores, V=v)
    torch.testing.assert_close(found, torch.softmax(scores, 1) @ v, equal_nan=True)


def test_heads() -> None:
    x = matrix().float()
    scores, v = torch.randn(7, 9, 4), torch.randn(9, 4, 6)
    text = "O[i,h,d] = softmax(j in A[i,j], S[i,j,h]) * V[j,h,d]"
    found = tulle.compute(text, A=tulle.tensor(x, format="csr"), S=scores, V=v)
    masked = torch.where(x[:, :, None] != 0, scores, -torch.inf)
    weights = torch.nan_to_num(torch.softmax(masked, 1), nan=0.0)
    torch.testing.assert_close(found, torch.einsum("ijh,jhd->ihd", weights, v))


@pytest.mark.parametrize("name", ["exp", "log", "cos", "cosh", "sigmoid"])
def test_functions_that_do_not_keep_zero(name: str) -> None:
    x = matrix().abs()
    found = getattr(torch, name)(tulle.tensor(x, format="csr"))
    torch.testing.assert_close(dense(found), getattr(torch, name)(x))
    found = tulle.compute(f"C[i,j] = {name}(A[i,j])", A=tulle.tensor(x, format="csr"))
    torch.testing.assert_close(dense(found), getattr(torch, name)(x))


def test_where_and_elementwise_maximum() -> None:
    x, y = matrix(), random_dense(7, 9)
    a = tulle.tensor(x, format="csr")
    assert_equal(tulle.compute("C[i,j] = max(A[i,j], B[i,j])", A=a, B=y), torch.maximum(x, y))
    found = tulle.compute("C[i,j] = where(A[i,j], B[i,j], -B[i,j])", A=a, B=y)
    assert_equal(found, torch.where(x != 0, y, -y))


@pytest.mark.parametrize(
    "name",
    [
        *("sum", "mean", "prod", "amax", "amin", "argmax", "argmin", "logsumexp", "any", "all"),
        *("max", "min", "std", "var", "nansum", "nanmean"),
    ],
)
def test_names_of_numpy(name: str) -> None:
    data = random_sparse(5, 7)
    tensor = tulle.tensor(data)
    for options in ({"axis": 1}, {"axis": 0, "keepdims": True}, {"dim": 1, "keepdims": True}):
        expected = getattr(data, name)(**options)
        for found in (getattr(tensor, name)(**options), getattr(torch, name)(tensor, **options)):
            is_one = isinstance(expected, torch.Tensor)
            pairs = [(found, expected)] if is_one else zip(found, expected, strict=True)
            for one, other in pairs:
                torch.testing.assert_close(dense(one), other)
    with pytest.raises(TypeError, match="axis"):
        tensor.sum(dim=1, axis=1)
    with pytest.raises((TypeError, tulle.Unsupported), match="axis"):
        torch.sum(tensor, dim=1, axis=1)


def test_names_of_numpy_for_softmax_and_sorting() -> None:
    data = random_sparse(5, 7)
    tensor = tulle.tensor(data)
    assert_equal(tensor.softmax(axis=1), tensor.softmax(1).to_dense())
    assert_equal(torch.softmax(tensor, axis=0), tensor.softmax(0).to_dense())
    assert_equal(tensor.sort(axis=0)[0], tensor.sort(0)[0].to_dense())
    assert_equal(tensor.topk(2, axis=0)[0], tensor.topk(2, 0)[0])
    assert_equal(tensor.count_nonzero(axis=1), data.count_nonzero(1))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64, torch.int32])
@pytest.mark.parametrize("descending", [False, True])
def test_sorting_of_special_values(dtype: torch.dtype, descending: bool) -> None:
    """Rows without a zero, so that torch sorts the same elements."""
    inf, nan = float("inf"), float("nan")
    special = [3, -0.0, 0.0, nan, -nan, inf, -inf, -3, 1e-30, -1e-30, 3, nan]
    if not dtype.is_floating_point:
        special = [3, -3, 2**31 - 1, -(2**31), 3, 7, -1]
    values = torch.tensor([special, special[::-1]]).to(dtype)
    columns = torch.arange(values.shape[1]).repeat(2)
    rows = torch.arange(2).repeat_interleave(values.shape[1])
    tensor = tulle.from_edge_index([rows, columns], values.reshape(-1), shape=values.shape)
    found = tensor.sort(1, descending=descending)
    expected = values.sort(dim=1, descending=descending, stable=True)
    torch.testing.assert_close(found.values.to_dense(), expected.values, equal_nan=True)
    assert torch.equal(found.indices.to_dense(), expected.indices)
    assert torch.equal(tensor.topk(4, 1, largest=descending).indices, expected.indices[:, :4])


def test_dimensions_are_given_once() -> None:
    tensor = tulle.eye(3)
    for dims in ((0, 0), (0, -2)):
        for call in (tensor.sum, tensor.mean, tensor.amax):
            with pytest.raises(tulle.UserError, match="each dimension is given once"):
                call(dims)
