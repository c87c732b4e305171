"""A schedule written by hand: a sparse matrix times a dense one, on the CPU and on a GPU.

A schedule is a list of rewrites of the loops. Each is checked: a rewrite that would change the
result is refused with the reason. The same statement has different schedules on different machines.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import torch

import tulle

STATEMENT = "C[i,k] = A[i,j] * B[j,k]"

# The sums of 32 columns of a row stay in registers, and two entries of the row are added at a time.
# Every thread gets rows with the same number of entries.
ON_CPU = """
split(k, 32, k0, k1)                # columns in panels
reorder(i, k0, j, k1)               # a panel of a row, then the row's entries
precompute(acc, k1)                 # the sum of a panel in registers
unroll(j, 2)
vectorize(k1, 8)
prefetch(B, 16)                     # rows of B that entries further on will need
parallel(i, by=nnz)
"""

# A block of 128 threads has eight rows; 16 threads share a row, with four columns each.
ON_GPU = """
split(k, 4, kv, k1)
split(i, 8, block, row)
reorder(block, row, kv, j, k1)
fuse(row, kv, thread)
precompute(acc, k1)
bind(block, block)
bind(thread, thread)
vectorize(k1, 4)
unroll(j, 4)
"""


def milliseconds(run: Callable[[], object], device: str) -> float:
    """The median time of several calls."""
    times = []
    for _ in range(11):
        begin = time.perf_counter()
        run()
        if device == "cuda":
            torch.cuda.synchronize()
        times.append(1e3 * (time.perf_counter() - begin))
    return sorted(times)[len(times) // 2]


def compare(device: str, schedule: str, size: int) -> None:
    """Runs the statement with the planned schedule and with this one."""
    places = torch.randint(size, (2, 16 * size))
    values, shape = torch.rand(16 * size), (size, size)
    entries = torch.sparse_coo_tensor(places, values, shape, check_invariants=False)
    A = tulle.tensor(entries.coalesce(), format="csr").to(device)
    B = torch.rand(size, 64, device=device)
    planned = tulle.kernel(STATEMENT, A="csr", B="dense")
    by_hand = planned.schedule(schedule)
    torch.testing.assert_close(by_hand(A=A, B=B), planned(A=A, B=B))
    print(
        f"{device}: planned {milliseconds(lambda: planned(A=A, B=B), device):.3f} ms, "
        f"by hand {milliseconds(lambda: by_hand(A=A, B=B), device):.3f} ms"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=20_000, help="rows of the matrix (20000)")
    size = parser.parse_args().size
    compare("cpu", ON_CPU, size)
    if torch.cuda.is_available():
        compare("cuda", ON_GPU, size)
    try:
        racing = tulle.kernel(STATEMENT).schedule("reorder(j, i, k); parallel(j)")
        racing(A=tulle.tensor(torch.eye(4), format="csc"), B=torch.eye(4))
    except tulle.UserError as error:
        print(f"\nrefused: {error}")


if __name__ == "__main__":
    main()
