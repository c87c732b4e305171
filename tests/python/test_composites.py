"""Tensors in several parts: composite formats."""

from __future__ import annotations

import copy
import pickle

import pytest
import torch
from helpers import assert_equal, dense, random_dense, random_sparse
from torch.utils import _pytree as pytree

import tulle

# Formats that store exactly the given entries; the others pad.
UNPADDED = [
    "hyb(1,1)",
    "hyb(3,2)",
    "{ rows(nnz<=1): ell(1); rows(nnz>=3): csc; rest: dcsr }",
    "{ columns(2,5): coo; rest: csr }",
]
PADDED = [
    "dia-csr(-1,1)",
    "bsr-csr(2,3)",
    "{ windows(2, reuse>=1.5): sr-bcrs(2,4); rest: csr }",
    "columns(2){ band(0,2): dia; blocks(2,2, fill>=0.5): dbsr(2,2); rest: dcsr }",
]
FORMATS = [*UNPADDED, *PADDED]
SHAPES = [(6, 8), (7, 5), (1, 1), (0, 4), (4, 0)]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("shape", SHAPES)
def test_storing_and_reading_back(format: str, shape: tuple[int, int]) -> None:
    data = random_sparse(*shape, density=0.4)
    tensor = tulle.tensor(data, format=format)
    assert tensor.format == format
    assert tulle.Format(str(tensor.format), rank=2) == tensor.format
    assert_equal(tensor, data)
    assert_equal(tensor.T, data.T)
    assert_equal(tensor.T.T, data)
    coordinates, values = tensor.entries()
    assert coordinates.shape == (2, tensor.nnz)
    again = torch.zeros_like(data)
    again.index_put_(tuple(coordinates), values, accumulate=True)
    assert_equal(again, data)
    if format in UNPADDED:
        assert tensor.nnz == int((data != 0).sum())
    assert repr(tensor).startswith("tulle.SparseTensor(")


@pytest.mark.parametrize("format", FORMATS)
def test_parts_are_disjoint_and_cover(format: str) -> None:
    data = random_sparse(9, 8, density=0.4, seed=2)
    tensor = tulle.tensor(data, format=format)
    parts = tensor.parts()
    assert [part.format for part in parts] == [part.format for part in tensor.format.parts]
    assert_equal(sum(dense(part) for part in parts), data)
    owners = sum((dense(part) != 0).to(torch.int64) for part in parts)
    assert torch.equal(owners, (data != 0).to(torch.int64))


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("other", ["csr", "csc", "bsr(2,3)", "dia", "hyb(2,1)"])
def test_conversions(format: str, other: str) -> None:
    data = random_sparse(6, 8, seed=3)
    tensor = tulle.tensor(data, format=other).to(format=format)
    assert_equal(tensor, data)
    assert_equal(tensor.to(format=other), data)
    assert_equal(tensor.to(torch.float32), data.to(torch.float32))
    wide = tulle.tensor(data, format=format, index_dtype=torch.int64)
    assert wide.index_dtype == torch.int64
    assert_equal(wide, data)


@pytest.mark.parametrize("format", FORMATS)
def test_operators(format: str) -> None:
    data, other = random_sparse(6, 8), random_sparse(6, 8, seed=1)
    a, b = tulle.tensor(data, format=format), tulle.tensor(other, format="csr")
    x, wide = random_dense(8, 1)[:, 0], random_dense(8, 5)
    assert_equal(a @ x, data @ x)
    assert_equal(a @ wide, data @ wide)
    assert_equal(a.matmul(wide, out=torch.empty(6, 5, dtype=data.dtype)), data @ wide)
    assert_equal(wide.T @ a.T, wide.T @ data.T)
    assert_equal(random_dense(3, 6) @ a, random_dense(3, 6) @ data)
    assert_equal(a @ b.T, data @ other.T)
    assert_equal(b.T @ a, other.T @ data)
    assert_equal(a + b, data + other)
    assert_equal(b - a, other - data)
    assert_equal(a * b, data * other)
    assert_equal(a * a, data * data)
    assert_equal(a + a, data + data)
    assert_equal(a @ a.T, data @ data.T)
    assert_equal(a * 2, data * 2)
    assert_equal(-a, -data)
    assert_equal(a + wide[:, :1].T[:, :1], data + wide[:, :1].T[:, :1])
    assert_equal(a.sum(), data.sum())
    assert_equal(a.sum(0), data.sum(0))
    assert_equal(a.sum(1), data.sum(1))


@pytest.mark.parametrize("format", FORMATS)
def test_statements(format: str) -> None:
    data = random_sparse(6, 8)
    a = tulle.tensor(data, format=format)
    b, x, q, k = random_dense(6, 1)[:, 0], random_dense(8, 1)[:, 0], *random_dense(2, 8, 4)
    assert_equal(tulle.compute("y[i] = b[i] + A[i,j]*x[j]", A=a, b=b, x=x), b + data @ x)
    assert_equal(tulle.compute("y[i] = relu(sum(j, A[i,j]*x[j]))", A=a, x=x), torch.relu(data @ x))
    assert_equal(
        tulle.compute("y[i] = sum(j, A[i,j]*x[j]) - 2 * sum(j, A[i,j])", A=a, x=x),
        data @ x - 2 * data.sum(1),
    )
    assert_equal(
        tulle.compute("W[i,j] = A[i,j] * Q[i,d] * K[j,d]", A=a, Q=q[:6], K=k),
        data * (q[:6] @ k.T),
    )
    assert_equal(
        tulle.compute("y[i] = sum(j, A[i,j]) * sum(j, A[i,j])", A=a), data.sum(1) * data.sum(1)
    )
    assert_equal(tulle.compute("T[i,j] = 2 * A[i,j]; y[i] = T[i,j] * x[j]", A=a, x=x), 2 * data @ x)
    assert_equal(tulle.einsum("ij,ik->jk", a, a), data.T @ data)


def test_integers_and_booleans() -> None:
    data = random_sparse(6, 8, dtype=torch.int64)
    x = random_dense(8, 3, dtype=torch.int64)
    assert_equal(tulle.tensor(data, format="hyb(2,1)") @ x, data @ x)
    mask = data != 0
    found = tulle.tensor(mask, format="dia-csr(0,3)") @ (x > 0)
    assert_equal(found, (mask.to(torch.int64) @ (x > 0).to(torch.int64)) > 0)


def test_batches() -> None:
    data, wide = random_sparse(3, 6, 8), random_dense(3, 8, 4)
    for format in ("hyb(2,1)", "dia-csr(-1,1)", "bsr-csr(2,3)"):
        tensor = tulle.tensor(data, format=format)
        assert_equal(tensor, data)
        product = tensor @ wide
        assert isinstance(product, torch.Tensor)  # as for batches of csr matrices
        assert_equal(product, data @ wide)
        plan = tulle.explain("bij,bjk->bik", tensor, wide).stages["plan"]
        assert f"out is the sum over the {len(tensor.parts())} parts of t0" in plan
        assert_equal(tensor.permute(1, 0, 2), data.permute(1, 0, 2))


def test_values() -> None:
    data = random_sparse(6, 8)
    tensor = tulle.tensor(data, format="hyb(2,1)")
    assert_equal(tensor.with_values(tensor.values() * 3), data * 3)
    start = 0
    for part in tensor.parts():
        own = part.values()
        assert torch.equal(own, tensor.values()[start : start + own.numel()])
        assert own.numel() == 0 or own.data_ptr() == tensor.values()[start:].data_ptr()
        start += -(-part.values().numel() // 64) * 64
    with pytest.raises(tulle.UserError, match="no levels of its own"):
        tensor.levels()


def test_transport() -> None:
    data = random_sparse(6, 8)
    tensor = tulle.tensor(data, format="hyb(2,1)")
    for again in (
        pickle.loads(pickle.dumps(tensor)),
        copy.deepcopy(tensor),
        tensor.clone(),
        pytree.tree_map(lambda x: x, tensor),
    ):
        assert again.format == tensor.format
        assert_equal(again, data)
        assert_equal(again @ data.T, data @ data.T)


def test_exports() -> None:
    data = random_sparse(6, 8)
    tensor = tulle.tensor(data, format="bsr-csr(2,2)")
    assert_equal(tensor.to_torch().to_dense(), data)
    assert_equal(torch.from_numpy(tensor.to_scipy().toarray()), data)


def test_results() -> None:
    data = random_sparse(6, 6)
    a = tulle.tensor(data, format="csr")
    found = tulle.compute("C[i,k] = A[i,j] * A[j,k]", A=a, out_format="hyb(2,1)")
    assert found.format == "hyb(2,1)"
    assert_equal(found, data @ data)
    assert str((tulle.tensor(data, format="hyb(2,1)") + a).format) == "csr"


REDUCTIONS = [
    "max(j in A[i,j], A[i,j] * x[j])",
    "min(j in A[i,j], A[i,j] * x[j], empty=0)",
    "prod(j in A[i,j], x[j])",
    "mean(j in A[i,j], A[i,j] * x[j])",
    "max(j, A[i,j])",
    "mean(j, A[i,j]) - min(j, A[i,j])",
]


@pytest.mark.parametrize("dtype", [torch.float16, torch.float64, torch.int32])
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_reductions_part_by_part(reduction: str, dtype: torch.dtype) -> None:
    data = (8 * random_sparse(9, 12)).round().to(dtype)
    others = {"x": (4 * random_dense(12)).round().to(dtype)} if "x[j]" in reduction else {}
    text, format = f"y[i] = {reduction}", "{ rows(nnz<=3): dell(3); columns(0,6): coo; rest: csr }"
    whole, parts = (tulle.tensor(data, format=one) for one in ("csr", format))
    assert "general path" not in tulle.explain(text, A=parts, **others).stages["plan"]
    expected = tulle.compute(text, A=whole, **others)
    assert torch.equal(tulle.compute(text, A=parts, **others), expected)


def test_explanations() -> None:
    data = random_sparse(6, 8)
    a, x = tulle.tensor(data, format="dia-csr(0,1)"), random_dense(8, 4)
    shown = tulle.explain("ij,jk->ik", a, x).stages
    assert "band(0,1): dia: " in shown["parts"] and "rows" in shown["parts"]
    assert "out is the sum over the 2 parts of" in shown["plan"]
    shown = tulle.explain("y[i] = sum(j, A[i,j]) * sum(j, A[i,j])", A=a).stages
    assert "the 2 parts of A are put together first (general path)" in shown["plan"]


@pytest.mark.parametrize(
    ("format", "message"),
    [
        ("{ rows(nnz<=4): ell(4) }", "the last part must be 'rest'"),
        ("{ rows(nnz<=4): elf(4); rest: csr }", "there is no format 'elf'"),
        ("hyb(0,3)", "takes the number of column ranges"),
        ("hyb", "takes the number of column ranges"),
        ("{ band(1,-1): dia; rest: csr }", r"write band\(-1,1\)"),
        ("{ rows(nnz<3): ell(3); rest: csr }", "expected '<=' or '>='"),
        ("{ rest: hyb(1,1) }", "a part cannot be composite; give it a plain format"),
        ("{ blocks(2,2, fill>=2): bsr(2,2); rest: csr }", "write fill>=0.5"),
    ],
)
def test_mistakes(format: str, message: str) -> None:
    with pytest.raises(tulle.UserError, match=message):
        tulle.tensor(random_sparse(4, 4), format=format)


def test_vectors_have_no_parts() -> None:
    with pytest.raises(tulle.UserError, match="matrices and batches"):
        tulle.tensor(random_sparse(4, 1)[:, 0], format="hyb(1,1)")


def test_decompose_as_a_step() -> None:
    data, wide = random_sparse(6, 8), random_dense(8, 6)
    kernel = tulle.kernel("C[i,k] = A[i,j] * B[j,k]")
    for format in FORMATS:
        chosen = kernel.schedule(f"decompose(A, {format}); vectorize(k, 4)")
        for given in ("csr", "csc", "bsr(2,2)"):
            assert_equal(chosen(A=tulle.tensor(data, format=given), B=wide), data @ wide)
    shown = kernel.schedule("decompose(A, hyb(1,1))").explain(A=tulle.tensor(data), B=wide)
    assert "C is the sum over the 3 parts of A" in shown.stages["plan"]
    given = tulle.tensor(data, format="hyb(1,1)")
    assert (
        shown.stages["parts"] == tulle.explain(kernel.program.text, A=given, B=wide).stages["parts"]
    )
    assert shown.stages["parts"] == kernel.explain(A=given, B=wide).stages["parts"]


@pytest.mark.parametrize(
    ("text", "schedule", "message"),
    [
        ("C[i,k] = A[i,j] * B[j,k]", "decompose(A, csr)", "has no parts"),
        ("C[i,k] = A[i,j] * B[j,k]", "decompose(A, foo)", "there is no format 'foo'"),
        ("C[i,k] = A[i,j] * B[j,k]", "decompose(B, hyb(1,1))", "'B' is dense"),
        ("C[i,k] = A[i,j] * B[j,k]", "decompose(D, hyb(1,1))", "'D'"),
        ("C[i,k] = A[i,j] * B[j,k]", "C: decompose(A, hyb(1,1))", "for all statements"),
        ("C[i,k] = A[i,j] * B[j,k]", "decompose(A, hyb(1", "expected a format"),
        (
            "C[i,k] = sum(j, A[i,j] * B[j,k]) * sum(j, A[i,j])",
            "decompose(A, hyb(1,1))",
            "cannot be computed part by part",
        ),
        ("C[i,j] = A[i,j] * B[j,i]", "decompose(A, hyb(1,1))", "sparse result"),
    ],
)
def test_decompose_where_it_is_wrong(text: str, schedule: str, message: str) -> None:
    a, b = tulle.tensor(random_sparse(6, 8)), random_dense(8, 6)
    with pytest.raises(tulle.UserError, match=message):
        tulle.kernel(text).schedule(schedule)(A=a, B=b)


@pytest.mark.parametrize("format", FORMATS)
def test_nothing_over_zero_is_nothing_in_every_part(format: str) -> None:
    data, divisors = random_sparse(6, 8), random_dense(8)
    divisors[(data == 0).any(0)] = 0
    kernel = tulle.kernel("y[i] = sum(j, A[i,j] / x[j])").schedule(f"decompose(A, {format})")
    if format in PADDED:
        with pytest.raises(tulle.UserError, match="padding"):
            kernel(A=tulle.tensor(data), x=divisors)
        return
    expected = torch.where(data == 0, 0, data / divisors).sum(1)
    assert_equal(kernel(A=tulle.tensor(data), x=divisors), expected)


def test_schedules_are_for_every_part() -> None:
    data, wide = random_sparse(6, 8), random_dense(8, 6)
    a = tulle.tensor(data, format="hyb(2,1)")
    kernel = tulle.kernel("C[i,k] = A[i,j] * B[j,k]", A="hyb(2,1)")
    for schedule in ("vectorize(k, 4)", "C: vectorize(k, 4); nontemporal(C)", "parallel(i)"):
        assert_equal(kernel.schedule(schedule)(A=a, B=wide), data @ wide)
    shown = kernel.schedule("vectorize(k, 4)").explain(A=a, B=wide).stages["plan"]
    assert shown.count("schedule: vectorize(k, 4)") == len(a.parts())
    with pytest.raises(tulle.UserError, match="no statement assigns 'D'; they assign C"):
        kernel.schedule("D: parallel(i)")(A=a, B=wide)


def test_parts_are_scheduled_apart() -> None:
    x = torch.rand(64, 64) * (torch.rand(64, 64) < 0.1)
    x[8:24, 8:24] = 1.0
    A, B = tulle.tensor(x, format="bsr-csr(8,8)"), torch.rand(64, 16)
    kernel = tulle.kernel("C[i,k] = A[i,j] * B[j,k]")
    apart = kernel.schedule("C.add0: parallel(i.outer); C.add1: parallel(i, by=nnz)")
    torch.testing.assert_close(apart(A=A, B=B), x @ B)
    with pytest.raises(
        tulle.UserError, match=r"for the statement of 'C\.add1'.*no loop over 'i\.outer'"
    ):
        kernel.schedule("parallel(i.outer)")(A=A, B=B)
    with pytest.raises(tulle.UserError, match=r"they assign C, C\.add0, C\.add1"):
        kernel.schedule("C.add2: parallel(i)")(A=A, B=B)
    with pytest.raises(tulle.UserError, match=r"no statement assigns 'D\.add1'; they assign C"):
        kernel.schedule("D.add1: parallel(i)")


@pytest.mark.parametrize("format", FORMATS)
def test_gradients_of_conversions_reach_leaves(format: str) -> None:
    data, x = random_sparse(6, 8, density=0.4), random_dense(8, 3)
    for source in ("csr", "coo", format):
        leaf = tulle.tensor(data, format=source).requires_grad_()
        (leaf.to(format=format).to(format="hyb(2,2)") @ x).sum().backward()
        assert leaf.grad is not None
        coordinates, gradients = leaf.with_values(leaf.grad).entries()
        assert_equal(gradients, x.sum(1)[coordinates[1]])
