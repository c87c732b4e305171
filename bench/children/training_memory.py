"""Prints by how many bytes training a network raised the peak memory of this process.

    python training_memory.py "GraphSAGE mean" tulle arxiv cpu 2

A first training on a small graph loads and compiles everything, so that this is not in the figure.
The graph, the features and the labels are not in it either. What a library derives from the graph,
the parameters and the state of the optimizer are.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch
from training import problems

STEPS = 3


def _status(field: str) -> int:
    """Bytes of a field of /proc/self/status."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(field)).split()[1])


def _start(device: str) -> int:
    """The memory in use. The peak counts from here on."""
    if device == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        return int(torch.cuda.memory_allocated())
    ctypes.CDLL(None).malloc_trim(0)  # memory that is already free would hide the growth
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    return _status("VmRSS")


def _peak(device: str) -> int:
    return int(torch.cuda.max_memory_allocated()) if device == "cuda" else _status("VmHWM")


def main() -> None:
    model, library, matrix, device, threads = sys.argv[1:]
    torch.set_num_threads(int(threads))
    problems.small(device).training(model, library).losses(STEPS)
    training = problems.of_graph(matrix, device).training(model, library)
    before = _start(device)
    training.losses(STEPS)
    print(_peak(device) - before)


main()
