"""Candidates that are ready to run, and how the time of a call is measured."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from tulle.library import bindings
from tulle.programs.arguments import flatten
from tulle.programs.bound_program import bind
from tulle.programs.candidates import Candidate
from tulle.programs.execution import repeatable_call
from tulle.programs.problem import Problem
from tulle.support.errors import translated
from tulle.tuning import disturbance
from tulle.tuning.race import Measured, Runner, Sample
from tulle.tuning.store import stored_schedule

SAMPLE_SECONDS = 0.5e-3  # the least length of a sample; shorter calls are repeated
MOST_SECONDS = 10 * SAMPLE_SECONDS  # of repeated calls; a longer sample is disturbed
MOST_CALLS = {"cpu": 1000, "cuda": 20}  # in a sample


class Contender:
    """A candidate that is ready to run."""

    def __init__(self, problem: Problem, candidate: Candidate) -> None:
        scheduled = problem.with_schedule("" if candidate.is_default else candidate.schedule)
        found = bind(scheduled.program, problem.names, problem.operands)
        self.results = found.results
        self.device = problem.operands[0].device
        self.run = repeatable_call(found, flatten(problem.operands))
        self.measured = Measured(candidate)
        self.repeats = 1
        self.graph: Any = None  # on a GPU: a CUDA graph of `repeats` calls
        self.is_capturable = True
        self.stream: Any = None

    def warm_up(self) -> list[Tensor]:
        """Compiles and runs the candidate, and determines the number of calls in a sample. Returns
        the tensors of its results without their sizes."""
        try:
            result = self.run()
        except RuntimeError as error:
            raise translated(error) from None
        bindings.finish_compiling()
        once = min(self.sample().seconds for _ in range(2))
        repeats = round(SAMPLE_SECONDS / max(once, 1e-7))
        self.repeats = max(1, min(MOST_CALLS[self.device.type], repeats))
        if isinstance(result, Tensor):
            return [result]
        tensors: list[Tensor] = []
        at = 0
        for known in self.results:
            tensors += result[at + 1 : at + known.array_count + 2]
            at += known.array_count + 2
        return tensors

    def sample(self) -> Sample:
        """Measures `repeats` calls."""
        if self.device.type == "cuda":
            return Sample(self._sample_on_gpu())
        before = disturbance.waiting_times()
        begin = time.perf_counter()
        seconds, calls = 0.0, 0
        while calls < self.repeats and seconds < MOST_SECONDS:
            self.run()
            calls += 1
            seconds = time.perf_counter() - begin
        is_disturbed = disturbance.is_disturbed(before, disturbance.waiting_times(), seconds)
        return Sample(seconds / calls, calls == self.repeats and not is_disturbed)

    def _sample_on_gpu(self) -> float:
        """The GPU's time for a call, from a CUDA graph of several calls if they can be captured."""
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
        """Captures the calls in a graph. A program that reads a size back cannot be captured."""
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
        """Frees the graph with the memory of its results."""
        self.graph = None


def agree(found: Sequence[Tensor], expected: Sequence[Tensor]) -> bool:
    """Whether two results are equal except for rounding, which depends on the order of sums."""
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
    """The clock, the runners and the conversions of a search. Tests replace it."""

    def now(self) -> float:
        """The time in seconds."""
        return time.perf_counter()

    def ready(self, problem: Problem, candidate: Candidate) -> tuple[Runner, list[Tensor]]:
        """A runner and the tensors of its results. Raises an error if the schedule is illegal."""
        contender = Contender(problem, candidate)
        return contender, contender.warm_up()

    def stored_schedule(self, problem: Problem) -> str:
        """The schedule that an earlier search stored for this problem; may be empty."""
        return stored_schedule(problem)

    def converted(self, problem: Problem, formats: Mapping[str, str]) -> tuple[Problem, float]:
        """The problem with operands in these formats, and the seconds of the conversion without
        compilation: it runs twice, and the shorter time counts."""
        seconds = float("inf")
        for _ in range(2):
            _finish(problem)
            begin = time.perf_counter()
            found = problem.converted(formats)
            _finish(problem)
            seconds = min(seconds, time.perf_counter() - begin)
        return found, seconds


def _finish(problem: Problem) -> None:
    """If the operands are on a GPU, waits for the GPU and for its code."""
    device = problem.operands[0].device
    if device.type == "cuda":
        bindings.finish_compiling()
        torch.cuda.synchronize(device)
