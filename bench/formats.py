"""hyb against plain CSR, both with their best schedules, and when converting has paid.

python bench/formats.py --matrices cora,arxiv --widths 32,128 --seconds 5
python bench/formats.py --device cuda --formats "hyb(1,3)" "hyb(1,5)" "hyb(4,5)"
"""

from __future__ import annotations

import argparse
import os
import tempfile

import graphs
import torch

# What is found is not kept for others.
os.environ["TULLE_CACHE_DIR"] = tempfile.mkdtemp()

import tulle

PRODUCT = "ij,jk->ik"
HEAD = (
    f"{'case':24}{'csr ms':>10}{'tuned':>10}{'format':>12}{'ms':>10}{'ratio':>8}"
    f"{'convert':>10}{'pays after':>12}"
)


def matrix(name: str, device: str) -> tulle.SparseTensor:
    """A matrix of graphs.py, with random values."""
    found = graphs.matrix(name)
    pos, crd = (torch.from_numpy(array) for array in (found.pos, found.crd))
    values = torch.rand(found.nnz, generator=torch.Generator().manual_seed(0))
    A = tulle.from_levels("csr", found.shape, [{}, {"pos": pos, "crd": crd}], values)
    return A.to(device)


def schedules(A: tulle.SparseTensor, B: torch.Tensor, seconds: float) -> list[str]:
    """The best few schedules for A as it is stored, by a search of their own."""
    space = tulle.Space.default(PRODUCT, A, B).formats({0: []})
    found = tulle.tune(PRODUCT, A, B, space=space, seconds=seconds)
    return [one.candidate.schedule for one in found.measured[:3] if not one.refused]


def compare(A: tulle.SparseTensor, width: int, formats: list[str], seconds: float) -> str:
    """A line of the table: the best of each format, run beside each other."""
    B = torch.rand(A.shape[1], width, device=A.device)
    best = schedules(A, B, seconds / 2)
    for format in formats:
        best += schedules(A.to(format=format), B, seconds / 2 / len(formats))
    space = tulle.Space.default(PRODUCT, A, B).formats({0: formats}).only(best)
    found = tulle.tune(PRODUCT, A, B, space=space, seconds=seconds)
    ran = [one for one in found.measured if not one.refused]
    own = min(one.seconds for one in ran if not one.conversion_seconds)
    others = [one for one in ran if one.conversion_seconds]
    if not others:
        return f"{1e3 * found.default.seconds:10.4f}{1e3 * own:10.4f}  no other format ran"
    there = min(others, key=lambda one: one.seconds)
    cost = there.conversion_seconds
    pays = f"{cost / (own - there.seconds):.0f} calls" if there.seconds < own else "never"
    return (
        f"{1e3 * found.default.seconds:10.4f}{1e3 * own:10.4f}"
        f"{dict(there.candidate.formats)['t0']:>12}{1e3 * there.seconds:10.4f}"
        f"{own / there.seconds:8.2f}{1e3 * cost:10.2f}{pays:>12}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="cpu", help="cpu or cuda (cpu)")
    parser.add_argument("--matrices", default="cora,pubmed,ppi,arxiv")
    parser.add_argument("--widths", default="32,128")
    parser.add_argument("--formats", nargs="+", default=["hyb(1,2)", "hyb(1,4)"])
    parser.add_argument("--seconds", type=float, default=6.0, help="of search for each case (6)")
    parser.add_argument("--threads", type=int, help="of the CPU")
    given = parser.parse_args()
    if given.threads:
        torch.set_num_threads(given.threads)
    print(HEAD)
    for name in given.matrices.split(","):
        A = matrix(name, given.device)
        for width in given.widths.split(","):
            line = compare(A, int(width), given.formats, given.seconds)
            print(f"{name + ' N=' + width:24}{line}", flush=True)


if __name__ == "__main__":
    main()
