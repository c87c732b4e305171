"""Index notation from Python: compute, kernels with schedules, explain."""

from __future__ import annotations

import re

import pytest
import torch
from helpers import assert_equal, random_dense, random_sparse

import tulle


def test_sampled_product_shares_the_mask() -> None:
    mask, q, k = random_sparse(5, 6), random_dense(5, 3), random_dense(6, 3)
    a = tulle.tensor(mask)
    result = tulle.compute("S[i,j] = A[i,j] * Q[i,d] * K[j,d]", A=a, Q=q, K=k)
    assert result.pattern is a.pattern
    assert_equal(result, mask * (q @ k.T))


def test_sums_are_per_term() -> None:
    a, x, b = random_sparse(5, 6), random_dense(6), random_dense(5)
    result = tulle.compute("y[i] = b[i] + A[i,j] * x[j]", A=tulle.tensor(a), x=x, b=b)
    assert_equal(result, b + a @ x)


def test_several_statements_and_results() -> None:
    a, b = random_sparse(5, 6), random_sparse(6, 4, seed=1)
    text = """
        C[i,k] = A[i,j] * B[j,k]
        r[i] = C[i,k]
        D[i,j] = A[i,j] * 2
    """
    rows, doubled = tulle.compute(text, A=tulle.tensor(a), B=tulle.tensor(b))
    assert_equal(rows, (a @ b).sum(1))
    assert_equal(doubled, a * 2)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_numbers_give_way_to_the_types_of_tensors(dtype: torch.dtype) -> None:
    a = random_sparse(4, 5, dtype=dtype)
    tensor = tulle.tensor(a)
    assert_equal(tulle.compute("C[i,j] = A[i,j] * s", A=tensor, s=0.1), a * 0.1)
    assert_equal(tulle.compute("C[i,j] = A[i,j] * s", A=tensor, s=3), a * 3)


def test_numbers_beside_integers() -> None:
    a = random_sparse(4, 5, dtype=torch.int32)
    tensor = tulle.tensor(a)
    assert_equal(tulle.compute("C[i,j] = A[i,j] * s", A=tensor, s=3), a * 3)
    assert_equal(tulle.compute("C[i,j] = A[i,j] * s", A=tensor, s=0.5), a * 0.5)


def test_out_format() -> None:
    a, b = random_sparse(4, 5), random_sparse(5, 6, seed=1)
    tensors = {"A": tulle.tensor(a), "B": tulle.tensor(b)}
    text = "C[i,k] = A[i,j] * B[j,k]"
    assert tulle.compute(text, out_format="dcsr", **tensors).format == "dcsr"
    assert tulle.compute(text, out_format={"C": tulle.Format("coo")}, **tensors).format == "coo"
    with pytest.raises(tulle.UserError, match="2 results"):
        tulle.compute(text + "; D[i] = A[i,j]", out_format="csr", **tensors)


def test_wrong_text_shows_the_place() -> None:
    with pytest.raises(tulle.UserError, match=r"\^"):
        tulle.compute("C[i,k] = A[i,j] ** B[j,k]", A=torch.eye(2), B=torch.eye(2))
    with pytest.raises(tulle.UserError, match="no operand 'B'"):
        tulle.compute("C[i,k] = A[i,j] * B[j,k]", A=tulle.tensor(torch.eye(2)))
    with pytest.raises(tulle.UserError, match="no statement reads it"):
        tulle.compute("C[i] = A[i,j]", A=tulle.tensor(torch.eye(2)), B=torch.eye(2))
    with pytest.raises(tulle.Unsupported, match="sizes="):
        tulle.compute("C[i,j] = A[i,j]", sizes={"i": 1}, A=tulle.tensor(torch.eye(2)))


SCHEDULE = """split(k, 8, k0, k1); reorder(i, k0, j, k1); parallel(i, by=nnz);
    vectorize(k1, 8); unroll(j, 2)"""


@pytest.mark.parametrize(
    ("rows", "columns", "entries"),
    [(50, 60, 0), (1000, 1000, 50), (4, 60, 1), (1, 3, 2), (5, 0, 0), (0, 5, 0)],
)
def test_a_schedule_fits_whatever_the_operands_hold(rows: int, columns: int, entries: int) -> None:
    a = torch.zeros(rows, columns, dtype=torch.float64)
    if entries:
        a.view(-1)[torch.randperm(rows * columns)[:entries]] = 1
    b = random_dense(columns, 40)
    for format, schedule in [("csr", SCHEDULE), ("bsr(4,4)", "parallel(i.outer)")]:
        kernel = tulle.kernel("C[i,k] = A[i,j] * B[j,k]").schedule(schedule)
        assert_equal(kernel(A=tulle.tensor(a, format=format), B=b), a @ b)


@pytest.mark.parametrize("columns", [1, 2, 300])
@pytest.mark.parametrize("entries", [0, 10, 5000])
def test_loops_of_a_schedule_stand_in_one_order(columns: int, entries: int) -> None:
    a = torch.zeros(100, 100, dtype=torch.float64)
    a.view(-1)[torch.randperm(10000)[:entries]] = 1
    b = random_dense(100, columns)
    kernel = tulle.kernel("C[i,k] = A[i,j] * B[j,k]").schedule("parallel(i, by=rows)")
    assert_equal(kernel(A=tulle.tensor(a, format="csr"), B=b), a @ b)


@pytest.mark.parametrize(
    "formats", [("csr", "csr"), ("dcsr", "csr"), ("coo", "coo"), ("csc", "csc")]
)
def test_schedules_of_sparse_results_do_not_hang_on_entries(formats: tuple[str, str]) -> None:
    verdicts = set()
    for entries in (0, 1, 40, 3600):
        a = torch.zeros(60, 60, dtype=torch.float64)
        a.view(-1)[torch.randperm(3600)[:entries]] = 1
        first, second = (tulle.tensor(a, format=format) for format in formats)
        kernel = tulle.kernel("C[i,k] = A[i,j] * B[j,k]")
        for schedule in ("parallel(i)", "unroll(k, 2)", "parallel(k)"):
            try:
                assert_equal(kernel.schedule(schedule)(A=first, B=second), a @ a)
                verdicts.add((schedule, "legal"))
            except tulle.UserError as error:
                verdicts.add((schedule, str(error)))
    assert len(verdicts) == 3, verdicts


def test_kernel_with_a_schedule() -> None:
    a, b = random_sparse(20, 30), random_dense(30, 16)
    kernel = tulle.kernel("C[i,k] = A[i,j] * B[j,k]", A="csr", B="dense")
    tensor = tulle.tensor(a, format="csr")
    assert_equal(kernel(A=tensor, B=b), a @ b)
    assert_equal(kernel.schedule(SCHEDULE)(A=tensor, B=b), a @ b)
    staged = "precompute(acc, k); vectorize(k, 8); stage(B, j, registers, 2)"
    assert_equal(kernel.schedule(staged)(A=tensor, B=b), a @ b)
    assert_equal(kernel.features("avx2")(A=tensor, B=b), a @ b)
    assert_equal(kernel.checked()(A=tensor, B=b), a @ b)
    assert kernel.out_format(C="csr")(A=tensor, B=b).format == "csr"


@pytest.mark.parametrize("format", ["csr", "coo", "bsr(2,3)", "dia", "ell(6)", "dcsr", "bitmap"])
def test_planned_schedules_may_be_given_back(format: str) -> None:
    a = torch.diag(random_dense(11), 1) + torch.diag(random_dense(10), -2)  # 12 x 12
    b, x = random_dense(12, 16), random_dense(12)
    tensor = tulle.tensor(a, format=format)
    kernel = tulle.kernel("C[i,k] = A[i,j] * B[j,k]; y[j] = A[j,l] * x[l]")
    found = {"C": "", "y": ""}
    for name, text in (("C", "C[i,k] = A[i,j] * B[j,k]"), ("y", "y[j] = A[j,l] * x[l]")):
        operands = {"A": tensor, "B": b} if name == "C" else {"A": tensor, "x": x}
        plan = tulle.explain(text, **operands).stages["plan"]
        found[name] = re.findall(r"^schedule: (.*)$", plan, re.M)[-1]
        assert_equal(
            tulle.kernel(text).schedule(found[name])(**operands), a @ (b if "B" in operands else x)
        )
    steps = [f"{name}: {step}" for name, text in found.items() for step in text.split("; ") if step]
    c, y = kernel.schedule("\n".join(steps))(A=tensor, B=b, x=x)
    assert_equal(c, a @ b)
    assert_equal(y, a @ x)


def test_loops_over_diagonals_have_names() -> None:
    a = torch.diag(random_dense(11), 1) + torch.diag(random_dense(10), -2)
    tensor, b = tulle.tensor(a, format="dia"), random_dense(12, 16)
    kernel = tulle.kernel("C[i,k] = A[i,j] * B[j,k]")
    for schedule in (
        "unroll(j.minus.i, 2)",
        "reorder(j.minus.i, i)",
        "precompute(acc, k); unroll(j.minus.i, 4)",
    ):
        assert_equal(kernel.schedule(schedule)(A=tensor, B=b), a @ b)
    with pytest.raises(
        tulle.UserError, match=r"'j\.minus\.i' runs over the differences of 'j' and 'i'"
    ):
        kernel.schedule("split(j.minus.i, 2, j0, j1)")(A=tensor, B=b)
    with pytest.raises(tulle.UserError, match=r"no loop over 'j'; the loops are i, j\.minus\.i, k"):
        kernel.schedule("unroll(j, 2)")(A=tensor, B=b)


def test_kernel_refuses_other_formats_and_schedules() -> None:
    a, b = random_sparse(20, 30), random_dense(30, 16)
    kernel = tulle.kernel("C[i,k] = A[i,j] * B[j,k]", A="csr", B="dense")
    with pytest.raises(tulle.UserError, match=r"stored as csc, .* takes csr: A.to\(format='csr'\)"):
        kernel(A=tulle.tensor(a, format="csc"), B=b)
    with pytest.raises(tulle.UserError, match=r"tulle.tensor\(A, format='csr'\)"):
        kernel(A=a, B=b)
    with pytest.raises(tulle.UserError, match="there is no operand 'B'"):
        kernel(A=tulle.tensor(a))
    with pytest.raises(tulle.UserError, match="frobnicate"):
        kernel.schedule("frobnicate(i)")


def test_explain() -> None:
    a, b = tulle.tensor(random_sparse(20, 30)), random_dense(30, 16)
    explanation = tulle.explain("ij,jk->ik", a, b)
    assert str(explanation) == repr(explanation)
    assert {"expr", "plan", "nest", "lower", "codegen"} <= set(explanation.stages)
    assert "<details>" in explanation._repr_html_()
    named = tulle.explain("C[i,k] = A[i,j] * B[j,k]", A=a, B=b)
    assert "A" in str(named)
    assert str(tulle.kernel("C[i,k] = A[i,j] * B[j,k]").explain(A=a, B=b))


def test_explanations_begin_with_a_summary() -> None:
    dense = random_sparse(30, 20)
    a, b = tulle.tensor(dense, format="csr"), torch.randn(20, 16)
    shown = tulle.explain("ij,jk->ik", a, b)
    assert str(shown).startswith("== summary ==")
    assert len(shown.summary.splitlines()) <= 10
    assert "loops i j k; threads share i by entries" in shown.summary
    assert re.search(r"^operands +about [\d.]+ kB$", shown.summary, re.MULTILINE)
    assert re.search(r"^estimated +about [\d.]+ (us|ms)$", shown.summary, re.MULTILINE)
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        columns = tulle.explain("C[i,k] = A[j,i] * B[j,k]", A=a, B=torch.randn(30, 16)).summary
        means = tulle.explain("m[j] = mean(i, A[i,j])", A=a).summary
        parts = tulle.explain("C[i,k] = A[i,j] * A[k,j]", A=a.to(format="hyb(2,2)")).summary
    finally:
        torch.set_num_threads(threads)
    assert "one thread, because the outer loop j sums into the same elements" in columns
    assert "loops i j; one thread, because the outer loop i sums into the same elements" in means
    assert "more nests" in parts and len(parts.splitlines()) == 10
    general = tulle.explain("ij,jk->ik", a, tulle.tensor(dense.T, format="coo").T.T).summary
    assert "extra work" in general
    assert shown["plan"] == shown.stages["plan"]
    with pytest.raises(tulle.UserError, match="no stage is named 'plans'; there are summary, expr"):
        shown["plans"]
    assert shown[:11] == str(shown)[:11] and shown[-20::2] == str(shown)[-20::2]
    for wrong in (["plan"], 0):
        with pytest.raises(tulle.UserError, match=re.escape(f"no stage is named {wrong!r};")):
            shown[wrong]  # type: ignore[index]


def test_explanations_show_what_gradients_keep() -> None:
    a, x = tulle.tensor(random_sparse(20, 30)), random_dense(30)
    text = "E[i,j] = exp(A[i,j] * x[j]); s[i] = logsumexp(j stored, E[i,j])"
    lines = tulle.explain(text, A=a, x=x)["gradients"].splitlines()
    assert lines[0].split() == ["towards", "A,", "x"]
    assert lines[1].startswith("keeps        A (") and lines[1].endswith(
        "x (240 bytes), s (a result)"
    )
    assert lines[2].split() == ["computes", "E", "again"]
    assert any(line.startswith("grad_x[j] = ") for line in lines)
    only = tulle.explain(text, A=a, x=x.requires_grad_())["gradients"]
    assert "towards      x\n" in only and "grad_A" not in only
    composite = tulle.explain("ij,jk->ik", a.to(format="hyb(2,2)"), random_dense(30, 4))
    assert "towards      operand 1, operand 2\n" in composite["gradients"]
    assert "gradients" not in tulle.explain("y[i] = argmax(j, A[i,j])", A=a).stages


PADDED = ("bsr(2,2)", "dia", "ragged", "dia-csr(1,1)")


@pytest.mark.parametrize("format", ["csr", "ell(9)", "bitmap", "hyb(1,2)", *PADDED])
def test_explain_tells_of_padding_that_is_seen(format: str) -> None:
    a = tulle.tensor(random_sparse(9, 9), format=format)
    over_entries = str(tulle.explain("y[i] = max(j in A[i,j], A[i,j])", A=a))
    assert ("stores padding" in over_entries) == (format in PADDED)
    assert "stores padding" not in str(tulle.explain("y[i] = A[i,j]", A=a))


def test_absent_factors_stay_absent_where_rows_are_merged() -> None:
    data = torch.tensor([[0.0, 1.0]])
    a = tulle.tensor(data, format="csr")
    c = tulle.tensor(torch.tensor([[5.0, 0.0]]), format="csr")
    b = torch.full((1, 2), torch.inf)
    found = tulle.compute("D[i,j] = A[i,j] * B[i,j] + C[i,j]", A=a, B=b, C=c)
    assert found.to_dense().tolist() == [[5.0, torch.inf]]


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "dcsr", "ell(8)", "hyb(1,2)"])
def test_what_comes_of_products(format: str) -> None:
    """Sums of products in larger expressions, with columns and possibly empty rows."""
    dense = random_sparse(6, 8, density=0.4)
    dense[2] = 0
    a, x, d = tulle.tensor(dense, format=format), random_dense(8, 5), random_dense(6)
    d[2], d[4] = 0, 0  # an absent numerator stays absent, a sum does not
    product = dense @ x
    activated = tulle.compute("C[i,k] = relu(sum(j, A[i,j] * X[j,k]))", A=a, X=x)
    assert_equal(activated, torch.relu(product))
    divided = (product / d[:, None]).index_fill_(0, torch.tensor([2]), 0)
    for text, wanted in [
        ("sum(j, A[i,j] * X[j,k]) / d[i]", divided),
        ("sum(j, A[i,j] * X[j,k]) / d[i] + 1", divided + 1),
        ("2 * sum(j, A[i,j] * X[j,k]) / d[i]", 2 * divided),
        ("sum(j, A[i,j] * X[j,k]) / d[i] / (d[i] * d[i] + 1)", divided / (d * d + 1)[:, None]),
    ]:
        assert_equal(tulle.compute(f"C[i,k] = {text}", A=a, X=x, d=d), wanted)
    empty = tulle.compute("C[i,k] = sum(j, A[i,j] * X[j,k]) / d[i] / z[i]", A=a, X=x, d=d, z=0 * d)
    assert (empty[2] == 0).all()
    assert not empty[[0, 1, 3, 5]].isfinite().any()


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "dcsr", "ell(3)", "hyb(1,1)"])
def test_sums_over_nothing_have_no_sign_in_denominators(format: str) -> None:
    dense = torch.tensor([[1.0, 0, 2], [0, 0, 0], [0, -3, 4]])
    a, x = tulle.tensor(dense, format=format), random_dense(3, 4).abs() + 1
    for text in ("1 / -sum(j, A[i,j])", "1 / (-2 * sum(j, A[i,j]))", "1 / sum(j, A[i,j])"):
        assert tulle.compute(f"y[i] = {text}", A=a)[1] == torch.inf
    columns = tulle.compute("C[i,k] = 1 / -sum(j, A[i,j] * X[j,k])", A=a, X=x.float())
    assert (columns[1] == torch.inf).all()


@pytest.mark.parametrize(
    "format", ["csf", "coo", "(i,j,k) -> (i: dense, j: compressed, k: bitmap)"]
)
def test_many_sparse_operands_in_one_statement(format: str) -> None:
    """The statement has far more lattice points than a kernel has bodies."""
    names = "ABDEFGHK"
    dense = {
        name: random_sparse(3, 4, 5, density=0.3, seed=seed) for seed, name in enumerate(names)
    }
    tensors = {name: tulle.tensor(one, format=format) for name, one in dense.items()}
    a, b, d, e, f, g, h, k = dense.values()
    terms = "(A + B) * D - max(E, F * G) + H / 2 + square(K)"
    value = re.sub(r"([A-Z])", r"\1[i,j,k]", terms)
    found = tulle.compute(f"R[i,j,k] = {value}", **tensors)
    expected = (a + b) * d - torch.maximum(e, f * g) + h / 2 + k**2
    assert_equal(found.to_dense(), expected)
    sums = tulle.compute(f"y[i] = sum((j,k), {value})", **tensors)
    assert_equal(sums, expected.sum((1, 2)))


@pytest.mark.parametrize("layout", ["sparse_coo", "sparse_csr", "sparse_csc"])
def test_sparse_tensors_of_torch_are_operands(layout: str) -> None:
    text, x = "y[i] = A[i,j] * x[j]", random_dense(5)
    expected = random_sparse(4, 5)
    given = expected.to_sparse(layout=getattr(torch, layout))
    for _ in range(2):
        assert_equal(tulle.compute(text, A=given, x=x), expected @ x)
        assert_equal(tulle.compute(text, A=tulle.tensor(expected), x=x.to_sparse()), expected @ x)
        assert_equal(tulle.compute(text, A=expected, x=x), expected @ x)
        assert_equal(tulle.kernel(text)(A=given, x=x), expected @ x)
    assert "A[i,j] * x[j]" in tulle.explain(text, A=given, x=x).summary
    values = tulle.tensor(given).values().clone().requires_grad_()
    if layout == "sparse_csr":
        learned = torch.sparse_csr_tensor(
            given.crow_indices(), given.col_indices(), values, given.shape
        )
        tulle.compute(text, A=learned, x=x).sum().backward()
        assert_equal(values.grad, x[given.col_indices()])


def test_modules_are_no_operands() -> None:
    module = tulle.nn.SparseParameter(tulle.eye(3))
    with pytest.raises(tulle.UserError, match=r"A: .*found SparseParameter; call the module"):
        tulle.compute("y[i] = A[i,j]", A=module)
