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


def best_of(found: tulle.Tuned, format: str) -> float:
    """The shortest time with A in that format, or any other than CSR."""
    times = [
        one.seconds
        for one in found.measured
        if not one.refused and (dict(one.candidate.formats)["t0"] == format)
    ]
    return min(times, default=float("inf"))


def compare(A: tulle.SparseTensor, width: int, formats: list[str], seconds: float) -> str:
    """A line of the table."""
    B = torch.rand(A.shape[1], width, device=A.device)
    space = tulle.Space.default("ij,jk->ik", A, B).formats({0: formats})
    found = tulle.tune("ij,jk->ik", A, B, space=space, seconds=seconds)
    tuned = min(found.best.seconds, found.default.seconds)
    name = min(formats, key=lambda one: best_of(found, str(tulle.Format(one, 2))))
    text = str(tulle.Format(name, 2))
    there = best_of(found, text)
    if there == float("inf"):
        reasons = {one.refused for one in found.measured if one.refused}
        return f"{1e3 * found.default.seconds:10.4f}{1e3 * tuned:10.4f}  none ran: {reasons}"
    conversion = next(
        one.conversion_seconds
        for one in found.measured
        if dict(one.candidate.formats)["t0"] == text
    )
    pays = f"{conversion / (tuned - there):.0f} calls" if there < tuned else "never"
    return (
        f"{1e3 * found.default.seconds:10.4f}{1e3 * tuned:10.4f}{name:>12}{1e3 * there:10.4f}"
        f"{tuned / there:8.2f}{1e3 * conversion:10.2f}{pays:>12}"
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
