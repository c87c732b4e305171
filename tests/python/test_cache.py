"""The kernel cache across processes: what the log says was compiled and what was loaded."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# Every script prints "right" at its end if its results are right.
PREPARE = """
import os, signal, threading
import torch, tulle
torch.set_num_threads(2)
draw = torch.Generator().manual_seed(0)
dense = torch.randint(1, 5, (30, 30), generator=draw).double()
dense *= torch.rand((30, 30), generator=draw) < 0.2
A = tulle.tensor(dense, format="csr")
def product(width):
    B = torch.arange(30.0 * width, dtype=torch.float64).reshape(30, width)
    return torch.equal(tulle.einsum("ij,jk->ik", A, B), dense @ B)
def total():
    C = tulle.compute("C[i,j] = A[i,j] + A[j,i]", A=A)
    return torch.equal(C.to_dense(), dense + dense.T)
"""
ONE_PROGRAM = PREPARE + "print('right' if product(8) and total() else 'wrong')"
ALL_KINDS = (
    PREPARE
    + """
B = torch.rand((30, 8), generator=draw, dtype=torch.float64)
x = torch.rand(30, generator=draw, dtype=torch.float64)
blocks, columns, few = (A.to(format=format) for format in ("bsr(4,4)", "csc", "hyb(2,3)"))
cube = torch.stack([dense, dense.T])
tensor = tulle.tensor(cube, format="csf")
stored = (dense != 0) * torch.ones_like(dense)
scores = (B @ B.T).masked_fill(stored == 0, -torch.inf)
checks = [
    (blocks @ blocks, dense @ dense),
    (blocks @ A, dense @ dense),
    (columns @ B, dense @ B),
    (few @ B, dense @ B),
    (tulle.einsum("ij,j->i", A, x), dense @ x),
    (tulle.einsum("ij->", A), dense.sum()),
    (tulle.einsum("ij,ik,jk->ij", A, B, B), dense * (B @ B.T)),
    (tulle.einsum("ij,jk->ik", A, B, out_format="csr"), dense @ B),
    (tulle.einsum("ijk,k->ij", tensor, x), cube @ x),
    (tulle.compute("C[i,j] = A[i,j] + B[i,j]", A=blocks, B=columns), 2 * dense),
    (tulle.compute("t[i,k] = A[i,j] * B[j,k]; y[i] = t[i,k] * 0.5", A=A, B=B),
     (dense @ B).sum(1) / 2),
    (tulle.compute("m[i] = max(j, A[i,j])", A=A), dense.max(1).values),
    (tulle.compute("O[i,k] = sum(j, softmax(j in A[i,j], sum(d, Q[i,d]*Q[j,d])) * V[j,k])",
                   A=A, Q=B, V=B), torch.softmax(scores, 1).nan_to_num() @ B),
]
dense_of = lambda found: found.to_dense() if isinstance(found, tulle.SparseTensor) else found
print('right' if all(torch.allclose(dense_of(f), w) for f, w in checks) else 'wrong')
"""
)
MANY_THREADS = (
    PREPARE
    + """
start, failed = threading.Barrier(8), []
def work(number):
    start.wait()
    if not all([product(8), product(8 + number % 4), total()]): failed.append(number)
threads = [threading.Thread(target=work, args=[number]) for number in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print('wrong' if failed else 'right')
"""
)
FORKS_AND_THREADS = (
    PREPARE
    + """
torch.set_num_threads(1)  # torch's own threads do not survive a fork
stop, failed = threading.Event(), []
def work(width):
    while not stop.is_set():
        if not product(width): failed.append(width)
        width += 2
threads = [threading.Thread(target=work, args=[width]) for width in (40, 41)]
for thread in threads: thread.start()
for round in range(10):
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(0 if product(8) and product(40 + 2 * round) and product(1 + round) else 1)
    if os.waitpid(child, 0)[1] != 0: failed.append("child")
stop.set()
for thread in threads: thread.join()
print('wrong' if failed else 'right')
"""
)


def start(script: str, cache: Path, **variables: str) -> subprocess.Popen[str]:
    """Runs the script in a process with that cache directory and a log."""
    environment = os.environ | {"TULLE_CACHE_DIR": str(cache), "TULLE_LOG": "info"} | variables
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", script],
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def log_of(process: subprocess.Popen[str]) -> str:
    """The log of the process, whose results must be right."""
    out, log = process.communicate(timeout=300)
    assert out == "right\n", log
    assert process.returncode == 0
    return log


def run(script: str, cache: Path, **variables: str) -> str:
    return log_of(start(script, cache, **variables))


def compiled(log: str) -> list[str]:
    return re.findall(r"^tulle: compiled (\w+)", log, re.MULTILINE)


def loaded(log: str) -> list[str]:
    return re.findall(r"^tulle: loaded (\w+), \d+ bytes, from disk", log, re.MULTILINE)


def kept_programs(log: str) -> list[str]:
    return re.findall(r"^tulle: stored program (\w+)", log, re.MULTILINE)


def known_programs(log: str) -> list[str]:
    return re.findall(r"^tulle: known program (\w+)", log, re.MULTILINE)


def entries(cache: Path) -> list[str]:
    return sorted(path.stem for path in cache.iterdir())


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A directory that does not exist yet."""
    return tmp_path / "cache"


@pytest.fixture(scope="module")
def first_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A cache that one process filled, and what that process compiled."""
    place = tmp_path_factory.mktemp("filled") / "cache"
    log = run(ONE_PROGRAM, place)
    assert not loaded(log)
    assert not known_programs(log)
    assert sorted(compiled(log) + kept_programs(log)) == entries(place)
    return place, compiled(log)


@pytest.fixture
def filled(first_run: tuple[Path, list[str]], cache: Path) -> tuple[Path, list[str]]:
    """A copy of that cache, which a test may change."""
    shutil.copytree(first_run[0], cache)
    return cache, first_run[1]


def test_the_second_process_loads_what_the_first_compiled(filled: tuple[Path, list[str]]) -> None:
    cache, first = filled
    assert first
    assert cache.stat().st_mode & 0o777 == 0o700
    log = run(ONE_PROGRAM, cache)
    assert not compiled(log)
    assert loaded(log) == first
    assert sorted(loaded(log) + known_programs(log)) == entries(cache)
    assert "planned" not in log


def test_known_programs_whose_code_is_gone_are_compiled(filled: tuple[Path, list[str]]) -> None:
    cache, first = filled
    (cache / f"{first[0]}.o").unlink()
    log = run(ONE_PROGRAM, cache)
    assert compiled(log) == first[:1]
    assert "planned" in log
    assert not compiled(run(ONE_PROGRAM, cache))


def test_programs_are_known_for_operands_that_are_alike(filled: tuple[Path, list[str]]) -> None:
    cache, _ = filled
    first = ONE_PROGRAM
    assert known_programs(run(first.replace("< 0.2", "< 0.19"), cache))  # a similar nnz
    assert known_programs(run(first.replace("(30, 30)", "(31, 31)").replace("30", "31"), cache))
    for other in (
        first.replace("< 0.2", "< 0.9"),
        first.replace("(30, 30)", "(70, 70)").replace("30", "70"),
        first.replace(".double()", ".float()").replace("float64", "float32").replace("30.0", "30"),
        first.replace("num_threads(2)", "num_threads(1)"),
        first.replace('"csr"', '"dcsr"'),
        first.replace("A=A)", 'A=A, out_format="dcsr")').replace("product(8)", "product(9)"),
    ):
        known = r"known program \w+, (out|C)\["  # conversions may be known
        assert not re.search(known, run(other, cache)), other
        assert re.search(known, run(other, cache))


def test_programs_of_all_kinds_are_known_again(cache: Path) -> None:
    first = run(ALL_KINDS, cache)
    assert len(set(kept_programs(first))) == len(kept_programs(first)) >= 12
    again = run(ALL_KINDS, cache)
    assert sorted(known_programs(again)) == sorted(kept_programs(first))
    assert not compiled(again)
    assert "planned" not in again


def test_nothing_is_logged_unless_asked_for(cache: Path) -> None:
    assert run(ONE_PROGRAM, cache, TULLE_LOG="") == ""


def test_debugging_shows_plans_and_stages(cache: Path) -> None:
    log = run(ONE_PROGRAM, cache, TULLE_LOG="debug")
    assert re.search(r"^tulle: plan of .*\n +.*loops", log, re.MULTILINE)
    assert re.search(r"^tulle: code generation: emit [\d.]+, optimise", log, re.MULTILINE)


def test_the_cache_can_be_switched_off(cache: Path) -> None:
    assert compiled(run(ONE_PROGRAM, cache, TULLE_CACHE="0"))
    assert not cache.exists()


def test_a_directory_that_others_can_write_is_refused(filled: tuple[Path, list[str]]) -> None:
    cache, first = filled
    cache.chmod(0o777)
    log = run(ONE_PROGRAM, cache)
    assert compiled(log) == first
    assert not loaded(log)
    assert len(re.findall(rf"cannot use the kernel cache in {cache}: others can write", log)) == 1


def test_damaged_entries_are_rebuilt(filled: tuple[Path, list[str]]) -> None:
    cache, first = filled
    for at, path in enumerate(sorted(cache.iterdir())):
        content = path.read_bytes()
        middle = len(content) // 2
        damaged = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
        path.write_bytes(content[:middle] if at % 2 else damaged)
    assert compiled(run(ONE_PROGRAM, cache)) == first
    assert loaded(run(ONE_PROGRAM, cache)) == first


def test_processes_at_the_same_time(cache: Path) -> None:
    logs = [log_of(process) for process in [start(ONE_PROGRAM, cache) for _ in range(3)]]
    for log in logs:
        programs = kept_programs(log) + known_programs(log)
        assert sorted(compiled(log) + loaded(log) + programs) == entries(cache)


def test_threads_compile_nothing_twice(cache: Path) -> None:
    log = run(MANY_THREADS, cache)
    assert len(compiled(log)) == len(set(compiled(log)))
    assert sorted(compiled(log) + kept_programs(log)) == entries(cache)


def test_forks_while_threads_compile(cache: Path) -> None:
    run(FORKS_AND_THREADS, cache, TULLE_CACHE="0")
