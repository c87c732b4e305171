"""The host time of a warm call on a GPU, without the time of the GPU."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import torch
from gpu import operands
from harness import Call, Options, Row, Timing, Verdict

TITLE = "Host time of a warm A @ B on a GPU, cora's size, float32"
COMPARE = True
WIDTH = 32
ALLOWED = 0.5  # Tulle's time over torch.sparse.mm's
CALLS = 50  # between two waits for the GPU
ROUNDS = 40


def _host_seconds(call: Call) -> float:
    """The host time of one call, without waiting for the GPU."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(CALLS):
        call()
    seconds = time.perf_counter() - start
    torch.cuda.synchronize()
    return seconds / CALLS


def measure(options: Options) -> Iterator[Row]:
    """One row."""
    graph = operands.graph("cora")
    b = graph.dense(WIDTH)
    calls: dict[str, Call] = {}
    if options.tulle:
        ours = graph.tulle(options.tulle)
        calls["tulle"] = lambda: ours @ b
    calls["torch.sparse.mm"] = lambda: torch.sparse.mm(graph.torch_csr, b)
    samples: dict[str, list[float]] = {name: [] for name in calls}
    with torch.no_grad():
        for _ in range(ROUNDS):
            for name, call in calls.items():
                samples[name].append(_host_seconds(call))
    yield Row("cora A @ B", None, {name: Timing.of(found) for name, found in samples.items()})


def judge(rows: Sequence[Row]) -> list[Verdict]:
    """Promises at most half of the host time of torch.sparse.mm."""
    promise = f"at most {ALLOWED} of the host time of torch.sparse.mm"
    ratio = rows[0].ratio("torch.sparse.mm") if rows else None
    if ratio is None:
        return [Verdict(promise, "not measured", None)]
    return [Verdict(promise, f"{1 / ratio:.3f}", 1 / ratio <= ALLOWED)]
