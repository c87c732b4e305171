"""Prints as JSON by how much one run of an operation raised the peak memory of this process.

    python peak_memory.py spgemm scipy 2

A first run on small operands loads and compiles everything, so that this is not in the figure.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import sparse_results
import torch


def _status(field: str) -> int:
    """Bytes of a field of /proc/self/status."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(field)).split()[1])


def main() -> None:
    operation, name, threads = sys.argv[1:]
    torch.set_num_threads(int(threads))
    tulle = importlib.import_module("tulle") if name == "tulle" else None
    a, b = sparse_results.OPERATIONS[operation][0]()
    small = a[:50, :50].astype("float32")
    sparse_results.contender(name, operation, small, small, tulle)()
    call = sparse_results.contender(name, operation, a, b, tulle)
    ctypes.CDLL(None).malloc_trim(0)  # memory that is already free would hide the growth
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    before = _status("VmRSS")
    result = call()
    growth = _status("VmHWM") - before
    operands = sparse_results.bytes_of(a) + (0 if b is a else sparse_results.bytes_of(b))
    size = sparse_results.bytes_of(sparse_results.as_scipy(result))
    print(json.dumps({"growth": growth, "operands": operands, "result": size}))


main()
