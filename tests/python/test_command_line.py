"""python -m tulle, called in this process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import scipy.io
import scipy.sparse
import torch

import tulle
from tulle.command_line.commands import main
from tulle.programs.candidates import candidates_for
from tulle.tuning.race import Measured
from tulle.tuning.result import Decision
from tulle.tuning.space import problem_of
from tulle.tuning.store import forget_tuned_plans, store_decision

PRODUCT = ["ij,jk->ik", "A=random(40x30,0.2):csr", "B=dense(30x8)"]


@pytest.fixture(autouse=True)
def keep_threads() -> Iterator[None]:
    """Restores the number of threads, which --threads sets for the process."""
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


def output_of(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> str:
    assert main(arguments) == status
    captured = capsys.readouterr()
    return captured.err if status == 1 else captured.out


def assert_mistake(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert error.startswith("tulle: ")
    assert "Traceback" not in error
    assert any(part in error for part in message.split("|")), error


def keep_planned(text: str, b: torch.Tensor) -> None:
    """Stores the planned schedule, as a search does that finds no better one."""
    a = tulle.tensor(torch.eye(40, 30), format="csr")
    operands, named = ((), {"A": a, "B": b}) if "=" in text else ((a, b), {})
    problem = problem_of("tune", text, operands, named, None)
    best = Measured(candidates_for(problem)[0])
    store_decision(problem, Decision(best, 1e-6, 1e-6), "")


def test_info(capsys: pytest.CaptureFixture[str]) -> None:
    text = output_of(capsys, "info")
    assert f"tulle:        {tulle.__version__}" in text
    for line in ("torch:", "processor:", "gpu:", "cache:", "kernels:", "tuned plans:"):
        assert line in text


def test_tune_then_cache_then_clear(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    forget_tuned_plans()
    picture = tmp_path / "search.svg"
    found = output_of(
        capsys, "tune", *PRODUCT, "--seconds", "0.3", "--formats", "A=csc,bsr(2,2)",
        "--plot", str(picture), "--threads", "1",
    )  # fmt: skip
    assert "candidates measured" in found and "planned by rule" in found
    assert "<svg" in picture.read_text()
    keep_planned("ij,jk->ik", torch.rand(30, 8))  # the search above may have made no decision
    listed = output_of(capsys, "cache", "list", "--plans")
    assert "T0[x0,x1] = sum(x2, T1[x0,x2] * T2[x2,x1])" in listed
    assert "kernels kept" not in listed
    assert "tuned plans removed: " in output_of(capsys, "cache", "clear", "--plans")
    assert "tuned plans: 0" in output_of(capsys, "cache")


def test_statements_of_plans_are_listed_line_by_line(capsys: pytest.CaptureFixture[str]) -> None:
    forget_tuned_plans()
    keep_planned("T[i,k] = A[i,j] * B[j,k]\nD[i] = T[i,k] * T[i,k]", torch.rand(30, 8))
    lines = output_of(capsys, "cache", "--plans").splitlines()[2:]
    assert len([line for line in lines if " = " in line]) >= 2
    assert all(line.startswith("  ") for line in lines if line)


def test_clearing_kernels(tmp_path: Path) -> None:
    def tulle_with_cache(*arguments: str) -> str:
        environment = os.environ | {"TULLE_CACHE_DIR": str(tmp_path)}
        command = [sys.executable, "-m", "tulle", *arguments]
        return subprocess.check_output(command, env=environment, text=True)

    tulle_with_cache("bench", *PRODUCT, "--seconds", "0.01")
    assert list(tmp_path.glob("*.o"))
    assert "kernels removed: " in tulle_with_cache("cache", "clear")
    assert not list(tmp_path.glob("*.o"))


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    statement = ["C[i,k] = A[i,j] * B[j,k]", *PRODUCT[1:]]
    text = output_of(capsys, "explain", *statement, "--stage", "plan", "--stage", "nest")
    assert "C: loops i j k" in text and "forall i" in text and "== lower ==" not in text
    assert "== lower ==" in output_of(capsys, "explain", *statement)
    every = output_of(capsys, "explain", *PRODUCT, "--candidates", "4")
    assert every.index("== plan ==") < every.index("== assembly ==") < every.index("== candidates")
    alone = ["--candidates", "4", "--stage", "candidates"]
    listed = output_of(capsys, "explain", *PRODUCT, *alone).splitlines()
    assert listed[0] == "== candidates ==" and len(listed) == 7
    assert "by predicted time" in listed[1] and "(planned by rule)" in listed[2]


def test_bench(capsys: pytest.CaptureFixture[str]) -> None:
    text = output_of(capsys, "bench", *PRODUCT, "--seconds", "0.05")
    assert "planned:" in text and "in use:" in text


def test_files(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    dense = (torch.rand(30, 30) > 0.8).double()
    scipy.io.mmwrite(tmp_path / "a.mtx", scipy.sparse.coo_matrix(dense.numpy()))
    scipy.sparse.save_npz(tmp_path / "a.npz", scipy.sparse.csr_matrix(dense.numpy()))
    torch.save(dense.to_sparse_coo(), tmp_path / "a.pt")
    tulle.save(tulle.tensor(dense), tmp_path / "a.tns")
    for name in ("a.mtx", "a.npz", "a.pt", "a.tns"):
        operand = f"A={tmp_path / name}:csc"
        text = output_of(capsys, "explain", "y[i] = A[i,j]", operand, "--stage", "expr")
        assert "A: f32, csc" in text
    band = output_of(capsys, "explain", "y[i] = A[i,j]", "A=band(9,-1,0,3):dia", "--stage", "expr")
    assert "A: f32, dia" in band


def test_operands_without_entries(capsys: pytest.CaptureFixture[str]) -> None:
    for made in ("random(0x5,0.5):csr", "random(5x5,0)", "band(0,0)", "dense(0x5)"):
        assert "== expr ==" in output_of(capsys, "explain", "ij->i", f"A={made}")


@pytest.mark.parametrize("dtype", ["f16", "float16"])
def test_types_have_the_names_of_torch_and_of_plans(
    capsys: pytest.CaptureFixture[str], dtype: str
) -> None:
    text = output_of(capsys, "explain", "ij->i", "A=random(3x3,1)", "--dtype", dtype)
    assert "t0: f16, coo" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["explain", "ij->i", "A=nowhere.mtx"], "there is no file 'nowhere.mtx'"),
        (["explain", "ij->i", "random(3x3,1)"], "is not an operand"),
        (["explain", "ij->i", "A=random(3x3,1):cssr"], "cssr"),
        (["explain", "ij->i", "A=random(3x3,1)", "--dtype", "f7"], "one of bool, int32"),
        (["explain", "ij->i", "A=random(3x3,1)", "--threads", "0"], "--threads should be"),
        (["explain", "ij->i", "A=random(3x3,1)", "--stage", "x"], "there is no stage 'x'"),
        (["explain", "ijk->i", "A=random(3x3,1)"], "rank|dimensions|letters|indices"),
        (["tune", "ij->i", "A=random(3x3,1)", "--formats", "csr"], "expected A=csr,csc"),
        (["tune", "ij->i", "A=random(3x3,1)", "--seconds", "-1"], "seconds should be"),
        (["bench", "ij->i", "A=random(3x3,1)", "--seconds", "-1"], "--seconds should be"),
        (["bench", "ij->i", "A=random(3x3,1)", "--seconds", "nan"], "--seconds should be"),
        (["explain", "ij->i", "A=random(3x3,1)", "--candidates", "-3"], "integer of at least 0"),
        (["explain", "ij,jk->ik", "A=dense(3x3)", "A=dense(3x4)"], "'A' is given twice"),
        (["tune", "ij->i", "A=random(3x3,1)", "--plot", "/nowhere/x.svg"], "there is no folder"),
    ],
)
def test_mistakes(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    assert_mistake(capsys, arguments, message)


@pytest.mark.parametrize(
    ("operand", "message"),
    [
        ("dense(5x)", "write a shape as 3x4, not as '5x'"),
        ("random(x,1)", "write a shape as 3x4, not as 'x'"),
        ("random(5x5,1e):csr", "from 0 to 1, but found '1e'"),
        ("random(5x5,-1):csr", "from 0 to 1, but found '-1'"),
        ("random(5x5,50):csr", "from 0 to 1, but found '50'"),
        ("band(5,-9,0,9):dia", "the diagonals of 5 x 5 are -4 to 4, but found -9"),
        ("band(5,5)", "but found 5"),
        ("dense(9999999x9999999)", "does not fit into memory"),
        ("random(9999999x9999999,0.5)", "does not fit into memory"),
        ("dense(99999999999999999999999x9)", "2^63 entries or more"),
        ("band(99999999999999999999999,0)", "2^63 entries or more"),
    ],
)
def test_mistakes_in_operands(
    capsys: pytest.CaptureFixture[str], operand: str, message: str
) -> None:
    assert_mistake(capsys, ["explain", "ij->i", f"A={operand}"], message)


@pytest.mark.parametrize("content", ["", "hello\n"])
@pytest.mark.parametrize("name", ["a.pt", "a.npz", "a.mtx"])
def test_files_of_no_tensor(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str, content: str
) -> None:
    (tmp_path / name).write_text(content)
    message = f"'{tmp_path / name}' could not be read as a file of "
    assert_mistake(capsys, ["explain", "ij->i", f"A={tmp_path / name}"], message)


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--help"], ["tune", "--help"]):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 0
    text = capsys.readouterr().out
    for word in ("info", "cache", "explain", "bench", "tune", "graph.mtx", "--seconds"):
        assert word in text
    assert "reading it can run code" in text
    with pytest.raises(SystemExit) as ended:
        main(["dance"])
    assert ended.value.code == 2
