#!/usr/bin/env python3
"""Prints the resident memory of a process that computes many times, forward and backward. Each
iteration does so three times.

    resident_memory.py --count 100000
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import pickle
import sys
import time
from pathlib import Path

import torch

import tulle

KIB_PER_MIB = 1024
GROWTH = 1024  # KiB that a process may grow in the second half


def resident() -> int:
    """The resident memory in KiB."""
    gc.collect()
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    raise RuntimeError("no VmRSS")


class Calls:
    """Calls over kept and over new tensors."""

    def __init__(self) -> None:
        dense = torch.rand(64, 64) * (torch.rand(64, 64) < 0.1)
        self.kept = tulle.tensor(dense)
        self.weights = self.kept.values().clone().requires_grad_()
        self.saved = pickle.dumps(self.kept)
        self.x = torch.rand(64, 16, requires_grad=True)

    def run(self, number: int) -> None:
        tensor = self.kept.with_values(self.weights)
        (tensor @ self.x).sum().backward()
        (tensor.T @ self.x).sum().backward()
        (tensor * 2).values().sum().backward()
        self.weights.grad = self.x.grad = None
        if number % 10 == 0:  # new structure each time
            fresh = pickle.loads(self.saved)
            fresh @ self.x.detach()
            fresh @ fresh
            levels = fresh.levels()
            levels[1]["crd"] = levels[1]["crd"] + 1000
            with contextlib.suppress(tulle.UserError):
                tulle.from_levels("csr", (64, 64), levels, fresh.values())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100000)
    count = parser.parse_args().count
    torch.set_num_threads(1)
    calls = Calls()
    figures = []
    start = time.time()
    for number in range(count):
        calls.run(number)
        if (number + 1) % max(count // 10, 1) == 0:
            figures.append(resident())
            print(f"{number + 1} iterations: {figures[-1] / KIB_PER_MIB:.1f} MiB", flush=True)
    growth = figures[-1] - figures[len(figures) // 2]
    print(f"growth in the second half: {growth} KiB in {time.time() - start:.0f} s")
    return 1 if growth > GROWTH else 0


if __name__ == "__main__":
    sys.exit(main())
