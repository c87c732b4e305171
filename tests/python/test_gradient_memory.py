"""The peak memory of backward passes: in proportion to the entries and the dense operands."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

# Prints a line for each program: the growth of the peak of resident memory over a forward and a
# backward pass, the bytes of the operands, and those of a dense matrix of the same shape.
PROGRAM = """
import sys
import torch, tulle

def peak():
    for line in open("/proc/self/status"):
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024

def reset():
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")

def growth(function):
    reset()
    before = peak()
    function()
    return peak() - before

def made(n, entries, width, format):
    torch.manual_seed(0)
    index = torch.randint(n, (2, entries))
    coo = torch.sparse_coo_tensor(index, torch.rand(entries), (n, n)).coalesce()
    a = tulle.tensor(coo).to(format=format)
    leaves = [a.values().clone(), torch.rand(n, width), torch.rand(n, width), torch.rand(n)]
    return a, [leaf.requires_grad_() for leaf in leaves]

def step(a, leaves, text):
    values, x, y, v = leaves
    given = {"A": a.with_values(values), "X": x, "Y": y, "v": v}
    names = [name for name in given if f"{name}[" in text]
    found = tulle.compute(text, **{name: given[name] for name in names})
    found = found.values() if isinstance(found, tulle.SparseTensor) else found
    found.square().sum().backward()

format, *texts = sys.argv[1:]
n = 30000
known = 1 << 24
assert 0.9 < growth(lambda: torch.zeros(known // 4).add_(1)) / known < 1.5, "no measurement"
for text in texts:
    step(*made(300, 3000, 8, format), text)  # compiles kernels
    a, leaves = made(n, 300000, 8, format)
    grown = growth(lambda: step(a, leaves, text))
    operands = sum(leaf.nbytes for leaf in leaves)
    operands += sum(array.nbytes for array in a.pattern.arrays)
    print(grown, operands, 4 * n * n)
"""

PROGRAMS = {
    "product": "C[i,k] = A[i,j] * X[j,k]",
    "transposed": "C[j,k] = A[i,j] * X[i,k]",
    "sampled products": "S[i,j] = A[i,j] * X[i,k] * Y[j,k]",
    "row sums": "y[i] = A[i,j] * v[j]",
    "maxima": "y[i] = max(j, A[i,j] * v[j])",
    "softmax": "S[i,j] = softmax(j in A[i,j], A[i,j] * v[j])",
    "attention": (
        "S[i,j] = A[i,j] * sum(k, X[i,k] * Y[j,k]); W[i,j] = softmax(j in A[i,j], S[i,j]); "
        "O[i,k] = W[i,j] * X[j,k]"
    ),
    "layers": "H[i,k] = A[i,j] * X[j,k]; R[i,k] = relu(H[i,k]); y[k] = R[i,k] * Y[i,k]",
}


@pytest.mark.parametrize("format", ["csr", "coo", "hyb(2,2)"])
def test_peak_memory(format: str) -> None:
    command = [sys.executable, "-c", PROGRAM, format, *PROGRAMS.values()]
    # Freed memory leaves the process at once, so that later peaks count it again.
    freed = {"MALLOC_MMAP_THRESHOLD_": "4096", "MALLOC_TRIM_THRESHOLD_": "0"}
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env=os.environ | freed
    )
    for name, line in zip(PROGRAMS, done.stdout.splitlines(), strict=True):
        grown, operands, dense = map(int, line.split())
        print(f"{name}, {format}: {grown / operands:.1f} times the operands")
        assert grown <= 12 * operands, f"{name}: {grown} bytes for operands of {operands}"
        assert grown <= dense / 5, name
