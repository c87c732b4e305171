"""Errors show the user's text, and are raised as early as possible."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from helpers import assert_equal, random_dense, random_sparse

import tulle

A = tulle.tensor(random_sparse(4, 5))
B = random_dense(5, 6)
PRODUCT = "C[i,k] = A[i,j] * B[j,k]"
TWO = """
    T[i,k] = A[i,j] * B[j,k]      # a product
    r[i]   = T[i,k]  *  w[k]
"""


def message_of(action: Callable[[], object]) -> str:
    with pytest.raises((tulle.UserError, tulle.Unsupported)) as caught:
        action()
    return str(caught.value)


def shown(action: Callable[[], object]) -> list[str]:
    """The user's line and the carets under it."""
    return message_of(action).splitlines()[-2:]


def test_functions_in_place_name_the_values() -> None:
    with pytest.raises(tulle.Unsupported, match=r"normal_ is not supported.*pass A\.values\(\)"):
        torch.nn.init.normal_(tulle.eye(3))


def test_functions_of_torch_have_their_full_names() -> None:
    square = tulle.eye(3)
    for call, name, remedy in (
        (torch.linalg.solve, r"torch\.linalg\.solve", "A.to_scipy()"),
        (torch.det, r"torch\.det", "A.to_scipy()"),
        (torch.cdist, r"torch\.cdist", "to_dense()"),
        (torch.nn.functional.pairwise_distance, r"torch.*pairwise_distance", "to_dense()"),
    ):
        arguments = (square,) if call is torch.det else (square, square)
        with pytest.raises(tulle.Unsupported, match=f"^{name}.* is not supported") as caught:
            call(*arguments)
        assert remedy in str(caught.value)


def test_products_show_the_shapes_of_the_operands() -> None:
    given = tulle.tensor(torch.eye(3, 5))
    for _ in range(2):
        for left, right in (
            (given, torch.rand(4, 2)),
            (torch.rand(2, 4), given),
            (given, torch.rand(4)),
            (torch.rand(4), given),
            (given, given),
        ):
            shapes = f"{list(left.shape)} and {list(right.shape)} do not fit"
            with pytest.raises(tulle.UserError, match=re.escape(shapes)):
                torch.matmul(left, right)
        torch.matmul(given, torch.rand(5, 2)), torch.matmul(torch.rand(2, 3), given)


def test_names_of_reductions_are_suggested() -> None:
    edges = torch.tensor([[0, 1], [1, 2]])
    for call in (
        lambda: tulle.einsum("ij,jk->ik", A, B, reduce="max"),
        lambda: torch.sparse.mm(A, B, "max"),
        lambda: tulle.from_edge_index(edges, num_nodes=3, reduce="max"),
    ):
        assert "but found 'max'; did you mean 'amax'?" in message_of(call)


def test_names_in_texts_are_suggested() -> None:
    for call, suggestion in (
        (lambda: A.to(format="CSR"), "'CSR' (did you mean 'csr'?); the names are"),
        (lambda: A.to(format="bsrr(2,2)"), "'bsrr' (did you mean 'bsr'?)"),
        (lambda: A.to(format="hybb(1,1)"), "'hybb' (did you mean 'hyb'?)"),
        (lambda: tulle.compute("C[i,k] = A[i,j] * B[j,k]", A=A, b=B), "'B' (did you mean 'b'?)"),
        (lambda: tulle.compute("y[i,j] = sqrtt(A[i,j])", A=A), "'sqrtt' (did you mean 'sqrt'?)"),
        (lambda: tulle.compute("y[i,j] = rsqrt(A[i,j])", A=A), "'rsqrt' (write 1 / sqrt(x))"),
        (lambda: tulle.kernel(PRODUCT).schedule("paralel(i)"), "(did you mean 'parallel'?)"),
    ):
        assert suggestion in message_of(call)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("clamp", (0.6, 1.2)),
        ("gelu", ()),
        ("leaky_relu", (0.2,)),
        ("log2", ()),
        ("reciprocal", ()),
        ("rsqrt", ()),
        ("silu", ()),
        ("softplus", ()),
    ],
)
def test_expressions_in_place_of_functions_are_right(name: str, arguments: tuple[float]) -> None:
    x = torch.rand(6, dtype=torch.float64) + 0.5
    message = message_of(lambda: tulle.compute(f"y[i] = {name}(x[i])", x=x))
    found = re.search(r"\(write (.*)\); the functions", message)
    assert found
    text = re.sub(r"\bx\b", "x[i]", found[1]).replace("low", "0.6").replace("high", "1.2")
    function = getattr(torch, name, None) or getattr(torch.nn.functional, name)
    assert_equal(tulle.compute(f"y[i] = {text}", x=x), function(x, *arguments))


def test_types_are_those_of_torch() -> None:
    for given in ("float32", torch.rand(2).numpy().dtype):
        assert message_of(lambda given=given: tulle.tensor([1.0], dtype=given)).startswith(
            "dtype: expected a type of torch, one of bool, int32"
        )


def test_lines_and_columns_are_those_of_the_text() -> None:
    def run() -> object:
        return tulle.compute(TWO, A=A, B=B, w=random_dense(5))

    assert message_of(run).startswith(
        "index notation, line 3, column 27: the index 'k' has two extents: dimension 1 of 'T' is "
        "6, dimension 0 of 'w' is 5"
    )
    assert shown(run) == [
        "      r[i]   = T[i,k]  *  w[k]",
        "                   ^        ^",
    ]
    assert message_of(lambda: tulle.compute(TWO, A=A, B=B)).startswith(
        "index notation, line 3, column 25: there is no operand 'w'; the operands are A, B"
    )
    assert "'w' has rank 2" in message_of(lambda: tulle.compute(TWO, A=A, B=B, w=B))


def test_names() -> None:
    missing = message_of(lambda: tulle.compute(PRODUCT, A=A, b=B))
    assert "there is no operand 'B' (did you mean 'b'?); the operands are A, b" in missing
    assert message_of(lambda: tulle.compute(PRODUCT, A=A, B=B, D=B)) == (
        "'D' is given, but no statement reads it; they read A, B. Remove it, or use it."
    )
    assigned = message_of(lambda: tulle.compute(PRODUCT, A=A, B=B, C=B))
    assert "'C' is given as an operand, so it cannot be assigned" in assigned


def test_operands_may_be_called_like_parameters() -> None:
    dense = A.to_dense()
    assert_equal(tulle.compute("y[i] = text[i,j]", text=A), dense.sum(1))
    kernel = tulle.kernel("y[i] = text[i,j] * self[j]", text="csr", self="dense")
    assert_equal(kernel(text=A, self=B[:, 0]), dense @ B[:, 0])
    assert str(kernel.explain(text=A, self=B[:, 0]))


def test_equations_are_shown_as_they_were_written() -> None:
    def run() -> object:
        return tulle.einsum("ij , jk -> ik", A, random_dense(4, 6))

    assert "dimension 1 of operand 1 is 5, dimension 0 of operand 2 is 4" in message_of(run)
    assert shown(run) == ["  ij , jk -> ik", "   ^   ^"]
    broadcast = shown(lambda: tulle.einsum("ij,ij->ij", A, random_dense(1, 4)))
    assert broadcast == ["  ij,ij->ij", "   ^  ^"]
    ellipsis = shown(lambda: tulle.einsum("...j,...j->...", A, random_dense(3, 5)))
    assert ellipsis == ["  ...j,...j->...", "  ^^^  ^^^"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("C[i,k] = A[i,j] * B[j,k", r"column 24: expected ',' or '\]'"),
        ("C[i,k] = A[i,j] * B[j,l]", "column 5: the index 'k' is on the left only"),
        ("C[i,k] = A[i,j] * A[i] * B[j,k]", "column 19: 'A' has 1 index here"),
        ("y[i] = relu(A[i,j])", "column 8: 'relu' is not linear"),
    ],
)
def test_kernels_read_their_text_at_once(text: str, message: str) -> None:
    with pytest.raises(tulle.UserError, match=message):
        tulle.kernel(text)


def test_kernels_know_their_operands_and_results() -> None:
    with pytest.raises(tulle.UserError, match="for b, which no statement reads; they read A, B"):
        tulle.kernel(PRODUCT, A="csr", b="dense")
    with pytest.raises(tulle.UserError, match="for D, which no statement assigns; they assign C"):
        tulle.kernel(PRODUCT).out_format(D="csr")


@pytest.mark.parametrize(
    ("text", "schedule", "message"),
    [
        (PRODUCT, "foo(i)", "column 1: there is no rewrite 'foo'; they are split"),
        (PRODUCT, "parallel i", r"column 10: expected '\('"),
        (PRODUCT, "unroll(j, j)", "column 11: argument 2 should be a number"),
        (
            PRODUCT,
            "unroll(j, 2); split(k, 0, a, b)",
            "column 24: argument 2 should be 1 to .* but 0",
        ),
        (PRODUCT, "split(k, 4, a, a)", "column 16: 'a' stands twice"),
        (PRODUCT, "vectorize(k, 6)", "column 14: argument 2 should be 2 to 64 lanes, a power of"),
        (PRODUCT, "unroll(j, 1)", "column 11: argument 2 should be 2 to 128 copies, or 0 for all"),
        (PRODUCT, "reorder(i, i)", "column 12: 'i' stands twice"),
        (PRODUCT, "decompose(A, csr)", "column 1: the format csr has no parts"),
        (PRODUCT, "decompose(A, hyb(0,3))", "The format 'hyb' takes the number of column ranges"),
        (PRODUCT, "C: decompose(A, hyb(1,3))", "column 1: an operand is decomposed for all"),
        (PRODUCT, "split(k, 4)", "'split' does not take 2 arguments"),
        (PRODUCT, "parallel(i, by=cols)", "column 13: 'by' has no such value"),
        (PRODUCT, "parallel(i)\n unroll(q, 2)", "line 2, column 9: .* have the index 'q'"),
        (PRODUCT, "prefetch(D, 4)", "the operand 'D'; it has A, B"),
        (TWO, "parallel(q)", "no statement has the index 'q'; T has i, k, j; r has i, k"),
        (TWO, "r: unroll(j, 2)", "column 11: the statement of 'r' does not have the index 'j'"),
        (TWO, "C: parallel(i)", "column 1: no statement assigns 'C'; they assign T, r"),
        (TWO, "precompute(acc)", "several statements; say which one this is for"),
    ],
)
def test_schedules_are_read_at_once(text: str, schedule: str, message: str) -> None:
    with pytest.raises(tulle.UserError, match=message):
        tulle.kernel(text).schedule(schedule)


def advised(schedule: str, message: str) -> list[str]:
    """The schedules that an error about a sparse result proposes in place of this one."""
    line = message.splitlines()[0]
    added = re.search("; add (.*), or ask for a dense result", line)
    if added:
        return [f"{schedule}; {step}" for step in added[1].split(" or ")]
    before, _, _ = schedule.rpartition("; ")
    tracked = re.search(r"; track that, (.*)\.$", line)
    assert tracked or line.endswith("leave precompute out."), line
    return ["; ".join(filter(None, [before, tracked[1]]))] if tracked else [before]


@pytest.mark.parametrize(
    ("formats", "schedule"),
    [
        (("csr", "csr"), "unroll(j, 2)"),
        (("csr", "csr"), "parallel(i)"),
        (("csr", "csr"), "reorder(k, i, j)"),
        (("csr", "csr"), "split(k, 4, k0, k1)"),
        (("csr", "csr"), "split(i, 4, i0, i1); parallel(i0)"),
        (("csr", "csr"), "precompute(sums, k)"),
        (("csr", "csr"), "reorder(i, k, j); precompute(sums)"),
        (("csc", "csc"), "unroll(k, 2)"),
        (("coo", "coo"), "reorder(k, j, i); precompute(sums, i)"),
        (("bsr(2,2)", "bsr(2,2)"), "unroll(k.outer, 2)"),
        (("bsr(2,2)", "bsr(2,2)"), "precompute(sums, (k.outer, i.inner, k.inner))"),
    ],
)
def test_advice_for_sparse_results_is_good(formats: tuple[str, str], schedule: str) -> None:
    a = random_sparse(8, 8)
    first, second = (tulle.tensor(a, format=format) for format in formats)
    kernel = tulle.kernel(PRODUCT)

    def run(steps: str) -> tulle.SparseTensor:
        return kernel.schedule(steps)(A=first, B=second)

    refused = [schedule]
    for text in refused:
        for better in advised(text, message_of(lambda text=text: run(text))):
            try:
                assert_equal(run(better), a @ a)
            except tulle.UserError:  # there is more to do
                refused.append(better)
    assert len(refused) <= 2


def test_advice_for_one_of_several_statements_names_it() -> None:
    kernel = tulle.kernel("C[i,k] = A[i,j] * B[j,k]; D[i,j] = B[i,k] * E[k,j]")
    a, b, e = (
        tulle.tensor(random_sparse(*size), format="csr") for size in ((8, 6), (6, 4), (4, 8))
    )

    def run(steps: str) -> tuple[tulle.SparseTensor, tulle.SparseTensor]:
        return kernel.schedule(steps)(A=a, B=b, E=e)

    better = advised("D: unroll(i, 2)", message_of(lambda: run("D: unroll(i, 2)")))
    steps = ["D: precompute(acc, j, tracked)", "D: reorder(i, j, k)"]
    assert better == [f"D: unroll(i, 2); {step}" for step in steps]
    for schedule in better:
        c, d = run(schedule)
        assert_equal(c, a.to_dense() @ b.to_dense())
        assert_equal(d, b.to_dense() @ e.to_dense())


def test_kernels_given_in_place_of_text() -> None:
    kernel = tulle.kernel(PRODUCT)
    assert message_of(lambda: tulle.explain(kernel)).endswith(  # type: ignore[arg-type]
        "but found Kernel; write kernel.explain(A=A, B=B)."
    )
    assert message_of(lambda: tulle.compute(kernel, A=A, B=B)).endswith(  # type: ignore[arg-type]
        "but found Kernel; write kernel(A=A, B=B)."
    )
    assert message_of(lambda: tulle.explain(A)).endswith(  # type: ignore[arg-type]
        "but found SparseTensor."
    )


def test_kernels_print_what_they_are() -> None:
    kernel = tulle.kernel(PRODUCT, A="csr")
    assert repr(kernel) == f"tulle.Kernel(A: csr, B: any)\n  {PRODUCT}"
    several = tulle.kernel(TWO, A="bsr(2,2)", w="dense").out_format(r="coo").features("avx2")
    assert repr(several.checked().schedule("parallel(i)\n  T: unroll(j, 2)")).splitlines() == [
        "tulle.Kernel(A: bsr(2,2), B: any, w: dense -> r: coo)",
        "  T[i,k] = A[i,j] * B[j,k]      # a product",
        "  r[i]   = T[i,k]  *  w[k]",
        "schedule:",
        "  parallel(i)",
        "    T: unroll(j, 2)",
        "features: avx2",
        "checked",
    ]


def test_refused_steps_are_shown_as_they_were_written() -> None:
    kernel = tulle.kernel(PRODUCT).schedule("# all\nunroll(j,2)\n\n  parallel( k )")
    message = message_of(lambda: kernel(A=A, B=B))
    assert message.startswith("schedule, line 4, column 3: Only an outermost loop")
    assert message.splitlines()[1:] == ["    parallel( k )", "    ^^^^^^^^^^^^^"]
    sparse = tulle.kernel(PRODUCT).out_format(C="csr").schedule("unroll(j,2); reorder(k, i)")
    assert shown(lambda: sparse(A=A, B=B)) == [
        "  unroll(j,2); reorder(k, i)",
        "               ^^^^^^^^^^^^^",
    ]


def test_steps_are_for_the_statements_that_have_their_indices() -> None:
    a, b, w = A.to_dense(), B, random_dense(6)
    kernel = tulle.kernel(TWO).schedule(
        """
        parallel(i)                # of both
        T: unroll(j, 2)
        r: precompute(sum)
        """
    )
    assert_equal(kernel(A=A, B=b, w=w), a @ b @ w)
    schedules = [
        line.removeprefix("schedule: ")
        for line in kernel.explain(A=A, B=b, w=w).stages["plan"].splitlines()
        if line.startswith("schedule: ")
    ]
    assert schedules == ["parallel(i); T: unroll(j, 2)", "parallel(i); r: precompute(sum)"]
    only = tulle.kernel(TWO).schedule("T: unroll(j, 2)")
    assert_equal(only(A=A, B=b, w=w), a @ b @ w)


def test_an_index_of_another_extent_keeps_its_name_in_schedules() -> None:
    x = random_dense(6)
    text = "T[i] = A[i,j]; r[i] = B[i,j] * x[j]"
    kernel = tulle.kernel(text).schedule("r: split(j, 2, j0, j1); r: unroll(j1, 0); unroll(j, 2)")
    with pytest.raises(tulle.UserError, match="for the statement of 'r'"):
        kernel(A=A, B=B, x=x)
    kernel = tulle.kernel(text).schedule("r: split(j, 2, j0, j1); r: unroll(j1, 2)")
    rows, product = kernel(A=A, B=B, x=x)
    assert_equal(rows, A.to_dense().sum(1))
    torch.testing.assert_close(product, B @ x)


def test_kernel_says_where_formats_of_results_are_given() -> None:
    with pytest.raises(tulle.UserError, match=re.escape('kernel(...).out_format(C="csr")')):
        tulle.kernel("C[i,j] = A[i,j] * 2", A="csr", out_format="csr")


@pytest.mark.parametrize("candidates", [-3, "3", 2.5, None])
def test_candidates_are_a_count(candidates: Any) -> None:
    assert message_of(lambda: tulle.explain("ij->i", A, candidates=candidates)) == (
        f"explain: candidates must be an integer of at least 0, but found {candidates!r}."
    )


def test_what_to_write_instead() -> None:
    kernel = tulle.kernel("y[i] = A[i,j] * x[j]")
    assert message_of(lambda: kernel(A, random_dense(6))) == (
        "A kernel's operands are given by name; write kernel(A=A, x=x)."
    )


SMALL = tulle.rand(4, 5, nnz=8).to(torch.float64)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: SMALL.std(9), "^std: there is no dimension 9"),
        (lambda: torch.std(SMALL, 9), "^std: there is no dimension 9"),
        (lambda: SMALL.max(5), "^max: there is no dimension 5"),
        (lambda: SMALL.swapaxes(0, 9), "^swapaxes: there is no dimension 9"),
        (lambda: torch.swapdims(SMALL, 0, 9), "^swapaxes: there is no dimension 9"),
        (lambda: SMALL.roll("x"), "^roll: a shift must be an integer, but found 'x'"),
        (lambda: SMALL.reshape("x"), r"^reshape: the sizes must be integers, but found \['x'\]"),
        (lambda: tulle.rand(3, 4, density="x"), "^rand: the density is between 0 and 1"),
        (lambda: tulle.rand(3, 4, nnz=3, generator=3), "^rand: generator is a torch.Generator"),
        (lambda: tulle.load(3), "^load: expected the path of a file, but found int"),
        (lambda: tulle.save(SMALL, 3), "^save: expected the path of a file, but found int"),
        (lambda: tulle.nn.SparseParameter(SMALL) * 2, r"no tensor; .* module\(\)"),
        (lambda: SMALL + tulle.nn.SparseParameter(SMALL), r"no tensor; .* module\(\)"),
        (lambda: torch.mm(SMALL, torch.ones(5)), "^mm: expected operands of rank 2 and 2"),
        (lambda: SMALL.mm(torch.ones(5)), "^mm: expected operands of rank 2 and 2"),
        (lambda: SMALL.mv(torch.ones(5, 2)), "^mv: expected operands of rank 2 and 1"),
        (lambda: torch.bmm(SMALL, torch.ones(5, 2)), "^bmm: expected operands of rank 3 and 3"),
        (lambda: SMALL[torch.tensor([0, 1]).to_sparse()], "^An index tensor has the layout"),
    ],
)
def test_messages_name_what_was_called(call: Any, message: str) -> None:
    with pytest.raises(tulle.UserError, match=message):
        call()


def test_errors_and_tensors_have_the_names_of_the_package() -> None:
    with pytest.raises(IndexError) as caught:
        SMALL[99]
    assert (caught.type.__module__, type(SMALL).__module__) == ("tulle", "tulle")
    assert pickle.loads(pickle.dumps(tulle.SparseTensor)) is tulle.SparseTensor


@pytest.mark.parametrize("layout", [torch.sparse_coo, torch.sparse_csr])
def test_sparse_masks_of_torch_select_elements(layout: torch.layout) -> None:
    mask = torch.rand(4, 5, generator=torch.Generator().manual_seed(1)) < 0.5
    found = SMALL[mask.to_sparse(layout=layout)]
    assert_equal(found, SMALL.to_dense()[mask])
