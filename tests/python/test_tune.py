"""The search: what it tries and stores, which computations use that, and errors."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from helpers import assert_equal, random_dense, random_sparse

import tulle
from tulle.programs.candidates import Candidate
from tulle.tuning import search
from tulle.tuning.progress import progress_bar
from tulle.tuning.race import Measured
from tulle.tuning.result import Decision
from tulle.tuning.space import problem_of
from tulle.tuning.store import forget_tuned_plans, store_decision, stored_schedule, tuned_plans

SHORT = 0.3  # seconds of a search


@pytest.fixture(autouse=True)
def forget() -> Any:
    """Removes tuned plans before and after each test."""
    forget_tuned_plans()
    yield
    forget_tuned_plans()


def operands(width: int = 24) -> tuple[tulle.SparseTensor, torch.Tensor]:
    dense = random_sparse(60, 50, density=0.2, dtype=torch.float32)
    return tulle.tensor(dense, format="csr"), random_dense(50, width, dtype=torch.float32)


def schedule_in_use(A: Any, B: Any) -> str:
    plan = tulle.explain("C[i,k] = A[i,j] * B[j,k]", A=A, B=B).stages["plan"]
    return plan.split("schedule: ")[1].splitlines()[0]


def force(A: Any, B: Any, schedule: str) -> None:
    """Stores this schedule as the result of a search."""
    problem = problem_of("tune", "ij,jk->ik", (A, B), {}, None)
    best = Measured(Candidate(tuple(problem.formats().items()), schedule))
    store_decision(problem, Decision(best, 1e-6, 2e-6), "found by a test")


def test_measures_several_candidates_and_is_never_worse() -> None:
    A, B = operands()
    found = tulle.tune("ij,jk->ik", A, B, seconds=1.0)
    assert len(found.measured) > 3
    assert found.default in found.measured and found.default.is_default
    assert found.speedup >= 1
    assert found.schedule and list(found.formats) == ["t0"]
    assert (found.pays_after == 0) == (found.formats == {"t0": "csr"})
    assert "planned by rule" in str(found)
    assert_equal(A @ B, A.to_dense() @ B)


def test_einsum_compute_and_product_use_what_was_found() -> None:
    A, B = operands()
    expected = A.to_dense() @ B
    assert_equal(A @ B, expected)  # compiled with the default before
    assert "unroll(j, 8)" not in schedule_in_use(A, B)
    force(A, B, "precompute(acc, (k)); unroll(j, 8); vectorize(k, 4); parallel(i, by=rows)")
    assert "unroll(j, 8)" in schedule_in_use(A, B)
    assert "tuning" in tulle.explain("ij,jk->ik", A, B).stages
    assert_equal(A @ B, expected)
    assert_equal(tulle.einsum("ij,jk->ik", A, B), expected)
    assert_equal(tulle.compute("D[a,b] = X[a,c] * Y[c,b]", X=A, Y=B), expected)


def test_other_operands_are_left_alone() -> None:
    A, B = operands()
    force(A, B, "unroll(j, 8)")
    wide = random_dense(50, 25, dtype=torch.float32)
    assert "unroll(j, 8)" not in schedule_in_use(A, wide)
    assert "unroll(j, 8)" not in schedule_in_use(A.to(torch.float64), B.double())
    assert "unroll(j, 8)" not in schedule_in_use(A.to(format="csc"), B)
    k = tulle.kernel("C[i,k] = A[i,j] * B[j,k]").schedule("parallel(i)")
    assert "unroll" not in k.explain(A=A, B=B).stages["plan"]


SCRIPT = """
import sys, torch, tulle
sys.path.insert(0, sys.argv[1])
from test_tune import force, operands, schedule_in_use
A, B = operands()
{}
print(schedule_in_use(A, B))
torch.testing.assert_close(A @ B, A.to_dense() @ B)
"""


def in_process(line: str, cache: Path, **variables: str) -> tuple[str, str]:
    environment = os.environ | {"TULLE_CACHE_DIR": str(cache), "TULLE_LOG": "info"} | variables
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(line), str(Path(__file__).parent)],
        env=environment,
        text=True,
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def test_other_processes_use_it(tmp_path: Path) -> None:
    in_process("force(A, B, 'unroll(j, 8)')", tmp_path)
    assert "unroll(j, 8)" in in_process("", tmp_path)[0]
    with sqlite3.connect(tmp_path / "plans.sqlite") as base:
        ((statements, schedule),) = base.execute("SELECT statements, schedule FROM plans2")
    assert statements == "T0[x0,x1] = sum(x2, T1[x0,x2] * T2[x2,x1])\n"
    assert schedule == "T0: unroll(x2, 8)"


def test_a_plan_that_makes_no_sense_is_left_alone(tmp_path: Path) -> None:
    wrong = ("T0: fly(x2)", "T0: parallel(x1)", "T9: unroll(x2, 8)", "T0: unroll(x7, 2)")
    every = "for width in range(8, 12): {}; A @ operands(width)[1]"
    in_process(every.format("force(A, operands(width)[1], 'unroll(j, 8)')"), tmp_path)
    with sqlite3.connect(tmp_path / "plans.sqlite") as base:
        for width, schedule in zip(range(8, 12), wrong, strict=True):
            changed = base.execute(
                "UPDATE plans2 SET schedule = ? WHERE operands LIKE ?", (schedule, f"%x1={width}%")
            )
            assert changed.rowcount == 1
    output, log = in_process(
        every.format("print(schedule_in_use(A, operands(width)[1]))"), tmp_path
    )
    assert "unroll(j, 8)" not in output
    assert log.count("a tuned plan is ") >= 4


def test_a_damaged_database_is_recreated(tmp_path: Path) -> None:
    (tmp_path / "plans.sqlite").write_bytes(b"nonsense" * 1000)
    output, log = in_process("A @ B", tmp_path)
    assert "unroll(j, 8)" not in output
    assert "tuned plans in" in log
    in_process("force(A, B, 'unroll(j, 8)')", tmp_path)
    assert "unroll(j, 8)" in in_process("", tmp_path)[0]


def test_without_a_cache_it_holds_for_the_process(tmp_path: Path) -> None:
    line = "force(A, B, 'unroll(j, 8)')"
    assert "unroll(j, 8)" in in_process(line, tmp_path, TULLE_CACHE="0")[0]
    assert not (tmp_path / "plans.sqlite").exists()
    nowhere = Path("/proc/tulle")
    assert "unroll(j, 8)" in in_process(line, nowhere)[0]


def test_statements_with_sparse_results() -> None:
    A, _ = operands()
    S = tulle.tensor(random_sparse(60, 50, density=0.1, seed=3, dtype=torch.float32), format="csr")
    found = tulle.tune("S[i,j] = A[i,j] + B[i,j]", A=A, B=S, seconds=SHORT)
    assert found.speedup >= 1
    assert_equal(A + S, A.to_dense() + S.to_dense())


def test_several_statements() -> None:
    A, B = operands()
    text = "T[i,k] = A[i,j] * B[j,k]\nD[i] = T[i,k] * T[i,k]"
    found = tulle.tune(text, A=A, B=B, seconds=SHORT)
    assert any(one.candidate.schedule.startswith("T: ") for one in found.measured)
    expected = (A.to_dense() @ B).square().sum(1)
    assert_equal(tulle.compute(text, A=A, B=B), expected)


def test_formats_that_do_not_fit_are_refused() -> None:
    A, B = operands()
    space = tulle.Space.default("ij,jk->ik", A, B).formats({0: ["ell(1)"]}).only([])
    found = tulle.tune("ij,jk->ik", A, B, space=space, seconds=SHORT)
    assert any("The widest row" in one.refused for one in found.measured)


def test_results_that_are_no_numbers() -> None:
    A, B = operands()
    B[0, 0] = float("nan")
    found = tulle.tune("ij,jk->ik", A, B, seconds=SHORT)
    assert not any("differs from" in one.refused for one in found.measured)


def test_composite_formats() -> None:
    A, B = operands()
    expected = A.to_dense() @ B
    H = A.to(format="{ rows(nnz<=8): ell(8); rest: csr }")
    space = tulle.Space.default("ij,jk->ik", H, B).formats({0: ["csr"]})
    assert "unroll(j, 4)" in str(space)
    found = tulle.tune("ij,jk->ik", H, B, space=space, seconds=SHORT)
    assert not any("differs from" in one.refused for one in found.measured)
    assert {dict(one.candidate.formats)["t0"] for one in found.measured} == {str(H.format), "csr"}
    force(H, B, "precompute(acc, (k)); unroll(j, 8); vectorize(k, 4); parallel(i)")
    plan = tulle.explain("ij,jk->ik", H, B).stages["plan"]
    assert plan.count("unroll(j, 8)") == 2  # a statement for each part
    assert_equal(H @ B, expected)


@pytest.mark.parametrize("calls", [2, 3, 6])
def test_an_interrupt_loses_nothing(monkeypatch: pytest.MonkeyPatch, calls: int) -> None:
    A, B = operands()
    force(A, B, "unroll(j, 8)")
    (before,) = tuned_plans()
    real, made = search.race, []

    def interrupted(*arguments: Any) -> Any:
        made.append(arguments)
        if len(made) == calls:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(search, "race", interrupted)
    found = tulle.tune("ij,jk->ik", A, B, seconds=60.0)
    assert found.is_interrupted and "interrupted" in str(found)
    assert len(found.measured) >= 2
    (after,) = tuned_plans()
    if found.decision is None:
        assert after == before and "the schedule in use stays" in str(found)
    else:
        assert found.best.verdict and found.best.verdict.is_won
        assert after.seconds == found.decision.seconds


def test_what_is_kept_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    A, B = operands()
    text = "T[i,k] = A[i,j] * B[j,k]\nD[i] = T[i,k] * T[i,k]"
    problem = problem_of("tune", text, (), {"A": A, "B": B}, None)
    assert stored_schedule(problem) == ""
    kept = "T: unroll(j, 8); D: vectorize(k, 8); D: parallel(i)"
    best = Measured(Candidate(tuple(problem.formats().items()), kept))
    store_decision(problem, Decision(best, 1e-6, 2e-6), "")
    assert stored_schedule(problem) == kept
    space = tulle.Space.default(text, A=A, B=B).only(["D: parallel(i)"]).formats(A=[])
    found = tulle.tune(text, A=A, B=B, space=space, seconds=SHORT)
    assert kept in [one.candidate.schedule for one in found.measured if not one.refused]
    H = A.to(format="{ rows(nnz<=8): ell(8); rest: csr }")
    force(H, B, "unroll(j, 8); vectorize(k, 4)")
    assert stored_schedule(problem_of("tune", "ij,jk->ik", (H, B), {}, None)) == (
        "unroll(j, 8); vectorize(k, 4)"
    )
    apart = A.to(format="bsr-csr(4,4)")
    for kept in ("out.add1: vectorize(k, 4)", "out.add0: parallel(i.outer); out.add1: parallel(i)"):
        force(apart, B, kept)
        assert stored_schedule(problem_of("tune", "ij,jk->ik", (apart, B), {}, None)) == kept


def test_ctrl_c_ends_a_search(tmp_path: Path) -> None:
    script = SCRIPT.format(
        "print(tulle.tune('ij,jk->ik', A, B, seconds=300, progress=True).is_interrupted)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(Path(__file__).parent)],
        env=os.environ | {"TULLE_CACHE_DIR": str(tmp_path)},
        # A background job of a shell ignores interrupts, and its children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stderr
    seen = ""
    while "3 measured" not in seen and (letter := process.stderr.read(1)):
        seen += letter
    process.send_signal(signal.SIGINT)
    output, error = process.communicate(timeout=60)
    assert process.returncode == 0, error
    assert output.startswith("True\n")


def test_spaces_print_and_can_be_restricted_and_extended() -> None:
    A, B = operands()
    space = tulle.Space.default("ij,jk->ik", A, B)
    assert "t0: csr, csc" in str(space)
    choices = len(space.format_choices())
    assert f"{choices} choices of formats" in str(space)
    count = len(space.formats({0: []}))
    assert f"{count} schedules" in str(space) and len(space) == choices * count
    space = space.formats({0: []})
    text = str(space)
    assert "t0: csr\n" in text and "1 choice of formats" in text
    assert "unroll(j, 4)" in text and "planned by rule" in text
    assert len(space) > 50
    narrow = space.without("unroll", "by=rows")
    assert len(narrow) < len(space)
    assert "unroll(j, 4)" not in str(narrow) and "no effect" not in str(narrow)
    assert "without 'prefech': no effect" in str(narrow.without("prefech"))
    one = space.only(["parallel(i)"])
    assert len(one) == 2  # and the default
    assert len(one.also("unroll(j, 3)")) == 3
    assert len(one.formats({0: ["csc", "coo"]})) == 6
    assert len(one.without("parallel(i)")) == 1
    named = tulle.Space.default("C[i,k] = A[i,j] * B[j,k]", A=A, B=B)
    assert "A: csr, csc" in str(named.formats(A="csc"))


def test_schedules_of_a_space_keep_every_step() -> None:
    A, B = operands()
    text = """
        decompose(t0, { rows(nnz<=2): dell(2); rest: csr })  # in two parts; by length
        unroll(j, 2)  # then

        parallel(i)"""
    space = tulle.Space.default("ij,jk->ik", A, B).formats({0: []}).only([text])
    steps = ["decompose(t0, { rows(nnz<=2): dell(2); rest: csr })", "unroll(j, 2)", "parallel(i)"]
    assert space.given == ("; ".join(steps),)
    assert f"decompose: {steps[0]}\n" in str(space)
    found = tulle.tune("ij,jk->ik", A, B, space=space, seconds=0.2)
    assert {one.candidate.schedule for one in found.measured} >= set(space.given)


def test_formats_are_compared_with_the_cost_of_converting() -> None:
    A, B = operands()
    A = A.to(format="coo")
    space = tulle.Space.default("ij,jk->ik", A, B).formats({0: ["csr", "ell(40)"]})
    found = tulle.tune("ij,jk->ik", A, B, space=space, seconds=1.0)
    formats = {dict(one.candidate.formats)["t0"] for one in found.measured}
    assert {"coo", "csr"} <= formats
    assert all(
        (one.conversion_seconds > 0) == (dict(one.candidate.formats)["t0"] != "coo")
        for one in found.measured
    )
    if found.recommended:
        assert found.pays_after > 0
        assert "pays after" in str(found) and "t0 as " in str(found)
    assert f"{len(space.format_choices())} choices of formats" in str(found)
    assert "t0:csr" in str(found)
    assert str(A.format) == "coo"


def test_formats_that_change_the_result_are_refused() -> None:
    batch = tulle.tensor(torch.rand(2, 6, 6) * (torch.rand(2, 6, 6) > 0.5), format="csr")
    wide = torch.rand(2, 6, 4)
    space = tulle.Space.default("bij,bjk->bik", batch, wide).formats({0: ["coo"]})
    found = tulle.tune("bij,bjk->bik", batch, wide, space=space, seconds=0.3)
    refused = [one.refused for one in found.measured if one.refused]
    assert any("would have another format" in reason for reason in refused), refused
    assert not any("a bug" in reason for reason in refused)


def test_mistakes() -> None:
    A, B = operands()
    with pytest.raises(tulle.UserError, match="seconds should be a number above 0"):
        tulle.tune("ij,jk->ik", A, B, seconds=0)
    with pytest.raises(tulle.UserError, match=r"space should be a tulle\.Space"):
        tulle.tune("ij,jk->ik", A, B, space=["parallel(i)"])  # type: ignore[arg-type]
    with pytest.raises(tulle.UserError, match="given by name"):
        tulle.tune("C[i] = A[i,j]", A)
    with pytest.raises(tulle.UserError, match="there is no argument 'second'"):
        tulle.tune("ij,jk->ik", A, B, second=2)
    with pytest.raises(tulle.UserError, match="is for ij->i, not for ij,jk->ik"):
        tulle.tune("ij,jk->ik", A, B, space=tulle.Space.default("ij->i", A))
    with pytest.raises(tulle.UserError, match="is for ij,jk->ki, not for ij,jk;"):
        tulle.tune("ij,jk", A, B, space=tulle.Space.default("ij,jk->ki", A, B))
    space = tulle.Space.default("ij,jk->ik", A, B)
    with pytest.raises(tulle.UserError, match="there is no sparse operand t1; there is t0"):
        space.formats({1: ["csr"]})
    with pytest.raises(tulle.UserError, match="no rewrite 'fly'"):
        space.also(["fly(i)"])
    with pytest.raises(tulle.UserError, match=r"differ|extent|size"):
        tulle.tune("ij,jk->ik", A, B[1:])


def test_progress_needs_tqdm_only_if_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with progress_bar(True) as show:
        assert show
        show(0.5, "3 measured")
    assert " 50%|" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with progress_bar(None) as show:
        assert show is None
    with progress_bar(False) as show:
        assert show is None
    with (
        pytest.raises(tulle.UserError, match=r"progress=True needs tqdm: pip install tqdm"),
        progress_bar(True),
    ):
        pass
