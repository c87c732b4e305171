"""Times candidates of a search side by side, so that what disturbs one disturbs all."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from tulle import _library
from tulle.errors import Unsupported, UserError, translated
from tulle.programs import compiled, flatten, spec_of
from tulle.tuning_space import Candidate, Problem

CLEARLY = 2 / 3  # of the rounds
SAMPLE_SECONDS = 0.5e-3  # at least: shorter calls are repeated


@dataclass
class Measured:
    """A candidate with its times. `seconds` is its median, as if the default had been as fast
    as it was on the whole while it was measured."""

    candidate: Candidate
    seconds: float = float("inf")
    samples: list[float] = field(default_factory=list)
    rounds: int = 0  # in which it ran beside the default
    wins: int = 0  # of these, in which it was faster
    floor: float = 1.0  # its least time over the default's, when both were measured last
    refused: str = ""  # why it was not measured
    conversion_seconds: float = 0.0  # of the operands into its formats

    @property
    def is_default(self) -> bool:
        """Whether the schedule is the planned one for the formats that it is for."""
        return self.candidate.is_default

    def beats(self, default: Measured, share: float) -> bool:
        """Whether it takes less than that share of the default's time: by the median, in most of
        the rounds, and where nothing disturbed either of them."""
        is_clear = self.wins >= CLEARLY * self.rounds and self.floor < 1
        return self.seconds < share * default.seconds and is_clear


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
        if found.is_one_dense and 0 < len(tensors) <= _library.MAX_TENSORS:
            call = _library.calls[len(tensors) - 1]
            self.run = lambda: call(found.key, sizes, *tensors)
        else:
            self.run = lambda: _library.run(found.key, sizes, tensors)
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
        _library.finish_compiling()
        once = min(self.sample() for _ in range(2))
        self.repeats = max(1, min(self.most, round(SAMPLE_SECONDS / max(once, 1e-7))))
        if isinstance(result, Tensor):
            return [result]
        tensors: list[Tensor] = []
        at = 0
        for known in self.results:
            tensors += result[at + 1 : at + known.array_count + 2]  # type: ignore[index]
            at += known.array_count + 2
        return tensors

    def sample(self) -> float:
        """Seconds of one call."""
        if self.device.type == "cuda":
            return self._sample_on_gpu()
        begin = time.perf_counter()
        for _ in range(self.repeats):
            self.run()
        return (time.perf_counter() - begin) / self.repeats

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


def made_ready(
    problem: Problem, candidate: Candidate, expected: Sequence[Tensor] | None
) -> tuple[Contender | None, Measured, list[Tensor]]:
    """A contender whose results are those expected, or None and a note of why there is none."""
    try:
        contender = Contender(problem, candidate)
        results = contender.warm_up()
    except (RuntimeError, UserError, Unsupported) as error:
        meant = translated(error) if isinstance(error, RuntimeError) else error
        return None, Measured(candidate, refused=str(meant).splitlines()[0]), []
    if expected is not None and not _agree(results, expected):
        return None, Measured(candidate, refused="it computes something else: a bug"), []
    return contender, contender.measured, results


def _agree(found: Sequence[Tensor], expected: Sequence[Tensor]) -> bool:
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
        scale = float(other.abs().max()) if other.numel() else 0.0
        tolerance = 1e3 * torch.finfo(one.dtype).eps
        if not torch.allclose(one, other, rtol=tolerance, atol=tolerance * scale, equal_nan=True):
            return False
    return True


def race(contenders: Sequence[Contender], rounds: int, deadline: float) -> None:
    """Takes turns; each gets its samples and the median of them relative to the first contender's,
    which is the default."""
    base = contenders[0]
    taken: list[list[float]] = [[] for _ in contenders]
    for turn in range(rounds):
        order = range(len(contenders)) if turn % 2 == 0 else range(len(contenders) - 1, -1, -1)
        for at in order:
            taken[at].append(contenders[at].sample())
        if turn >= 2 and time.perf_counter() > deadline:
            break
    base.measured.samples += taken[0]
    base.measured.seconds = statistics.median(base.measured.samples)
    now = statistics.median(taken[0])
    for contender, samples in zip(contenders[1:], taken[1:], strict=True):
        contender.measured.samples += samples
        contender.measured.rounds += len(samples)
        contender.measured.wins += sum(a < b for a, b in zip(samples, taken[0], strict=True))
        contender.measured.floor = min(samples) / min(taken[0])
        ratio = statistics.median(samples) / now
        contender.measured.seconds = base.measured.seconds * ratio
        contender.release()
