"""Times contenders on the GPU side by side: CUDA graphs of several calls, replayed in turns."""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from harness import Call, Timing

ROUNDS = 20
CALLS = 10  # in one replay; fewer if a call is slow
LONG_REPLAY = 0.05  # seconds


@dataclass(frozen=True)
class _Timed:
    """The work between two events, and the number of calls in it."""

    run: Call
    calls: int


def _seconds(run: Call) -> float:
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    run()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / 1e3


def finish_compiling() -> None:
    """If Tulle is measured, waits for its optimised code."""
    if tulle := sys.modules.get("tulle"):
        tulle.finish_compiling()


def _repeated(call: Call, calls: int) -> Call:
    def run() -> None:
        for _ in range(calls):
            call()

    return run


def _captured(call: Call) -> _Timed:
    """A graph of some calls; the plain calls if they cannot be captured."""
    for _ in range(2):
        call()
        finish_compiling()
    calls = max(1, min(CALLS, int(LONG_REPLAY / max(_seconds(call), 1e-9))))
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph, stream=torch.cuda.current_stream()):
            _repeated(call, calls)()
    except RuntimeError:
        torch.cuda.synchronize()
        return _Timed(_repeated(call, calls), calls)
    graph.replay()
    return _Timed(graph.replay, calls)


def measure(calls: Mapping[str, Call], rounds: int = ROUNDS) -> dict[str, Timing]:
    """Medians over interleaved replays. The time of a captured call excludes the host."""
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        timed = {name: _captured(call) for name, call in calls.items()}
        samples: dict[str, list[float]] = {name: [] for name in calls}
        order = list(calls)
        shuffle = random.Random(0).shuffle
        for _ in range(rounds):
            shuffle(order)
            for name in order:
                samples[name].append(_seconds(timed[name].run) / timed[name].calls)
        torch.cuda.synchronize()
    return {name: Timing.of(found) for name, found in samples.items()}
