"""Candidates of a search made ready to run, and how the time of a call is taken."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from tulle.library import bindings
from tulle.programs.execution import compiled, flatten, spec_of
from tulle.tuning import disturbance
from tulle.tuning.race import Measured, Runner, Sample
from tulle.tuning.space import Candidate, Problem
from tulle.tuning.store import kept_schedule

SAMPLE_SECONDS = 0.5e-3  # at least: shorter calls are repeated
MOST_SECONDS = 10 * SAMPLE_SECONDS  # of calls that are repeated: something is in their way


class Contender:
    """A candidate made ready to run."""

    def __init__(self, problem: Problem, candidate: Candidate) -> None:
        schedule = "" if candidate.is_default else candidate.schedule
        program = replace(problem.program, schedule=schedule)
        found = compiled(program, tuple(map(spec_of, problem.names, problem.operands)))
        sizes, tensors = flatten(problem.operands)
        self.results = found.results
        self.device = problem.operands[0].device
        self.run: Callable[[], object]
        if found.is_one_dense and 0 < len(tensors) <= bindings.MAX_TENSORS:
            call = bindings.calls[len(tensors) - 1]
            self.run = lambda: call(found.key, sizes, *tensors)
        else:
            self.run = lambda: bindings.run(found.key, sizes, tensors)
        self.measured = Measured(candidate)
        self.repeats = 1
        self.most = 1000 if self.device.type == "cpu" else 20  # calls in a sample
        self.graph: Any = None  # of a GPU: so many calls
        self.is_capturable = True
        self.stream: Any = None

    def warm_up(self) -> list[Tensor]:
        """Compiles and runs it; the tensors of its results, without their sizes. Finds out how
        often a sample has to repeat it."""
        result = self.run()
        bindings.finish_compiling()
        once = min(self.sample().seconds for _ in range(2))
        self.repeats = max(1, min(self.most, round(SAMPLE_SECONDS / max(once, 1e-7))))
        if isinstance(result, Tensor):
            return [result]
        tensors: list[Tensor] = []
        at = 0
        for known in self.results:
            tensors += result[at + 1 : at + known.array_count + 2]  # type: ignore[index]
            at += known.array_count + 2
        return tensors

    def sample(self) -> Sample:
        """Runs it as often as a sample takes."""
        if self.device.type == "cuda":
            return Sample(self._sample_on_gpu())
        before = disturbance.waited()
        begin = time.perf_counter()
        seconds, calls = 0.0, 0
        while calls < self.repeats and seconds < MOST_SECONDS:
            self.run()
            calls += 1
            seconds = time.perf_counter() - begin
        is_disturbed = disturbance.is_disturbed(before, disturbance.waited(), seconds)
        return Sample(seconds / calls, calls == self.repeats and not is_disturbed)

    def _sample_on_gpu(self) -> float:
        """The time of the GPU: of a graph of calls, where they can be captured."""
        if self.graph is None and self.is_capturable and self.repeats > 1:
            self._capture()
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        with torch.cuda.stream(self._stream()):
            start.record()
            if self.graph is not None:
                self.graph.replay()
            else:
                self._repeat()
            end.record()
            end.synchronize()
        return float(start.elapsed_time(end)) / 1e3 / self.repeats

    def _repeat(self) -> None:
        for _ in range(self.repeats):
            self.run()

    def _stream(self) -> Any:
        if self.stream is None:
            torch.cuda.synchronize(self.device)
            self.stream = torch.cuda.Stream(self.device)
        return self.stream

    def _capture(self) -> None:
        """Makes a graph of the calls; a program that reads a size back cannot be in one."""
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph, stream=self._stream()):
                self._repeat()
        except RuntimeError:
            torch.cuda.synchronize(self.device)
            self.is_capturable = False
            return
        self.graph = graph

    def release(self) -> None:
        """Gives the memory of the graph's results back."""
        self.graph = None


def agree(found: Sequence[Tensor], expected: Sequence[Tensor]) -> bool:
    """Whether results are the same but for the order in which sums were added up."""
    if len(found) != len(expected):
        return False
    for one, other in zip(found, expected, strict=True):
        if one.shape != other.shape or one.dtype != other.dtype:
            return False
        if not one.dtype.is_floating_point:
            if not torch.equal(one, other):
                return False
            continue
        finite = other[other.isfinite()]
        scale = float(finite.abs().max()) if finite.numel() else 0.0
        tolerance = 1e3 * torch.finfo(one.dtype).eps
        if not torch.allclose(one, other, rtol=tolerance, atol=tolerance * scale, equal_nan=True):
            return False
    return True


class Workbench:
    """What a search measures with."""

    def now(self) -> float:
        """Seconds of a clock."""
        return time.perf_counter()

    def ready(self, problem: Problem, candidate: Candidate) -> tuple[Runner, list[Tensor]]:
        """A contender, and the tensors of its results; raises where the schedule is refused."""
        contender = Contender(problem, candidate)
        return contender, contender.warm_up()

    def kept_schedule(self, problem: Problem) -> str:
        """What an earlier search has found for this problem, if anything."""
        return kept_schedule(problem)

    def converted(self, problem: Problem, formats: Mapping[str, str]) -> tuple[Problem, float]:
        """The problem with operands in these formats, and the seconds that it takes to convert
        them: those of the second time, when nothing has to be compiled."""
        seconds = float("inf")
        for _ in range(2):
            _finish(problem)
            begin = time.perf_counter()
            found = problem.converted(formats)
            _finish(problem)
            seconds = min(seconds, time.perf_counter() - begin)
        return found, seconds


def _finish(problem: Problem) -> None:
    """Waits for the GPU, if the operands are on one, and for its code."""
    device = problem.operands[0].device
    if device.type == "cuda":
        bindings.finish_compiling()
        torch.cuda.synchronize(device)
