"""The programs that a process caches: their number and code are bounded, and evicting a program
does not disturb threads that run it."""

from __future__ import annotations

import os
import subprocess
import sys

PREPARE = """
import random, threading
import torch, tulle
torch.set_num_threads(1)
dense = torch.eye(5, dtype=torch.float64) + 2 * torch.ones(5, 5).triu(3)
A = tulle.tensor(dense, format="csr")
x = torch.arange(5.0, dtype=torch.float64)
def loaded():
    tulle.compute("z[i] = A[i,j] * x[j]", A=A, x=x)  # drops handles of evicted programs
    return [int(number) for number in torch.ops.tulle.loaded().split()]
"""

# Texts that differ in spaces are different programs with the same code. One program runs all the
# time, by its key and by the number that remembered products use.
MANY_PROGRAMS = (
    PREPARE
    + """
start, failed = threading.Barrier(4), []
def work(thread):
    draw = random.Random(thread)
    start.wait()
    for step in range(500):
        factor, spaces = draw.randrange(100), " " * (1 + draw.randrange(50))
        y = tulle.compute(f"y[i] = A[i,j] * x[j] *{spaces}{factor}", A=A, x=x)
        hot = tulle.compute("hot[i] = A[i,j] * x[j]", A=A, x=x)
        if not (torch.equal(y, dense @ x * factor) and torch.equal(hot, dense @ x)):
            failed.append(factor)
        if not torch.equal(A @ dense, dense @ dense): failed.append("product")
        if step % 50 == 0:
            objects = int(torch.ops.tulle.loaded().split()[1])
            if objects > 16 + 4 * 16 + 4: failed.append(f"{objects} objects")
threads = [threading.Thread(target=work, args=[thread]) for thread in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
programs, objects, _ = loaded()
print("programs", programs, "objects", objects, "failed", failed)
"""
)

# Each width is a variant with its own code.
MUCH_CODE = (
    PREPARE
    + """
most = 0
for step in range(24):
    B = torch.ones(5, 65 + step, dtype=torch.float64)
    for factor in range(6):
        C = tulle.compute(f"C[i,k] = A[i,j] * B[j,k] * {factor}", A=A, B=B)
        assert torch.equal(C, dense @ B * factor)
        most = max(most, loaded()[2])
print("most", most, "failed", [])
"""
)

# Describing a program evicts the others: the limit is one program.
DESCRIBED_PROGRAMS = (
    PREPARE
    + """
failed, describe = [], torch.ops.tulle.describe.default
operands = "operand A f32 i32 2 csr\\noperand B f32 i64 2 dense\\n"
def work(thread):
    for step in range(6000):
        name = f"C{thread}_{step % 40}"
        try: found = describe(f"{operands}compute\\n{name}[i,k] = A[i,j] * B[j,k]")
        except Exception as error: found = str(error)
        if found != f"{name} f32 i32 2 dense\\n0.0 1.1 \\n": failed.append(found)
threads = [threading.Thread(target=work, args=[thread]) for thread in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print("failed", failed[:5])
"""
)

BAD_PROGRAMS = (
    PREPARE
    + """
for number in range(50):
    try: tulle.compute(f"y[i] = A[i,j] * x[j] * q{number}", A=A, x=x)
    except tulle.UserError: pass
    else: print("accepted")
print("programs", loaded()[0])
"""
)


def run(script: str, **limits: str) -> str:
    environment = {**os.environ, "TULLE_LOG": "info", "TULLE_CACHE": "0", **limits}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout + done.stderr


def test_programs_are_bounded() -> None:
    said = run(MANY_PROGRAMS, TULLE_KEEP_PROGRAMS="16")
    assert "programs 16 objects" in said, said[:1000]
    assert "failed []" in said
    objects = int(said.split("objects ")[1].split()[0])
    assert objects <= 16
    # A program in use stays.
    assert said.count("planned hot[i]") == 1


def test_programs_that_go_can_be_described() -> None:
    assert "failed []" in run(DESCRIBED_PROGRAMS, TULLE_KEEP_PROGRAMS="1")


def test_code_is_bounded() -> None:
    unbounded = int(run(MUCH_CODE).split("most ")[1].split()[0])
    bounded = int(run(MUCH_CODE, TULLE_KEEP_CODE_MB="0.1").split("most ")[1].split()[0])
    assert unbounded > 200_000
    assert bounded <= 105_000 + 10_000  # the last code is loaded before others are evicted


def test_programs_that_fail_are_not_kept() -> None:
    assert "programs 2\n" in run(BAD_PROGRAMS)  # one of them makes A
