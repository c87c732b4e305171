"""The overhead of a warm call: a product so small that it takes most of the time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import graphs
import peers
import torch
from harness import Call, Options, Row, Timing, Verdict, check
from harness import measure as time_calls

TITLE = "Warm call, 64 x 64 CSR of density 0.05 times 64 x 16, float32, one thread"
COMPARE = True
ALLOWED = 0.8  # Tulle's time over torch.sparse.mm's
CALLS = 100  # in one timed run
RUNS = 300


def _many(call: Call) -> Call:
    def repeat() -> None:
        for _ in range(CALLS):
            call()

    return repeat


def _one_of_many(timing: Timing) -> Timing:
    return Timing(timing.median / CALLS, timing.low / CALLS, timing.high / CALLS, timing.runs)


def measure(options: Options) -> Iterator[Row]:
    """One row."""
    torch.set_num_threads(1)
    product = peers.Product.of(graphs.pruned(64, 64, 0.95), 16)
    calls = peers.tulle_calls(product, product.result(), options.tulle)
    calls["torch.sparse.mm"] = lambda: torch.sparse.mm(product.torch_csr, product.b)
    calls["torch A @ B"] = lambda: product.torch_csr @ product.b
    calls["scipy"] = peers.scipy_call(product)
    for contender, call in calls.items():
        check(contender, call(), peers.reference(product))
    with torch.no_grad():
        times = time_calls({name: _many(call) for name, call in calls.items()}, 10.0, runs=RUNS)
    yield Row("A @ B", 1, {name: _one_of_many(timing) for name, timing in times.items()})


def judge(rows: Sequence[Row]) -> list[Verdict]:
    """Promises at most 0.8 of the host time of torch.sparse.mm."""
    promise = f"at most {ALLOWED} of the time of torch.sparse.mm"
    ratio = rows[0].ratio("torch.sparse.mm") if rows else None
    if ratio is None:
        return [Verdict(promise, "not measured", None)]
    return [Verdict(promise, f"{1 / ratio:.3f}", 1 / ratio <= ALLOWED)]
