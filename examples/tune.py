"""A search: which format and which schedule multiply this matrix fastest, and does it pay?

The matrix has a band and a few long rows. Tulle measures schedules for its own format and for the
formats that its statistics suggest. Later computations use the result, also `A @ B`.
"""

from __future__ import annotations

import argparse

import torch

import tulle


def band_with_long_rows(size: int) -> tulle.SparseTensor:
    """Five diagonals, and rows 0, 100, 200, ... with a tenth of all columns."""
    offsets = torch.tensor([-16, -1, 0, 1, 16])
    rows = torch.arange(size).repeat_interleave(len(offsets))
    columns = (rows + offsets.repeat(size)) % size
    long = torch.arange(0, size, 100)
    long_rows = long.repeat_interleave(size // 10)
    long_columns = torch.randint(size, (len(long_rows),))
    places = torch.stack([torch.cat([rows, long_rows]), torch.cat([columns, long_columns])])
    values = torch.rand(places.shape[1])
    entries = torch.sparse_coo_tensor(places, values, (size, size), check_invariants=False)
    return tulle.tensor(entries.coalesce(), format="csr")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=4000, help="rows of the matrix (4000)")
    parser.add_argument("--seconds", type=float, default=5.0, help="time to search (5)")
    parser.add_argument("--plot", help="the file of a picture of the search (.svg, .png)")
    given = parser.parse_args()
    A = band_with_long_rows(given.size)
    B = torch.rand(given.size, 64)
    print(A.statistics(), "\n")
    expected = A @ B

    space = tulle.Space.default("ij,jk->ik", A, B).without("csc")  # sums in another order
    print(space, "\n")
    found = tulle.tune("ij,jk->ik", A, B, space=space, seconds=given.seconds)
    print(found, "\n")

    torch.testing.assert_close(A @ B, expected)  # with the schedule that was found
    if found.pays_after > 0:
        converted, _ = found.operands
        torch.testing.assert_close(converted @ B, expected)
        print(f"stored as {converted.format} it pays after {found.pays_after:.0f} products")
    if given.plot:
        found.plot(given.plot)


if __name__ == "__main__":
    main()
