#!/usr/bin/env python3
"""Fuzzes the boundary: mutated tensors and files over all ways in.

Each mutant must be refused with UserError or Unsupported, or be computed in bounds; the results of
an accepted tensor must equal those of the dense tensor of its entries. Programs run in checked
mode, in which an access out of bounds raises InternalError.

    boundary.py --count 100000 [--seed 1] [--jobs 2]
    boundary.py --seed 1 --only 123            # one mutant again, with its traceback
"""

from __future__ import annotations

import argparse
import collections
import math
import os
import random
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

os.environ.setdefault("TULLE_CHECKED", "1")

import operator_calls
import torch
import ways_in
from mutations import Pieces, drawn, mutated, taken_apart

import tulle

PIECE = 20000  # mutants in one process
REFUSALS = (tulle.UserError, tulle.Unsupported)


class Wrong(Exception):
    """A mutant was accepted, but a result is wrong."""


def check_uses(tensor: tulle.SparseTensor, dice: random.Random) -> None:
    """Computes with an accepted tensor and compares with the dense tensor of its entries."""
    _check_size(tensor)
    coordinates, values = tensor.entries()
    dense = torch.zeros(tensor.shape, dtype=tensor.dtype)
    if tensor.dtype == torch.bool:
        dense[tuple(coordinates)] = values  # sums of bool are other operations
    else:
        dense.index_put_(tuple(coordinates), values, accumulate=True)
    uses = dice.sample(range(10), 3)
    for use in uses:
        _check_use(use, tensor, dense)


def _check_size(tensor: tulle.SparseTensor) -> None:
    """Refuses tensors of which no dense oracle exists."""
    if not isinstance(tensor.values(), torch.Tensor):  # a tree may hold anything
        raise ways_in.Refused
    if tensor.device.type != "cpu":
        tensor.sum(tensor.ndim - 1)
        raise Wrong(f"computed on {tensor.device}")
    if math.prod(tensor.shape) > 10**5 or tensor.values().numel() > 10**5 or tensor.ndim == 0:
        tensor.nnz  # noqa: B018
        if tensor.ndim == 2 and tensor.shape[0] < 10**4:
            tensor.sum(1)
        raise tulle.Unsupported("too large for the oracle")


def _check_use(use: int, tensor: tulle.SparseTensor, dense: torch.Tensor) -> None:
    if use == 0:
        _check_equal("to_dense", tensor.to_dense(), dense)
    elif use == 1 and tensor.ndim == 2:
        x = torch.ones(tensor.shape[1], 3, dtype=tensor.dtype)
        _check_equal("@", _product(tensor, x), _product(dense, x))
    elif use == 2 and tensor.ndim == 2:
        x = torch.ones(tensor.shape[0], 3, dtype=tensor.dtype)
        _check_equal("T @", _product(tensor.T, x), _product(dense.T, x))
    elif use == 3 and tensor.dtype.is_floating_point:
        _check_equal("sum", tensor.sum(tensor.ndim - 1), dense.sum(tensor.ndim - 1))
    elif use == 4:
        _check_equal("to coo", tensor.to(format="coo").to_dense(), dense)
    elif use == 5 and tensor.dtype.is_floating_point:
        _check_equal("*", (tensor * tensor).to_dense(), dense * dense)
    elif use == 6 and tensor.ndim == 2:
        again = tensor.to_torch()
        _check_equal("to_torch", again.to_dense(), dense)
    elif use == 7:
        levels = tensor.levels() if not tensor.format.is_composite else []
        for level in levels:
            for array in level.values():
                if array.dtype != torch.bool:
                    array.fill_(2**30)  # PyTorch counts this, so the next use is refused
        _check_equal("written", tensor.to_dense(), dense)
    elif use == 8 or (use == 9 and tensor.ndim == 2):
        for array in tensor.pattern.arrays:
            if array.dtype != torch.bool:
                array.data = torch.full_like(array, 2**30)  # other memory, so it is checked again
        if use == 8:
            _check_equal("other memory", tensor.to_dense(), dense)
        else:
            _check_equal("T of other memory", tensor.T.to_dense(), dense.T)


def _product(a: tulle.SparseTensor | torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """The product. Torch has none of dense tensors of bool; a tensor may be dense in its own format
    or after a transposition."""
    if isinstance(a, torch.Tensor) and a.dtype == torch.bool:
        return (a.double() @ x.double()) > 0
    return a @ x


def _check_equal(name: str, found: torch.Tensor, expected: torch.Tensor) -> None:
    if not torch.allclose(found.double(), expected.double(), rtol=1e-2, equal_nan=True):
        raise Wrong(f"{name}: found {found.tolist()}, expected {expected.tolist()}")


def describe(pieces: Pieces) -> str:
    return (
        f"{pieces.mutations}\n  format {pieces.format!r}, numbers {pieces.numbers!r}, index type "
        f"{pieces.index_dtype}\n  arrays {pieces.arrays}\n  values {pieces.values}"
    )


def run_one(seed: int, number: int, verbose: bool = False) -> tuple[str, str]:
    """The way and the outcome of a mutant: accepted, refused or outside. Raises for a failure."""
    dice = random.Random(f"{seed} {number}")
    pieces = mutated(taken_apart(drawn(dice)), dice)
    way = dice.choice([*ways_in.WAYS, "operator", "operator", "operator"])
    if verbose:
        print(way, describe(pieces), file=sys.stderr)
    try:
        if way == "operator":
            operator_calls.call(pieces, dice)
        else:
            check_uses(ways_in.WAYS[way](pieces, dice), dice)
    except ways_in.Refused:
        return way, "outside"
    except REFUSALS:
        return way, "refused"
    except (RuntimeError, TypeError, ValueError, AttributeError, NotImplementedError) as error:
        if "Storage size calculation overflowed" in str(error):
            return way, "refused"  # by PyTorch: SciPy's diagonals become a matrix of values
        # PyTorch's dispatcher refuses what does not fit the schema of an operator.
        if way != "operator" or isinstance(error, tulle.InternalError):
            raise
        if "tulle.InternalError" in str(error):
            raise
        return way, "refused"
    return way, "accepted"


def run_piece(seed: int, first: int, last: int, place: Path) -> int:
    """Runs mutants in this process. Writes the number of each to a file before it runs."""
    outcomes: collections.Counter[tuple[str, str]] = collections.Counter()
    failures = 0
    with place.open("w") as current:
        for number in range(first, last):
            current.seek(0)
            current.write(f"{number:10}")
            current.flush()
            try:
                outcomes[run_one(seed, number)] += 1
            except Exception:
                failures += 1
                print(f"seed {seed}, mutant {number}:", file=sys.stderr)
                traceback.print_exc(limit=-6)
    for (way, outcome), count in outcomes.items():
        print(f"{way} {outcome} {count}")
    return 1 if failures else 0


def run_pieces(seed: int, count: int, jobs: int) -> int:
    """Runs mutants in processes, so that a crash is a failure like others."""
    outcomes: collections.Counter[tuple[str, str]] = collections.Counter()
    failed = 0
    waiting = [(first, min(first + PIECE, count)) for first in range(0, count, PIECE)]
    with tempfile.TemporaryDirectory() as folder:
        running: list[tuple[subprocess.Popen[str], int, Path]] = []
        while waiting or running:
            while waiting and len(running) < jobs:
                first, last = waiting.pop(0)
                place = Path(folder) / str(first)
                bounds = ["--first", str(first), "--last", str(last), "--place", str(place)]
                command = [sys.executable, __file__, "--seed", str(seed), *bounds]
                running.append(
                    (subprocess.Popen(command, stdout=subprocess.PIPE, text=True), last, place)
                )
            process, last, place = running.pop(0)
            text, _ = process.communicate()
            for line in text.splitlines():
                way, outcome, number = line.split()
                outcomes[way, outcome] += int(number)
            if process.returncode == 1:
                failed += 1
            elif process.returncode:
                failed += 1
                at = int(place.read_text())
                print(f"seed {seed}, mutant {at}: the process died ({process.returncode})")
                if at + 1 < last:
                    waiting.append((at + 1, last))
    for way in sorted({way for way, _ in outcomes}):
        counts = ", ".join(
            f"{outcomes[way, outcome]} {outcome}" for outcome in ("accepted", "refused", "outside")
        )
        print(f"{way}: {counts}")
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", type=int)
    parser.add_argument("--first", type=int)
    parser.add_argument("--last", type=int)
    parser.add_argument("--place", type=Path)
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    if arguments.only is not None:
        print(run_one(arguments.seed, arguments.only, verbose=True))
        return 0
    if arguments.first is not None:
        return run_piece(arguments.seed, arguments.first, arguments.last, arguments.place)
    start = time.time()
    failed = run_pieces(arguments.seed, arguments.count, arguments.jobs)
    print(f"seed {arguments.seed}: {arguments.count} mutants in {time.time() - start:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
