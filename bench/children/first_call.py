"""Prints as JSON the time of the first call of each expression of a list, in this process.

    TULLE_CACHE_DIR=some/folder python first_call.py [cuda]

The process first compiles and runs an expression that is not in the list. The clock starts when all
operands exist and no compilation runs in the background. With TULLE_LOG=info the output has the
planning time too, which comes from the log.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import torch

import tulle

SIZE = 200
WIDTH = 32
DEVICE = sys.argv[1] if len(sys.argv) > 1 else "cpu"


def _sparse(format: str, rank: int = 2, dtype: torch.dtype = torch.float32, seed: int = 0) -> Any:
    size = SIZE if rank == 2 else 40
    draw = torch.Generator().manual_seed(seed)
    dense = torch.rand((size,) * rank, generator=draw, dtype=dtype)
    return tulle.tensor(dense * (dense > 0.95), format=format).to(DEVICE)


def _dense(*sizes: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.rand(*sizes, dtype=dtype, device=DEVICE)


def _einsum(text: str, *operands: Any) -> Callable[[], Any]:
    return lambda: tulle.einsum(text, *operands)


def _compute(text: str, **operands: Any) -> Callable[[], Any]:
    return lambda: tulle.compute(text, **operands)


def _one_kernel() -> dict[str, Callable[[], Any]]:
    csr, csc, dcsr, csf = (_sparse("csr"), _sparse("csc"), _sparse("dcsr"), _sparse("csf", 3))
    b, x = _dense(SIZE, WIDTH), _dense(SIZE)
    double = torch.float64
    factor = _dense(40, WIDTH)
    return {
        "ij,jk->ik csr": _einsum("ij,jk->ik", csr, b),
        "ij,jk->ik csr float64": _einsum("ij,jk->ik", _sparse("csr", dtype=double), b.double()),
        "ij,jk->ik csc": _einsum("ij,jk->ik", csc, b),
        "ij,jk->ik dcsr": _einsum("ij,jk->ik", dcsr, b),
        "ij,j->i csr": _einsum("ij,j->i", csr, x),
        "ij->i csr": _einsum("ij->i", csr),
        "ij,i->ij csr": _einsum("ij,i->ij", csr, x),
        "ij,ik,jk->ij csr": _einsum("ij,ik,jk->ij", csr, b, b),
        "ij,ij-> csr": _einsum("ij,ij->", csr, _dense(SIZE, SIZE)),
        "ijk,jr,kr->ir csf": _einsum("ijk,jr,kr->ir", csf, factor, factor),
    }


def _sparse_result() -> dict[str, Callable[[], Any]]:
    first, second = _sparse("csr"), _sparse("csr", seed=1)
    cube, double = _sparse("csf", 3), _sparse("csr", dtype=torch.float64)
    return {
        "ij,jk->ik csr, csr": _einsum("ij,jk->ik", first, second),
        "ij,jk->ik csr, csr float64": _einsum("ij,jk->ik", double, double),
        "A + B csr": _compute("C[i,j] = A[i,j] + B[i,j]", A=first, B=second),
        "A - B csc": _compute(
            "C[i,j] = A[i,j] - B[i,j]", A=_sparse("csc"), B=_sparse("csc", seed=1)
        ),
        "ij,ij->ij csr, csr": _einsum("ij,ij->ij", first, second),
        "ijk,k->ij csf": _einsum("ijk,k->ij", cube, _dense(40)),
        **_mixed_formats(first),
    }


def _mixed_formats(csr: Any) -> dict[str, Callable[[], Any]]:
    coo, csc = (_sparse("coo"), _sparse("csc", seed=1))
    four, eight = _sparse("bsr(4,4)"), _sparse("bsr(8,8)")
    product, sum = "ij,jk->ik", "C[i,j] = A[i,j] + B[i,j]"
    return {
        "ij,jk->ik coo, coo": _einsum(product, coo, coo),
        "ij,jk->ik bsr(4,4)": _einsum(product, four, four),
        "ij,jk->ik bsr(8,8)": _einsum(product, eight, eight),
        "ij,jk->ik bsr(4,4), csr": _einsum(product, four, csr),
        "A + B bsr(4,4), csr": _compute(sum, A=four, B=csr),
        "A + B csc, csr": _compute(sum, A=csc, B=csr),
    }


def _wait() -> None:
    if DEVICE != "cpu":
        torch.cuda.synchronize()


class _Log:
    """Captures what Tulle writes to stderr."""

    def __init__(self) -> None:
        self._file, name = tempfile.mkstemp()
        os.unlink(name)
        os.dup2(self._file, 2)
        self._end = 0

    def planning(self) -> list[float]:
        """The seconds of each plan since the last call of this method."""
        text = os.pread(self._file, 1 << 20, self._end)
        self._end += len(text)
        return [float(ms) / 1e3 for ms in re.findall(rb"planned .*: plan ([\d.]+)", text)]


def _time(kind: str, case: str, call: Callable[[], Any], log: _Log | None) -> dict[str, object]:
    _wait()
    tulle.finish_compiling()
    if log:
        log.planning()
    start = time.perf_counter()
    error = ""
    try:
        call()
        _wait()
    except Exception as wrong:
        error = f"{type(wrong).__name__}: {wrong}"
    seconds = time.perf_counter() - start
    plans = log.planning() if log else []
    if log and not plans and not error:
        raise RuntimeError(f"{case} was not planned")
    planning = sum(plans) if log else None
    return {"kind": kind, "case": case, "seconds": seconds, "planning": planning, "error": error}


def main() -> None:
    kinds = {"one kernel": _one_kernel(), "sparse result": _sparse_result()}
    _einsum("ji,jk->ik", _sparse("csr", seed=2), _dense(SIZE, 8))()
    log = _Log() if os.environ.get("TULLE_LOG") else None
    found = [
        _time(kind, case, call, log)
        for kind, cases in kinds.items()
        for case, call in cases.items()
    ]
    tulle.finish_compiling()  # the code is on disk after this
    print(json.dumps(found))


main()
