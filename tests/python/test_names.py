"""Names that users and the compiler both use: none is refused, and none changes a result."""

from __future__ import annotations

import pytest
import torch

import tulle

# Names that the compiler uses for parts of A, C and the program.
OURS = [
    "A_pos1",
    "A_crd1",
    "A_bits1",
    "A_count",
    "A_size",
    "A_as0",
    "A_part0",
    "A_whole",
    "A_sum",
    "A_order",
    "C_chunks",
    "C_entries0",
    "C_total0",
    "C_sorted",
    "C_acc",
    "C_sum0",
    "C_sums",
    "C_add1",
    "C_term0",
    "C_wide",
    "C_width",
    "C_widest",
    "C_pieces_C",
    "compute_C_slots",
    "A_part0_crd1",
    "A_as0_sorted_order",
    "C_whole1_entries0",
    "A_entry_rows",
    "A_staged",
    "sort_A_as0_sorted_blocks",
    "part_C_sum0",
    "n_A_as0_0",
    "n_A_whole_0",
    "n_io",
    "threads",
    "n_i",
    "n_j",
]
# Words of the loop IR and its neighbours: nests, schedules, LLVM, PTX, C++.
WORDS = [
    *("let", "var", "for", "while", "if", "else", "true", "false", "inf", "nan", "alloc"),
    *("nontemporal", "read", "at", "most", "in", "by", "of", "host", "program", "kernel", "launch"),
    *("scan", "sort", "free", "keep", "kept", "zeroed", "local", "shared", "workspace", "parallel"),
    *("vector", "unrolled", "block", "warp", "lane", "i64", "f32", "f", "mut", "select", "ramp"),
    *("barrier", "prefetch", "atomic_add", "caller", "scan0", "sort0", "nest", "forall", "where_"),
    *("operand", "result", "extent", "producing", "sequence", "schedule", "loops", "nnz", "none"),
    *("define", "ptr", "entry", "reg", "int", "void", "main", "malloc", "memset", "tulle_shared"),
]
# Names inside kernels.
LOCAL = [
    "row",
    "at",
    "p",
    "p_end",
    "chunk",
    "block",
    "thread",
    "first",
    "last",
    "here",
    "next",
    "low",
    "high",
    "half",
    "c",
    "step",
    "A_value",
    "A_p1",
    "C_next0",
]


@pytest.fixture
def dense() -> torch.Tensor:
    torch.manual_seed(1)
    return torch.rand(6, 6) * (torch.rand(6, 6) < 0.4)


@pytest.mark.parametrize("name", OURS + WORDS + LOCAL)
def test_operands_have_any_name(name: str, dense: torch.Tensor) -> None:
    x = torch.rand(6)
    for form in ("csr", "csc", "hyb(2,3)", "dbsr(2,2)"):
        A = tulle.tensor(dense, format=form)
        rows = tulle.compute(f"C[i] = A[i,j] * {name}[j]", A=A, **{name: x})
        torch.testing.assert_close(rows, dense @ x)
        columns = tulle.compute(f"C[j,i] = A[i,j] * {name}[i]", A=A, **{name: x})
        torch.testing.assert_close(columns.to_dense(), (dense * x[:, None]).T)


@pytest.mark.parametrize("name", OURS + WORDS + LOCAL)
def test_results_have_any_name(name: str, dense: torch.Tensor) -> None:
    x = torch.rand(6)
    for form in ("csr", "hyb(2,3)"):
        A = tulle.tensor(dense, format=form)
        rows = tulle.compute(f"{name}[i] = A[i,j] * C[j]", A=A, C=x)
        torch.testing.assert_close(rows, dense @ x)
        top = tulle.compute(f"{name}[j] = max(i, A[i,j])", A=A)
        torch.testing.assert_close(top, dense.amax(0))


def test_intermediates_and_several_results(dense: torch.Tensor) -> None:
    A = tulle.tensor(dense, format="csr")
    text = "A_sum[i] = A[i,j]; N[i,j] = A[i,j] / A_sum[i]; N_count[i] = sum(j, ones(A[i,j]))"
    N, count = tulle.compute(text, A=A)
    wanted = torch.where(dense != 0, dense / dense.sum(1, keepdim=True), 0)
    torch.testing.assert_close(N.to_dense(), wanted)
    torch.testing.assert_close(count, (dense != 0).sum(1))


def test_schedules_formats_and_messages_have_the_names_as_written(dense: torch.Tensor) -> None:
    A, x = tulle.tensor(dense, format="csr"), torch.rand(6, 8)
    text = "A_acc[i,k] = A[i,j] * A_sum[j,k]"
    kernel = tulle.kernel(text).schedule("A_acc: precompute(acc, k); prefetch(A_sum, 4)")
    torch.testing.assert_close(kernel(A=A, A_sum=x), dense @ x)
    sparse = tulle.compute(text, out_format="csr", A=A, A_sum=x)
    torch.testing.assert_close(sparse.to_dense(), dense @ x)
    with pytest.raises(tulle.UserError, match="dimension 0 of 'A_sum' is 5"):
        tulle.compute(text, A=A, A_sum=x[:5])
    shown = str(tulle.explain(text, A=A, A_sum=x))
    assert "A_acc[i,k] = sum(j, A[i,j] * A_sum[j,k])" in shown


INDICES = [("i", "io"), ("jr", "j"), ("i", "i_1"), ("i", "i_0s"), ("i", "i_j"), ("A_0", "A_1")]


@pytest.mark.parametrize(
    ("i", "j"),
    [
        *INDICES,
        *(("i", "A_as0_0"), ("i", "i_block"), ("p", "chunk"), ("for", "read"), ("at", "in")),
        *(("let", "if"), ("i64", "host"), ("inf", "nan"), ("forall", "nest"), ("outer", "extent")),
    ],
)
def test_indices_have_any_name(i: str, j: str, dense: torch.Tensor) -> None:
    x = torch.rand(6)
    for form in ("csr", "csc", "bsr(2,2)", "dia"):
        A = tulle.tensor(dense, format=form)
        rows = tulle.compute(f"C[{i}] = A[{i},{j}] * x[{j}]", A=A, x=x)
        torch.testing.assert_close(rows, dense @ x)
        turned = tulle.compute(f"C[{j},{i}] = A[{i},{j}]", A=A)
        torch.testing.assert_close(turned.to_dense(), dense.T)
        text = f"S[{i}] = A[{i},{j}]; C[{j},{i}] = A[{j},{i}] * x[{j}] * S[{i}]"
        both = tulle.compute(text, A=A, x=x)
        torch.testing.assert_close(both.to_dense(), dense * x[:, None] * dense.sum(1))


def test_what_is_tuned_can_be_written_by_hand(dense: torch.Tensor) -> None:
    A, x = tulle.tensor(dense, format="csr"), torch.rand(6, 8)
    text = "A_acc[i,k] = A[i,j] * A_sum[j,k]"
    found = tulle.tune(text, A=A, A_sum=x, seconds=0.3)
    torch.testing.assert_close(tulle.compute(text, A=A, A_sum=x), dense @ x)
    kernel = tulle.kernel(text).schedule(found.schedule)
    torch.testing.assert_close(kernel(A=A, A_sum=x), dense @ x)
