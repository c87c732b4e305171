"""A matrix in several parts: a composite format for a banded matrix with a few long rows.

`--size` sets the size of the matrix, `--plot FILE` draws it with matplotlib.
"""

from __future__ import annotations

import argparse
import time

import torch
from torch import Tensor

import tulle

# A selector and a format for each part. A selector takes from the entries that earlier ones left.
FORMAT = "{ band(-2,2): dia; rows(nnz<=4): dell(4); rest: csr }"


def matrix(size: int) -> Tensor:
    """Five diagonals, two random entries in each row, and every hundredth row half full."""
    generator = torch.Generator().manual_seed(0)
    rows = torch.arange(size)
    places = [(rows + offset, rows) for offset in range(-2, 3)]
    places += [(torch.randint(0, size, (size,), generator=generator), rows) for _ in range(2)]
    for row in range(0, size, 100):
        columns = torch.randperm(size, generator=generator)[: size // 2]
        places.append((columns, torch.full_like(columns, row)))
    columns = torch.cat([columns for columns, _ in places])
    rows = torch.cat([rows for _, rows in places])
    inside = (columns >= 0) & (columns < size)
    indices = torch.stack([rows[inside], columns[inside]])
    values = torch.rand(indices.shape[1], generator=generator)
    return torch.sparse_coo_tensor(indices, values, (size, size), check_invariants=False).coalesce()


def milliseconds(A: tulle.SparseTensor, B: Tensor) -> float:
    """The best of ten products."""
    taken = []
    for _ in range(10):
        start = time.perf_counter()
        A @ B
        taken.append(time.perf_counter() - start)
    return 1000 * min(taken)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--plot", help="the file of the picture, .png or .svg")
    arguments = parser.parse_args()

    csr = tulle.tensor(matrix(arguments.size), format="csr")
    composite = csr.to(format=FORMAT)
    B = torch.rand(arguments.size, 32)

    # The share of each part, and the plan, which computes the product part by part.
    explanation = tulle.explain("C[i,k] = A[i,j] * B[j,k]", A=composite, B=B)
    print(explanation.stages["parts"])
    print(explanation.stages["plan"].splitlines()[0])

    torch.testing.assert_close(composite @ B, csr @ B)
    for A in (csr, composite):
        print(f"{milliseconds(A, B):8.3f} ms  {A.format}")
    if arguments.plot:
        composite.plot(arguments.plot)


if __name__ == "__main__":
    main()
