"""Limits of plans: they do not grow out of proportion to operands and sizes, and no step is
invented."""

from __future__ import annotations

import pytest
import torch

import tulle


def _matrix(seed: int, format: str) -> tulle.SparseTensor:
    draw = torch.Generator().manual_seed(seed)
    dense = torch.rand(6, 8, generator=draw)
    dense[dense < 0.5] = 0
    return tulle.tensor(dense, format=format)


def test_many_sparse_factors_are_merged_a_few_at_a_time() -> None:
    a = _matrix(0, "csr")
    product = tulle.einsum(",".join(["ij"] * 12) + "->ij", *[a] * 12)
    torch.testing.assert_close(product.to_dense(), a.to_dense() ** 12)


def test_positions_that_no_memory_holds_are_refused() -> None:
    huge = tulle.tensor(torch.sparse_coo_tensor([[0], [0]], [1.0], (10**11, 10**6)))
    with pytest.raises(tulle.UserError, match="dcsr"):
        huge.to(format="csr")
    assert huge.to(format="dcsr").nnz == 1
    vector = tulle.tensor(torch.sparse_coo_tensor([[0]], [1.0], (10**10,)))
    with pytest.raises(tulle.UserError, match="needs more than 8 EiB, but the limit"):
        tulle.einsum("i,j->ij", vector, vector, out_format="dense")


def test_a_schedule_is_for_the_statement_and_not_for_conversions() -> None:
    a, b = _matrix(0, "csr"), _matrix(1, "csc")
    kernel = tulle.kernel("C[i,j] = A[i,j] + B[i,j]", A="csr", B="csc")
    sum_ = kernel.schedule("parallel(i, by=rows)")(A=a, B=b)
    torch.testing.assert_close(sum_.to_dense(), a.to_dense() + b.to_dense())


def test_a_format_for_a_result_that_is_not_there_is_refused() -> None:
    with pytest.raises(tulle.UserError, match="Q"):
        tulle.compute("C[i,j] = A[i,j] * 2", A=_matrix(0, "csr"), out_format={"Q": "coo"})


def test_plans_follow_coordinates_that_are_others_in_the_same_memory() -> None:
    rows, each = 100000, 8
    pos = torch.arange(0, rows * each + 1, each, dtype=torch.int32)
    crd = torch.arange(each, dtype=torch.int32).repeat(rows)
    dense = torch.rand(rows, 64)

    def plan() -> str:
        tensor = tulle.from_levels(
            "csr", (rows, rows), [{}, {"pos": pos, "crd": crd}], torch.ones(rows * each)
        )
        return str(tulle.explain("ij,jk->ik", tensor, dense))

    assert "prefetch(" not in plan()
    scattered = torch.randint(0, rows // each, (rows, each)) * each + torch.arange(each)
    crd.copy_(scattered.sort(1).values.flatten())
    assert "prefetch(" in plan()


def test_bitmaps_with_few_entries_are_walked_over_as_sparse() -> None:
    x = torch.where(torch.rand(300, 300) < 0.005, 1.0, 0.0)
    A = tulle.tensor(x, format="bitmap")
    assert "C: loops i j k" in str(tulle.explain("C[i,k] = A[i,j] * B[j,k]", A=A, B=A))
    torch.testing.assert_close((A @ A).to_dense(), x @ x)


@pytest.mark.parametrize(
    ("text", "format"),
    [
        ("y[i] = b[i] + A[i,j] * b[j]", "hyb(1,2)"),  # y_term0
        ("y[i] = logsumexp(j in A[i,j], A[i,j])", "dia-csr(-1,1)"),  # A.whole
        ("y[i] = A[i,j] * b[j]", "{ rows(nnz<=2): ell(2); rest: csr }"),  # y.add0, y.add1
        ("C[j,i] = A[i,j] * A[i,j]", "csc"),
    ],
)
def test_schedules_of_a_space_can_be_written(text: str, format: str) -> None:
    given = {"A": tulle.tensor(torch.eye(40) + torch.eye(40).roll(7, 1), format=format)}
    if "b[" in text:
        given["b"] = torch.rand(40)
    expected = tulle.compute(text, **given)
    space = tulle.Space.default(text, **given)
    _, *candidates = space.candidates(space.problem)
    assert candidates
    for candidate in candidates:
        found = tulle.kernel(text).schedule(candidate.schedule)(**given)
        torch.testing.assert_close(found.to_dense(), expected.to_dense())
