"""Full-batch training: time of a step and peak memory of Tulle, torch.sparse and torch-geometric.
`training` and `gpu_training` add how to measure on their device."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from harness import SUBJECT, Options, Row, Verdict, WrongResult
from harness import measure as time_calls
from training import models, problems

MEMORY = Path(__file__).resolve().parents[1] / "children" / "training_memory.py"
MATRIX = "arxiv"
SECONDS_PER_MODEL = 30.0
RUNS = 10
COMPILED = f"{SUBJECT} compiled"
STEPS = 3  # whose losses are compared
TOLERANCE = 1e-3  # of a loss; rounding grows from step to step
MIB = 2**20


def _memory(model: str, library: str, device: str, threads: int) -> int:
    """Bytes by which training raises the peak memory of a new process."""
    arguments = [model, library, MATRIX, device, str(threads)]
    command = [sys.executable, str(MEMORY), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command[1:])} failed:\n{done.stderr}")
    return int(done.stdout.split()[-1])


def _compiled(training: models.Training) -> models.Training:
    """The training with torch.compile, whose dropout draws other numbers."""
    torch._dynamo.reset()
    training.forward = torch.compile(training.model, fullgraph=True)
    training.losses(STEPS)
    return training


def _check(model: str, losses: dict[str, list[float]]) -> None:
    """Raises WrongResult if the losses of a library differ from those of the first one."""
    first, *others = losses.items()
    for name, found in others:
        for one, other in zip(found, first[1], strict=True):
            if abs(one - other) > TOLERANCE * abs(other):
                raise WrongResult(f"{model}: losses {found} of {name}, {first[1]} of {first[0]}")


def measure(options: Options, device: str) -> Iterator[Row]:
    """A row for each network, with the largest number of threads."""
    threads = max(options.threads)
    torch.set_num_threads(threads)
    problem = problems.of_graph(MATRIX, device)
    for model in models.MODELS:
        libraries = [
            name
            for name in models.available()
            if models.has(model, name) and (options.tulle or name != SUBJECT)
        ]
        trainings = {name: problem.training(model, name) for name in libraries}
        _check(model, {name: one.losses(STEPS) for name, one in trainings.items()})
        if options.tulle:
            trainings[COMPILED] = _compiled(problem.training(model, SUBJECT))
            if device == "cuda":
                options.tulle.finish_compiling()

        def step(name: str, trainings: dict[str, models.Training] = trainings) -> None:
            trainings[name].step()
            if device == "cuda":
                torch.cuda.synchronize()

        calls = {name: lambda name=name: step(name) for name in trainings}
        times = time_calls(calls, SECONDS_PER_MODEL, runs=RUNS)
        memory = {name: _memory(model, name, device, threads) for name in libraries}
        remark = ", ".join(f"{name} {bytes // MIB}" for name, bytes in memory.items())
        yield Row(model, threads, times, {"memory": memory}, f"peak memory in MiB: {remark}")


def judge(rows: Sequence[Row], promised: dict[str, float], peers: Sequence[str]) -> list[Verdict]:
    """Promises speed-ups over the best of these peers by network, and no more memory than any."""
    found = []
    for model, wanted in promised.items():
        promise = f"{model}: {wanted}x the best of {' and '.join(peers)}, compiled or not"
        times = next((row.times for row in rows if row.case == model), {})
        theirs = [times[peer].median for peer in peers if peer in times]
        ours = [times[name].median for name in (SUBJECT, COMPILED) if name in times]
        if not theirs or not ours:
            found.append(Verdict(promise, "not measured", None))
            continue
        ratio = min(theirs) / min(ours)
        found.append(Verdict(promise, f"{ratio:.2f}x", ratio >= wanted))
    return [*found, _judge_memory(rows)]


def _judge_memory(rows: Sequence[Row]) -> Verdict:
    promise = "no more memory than any peer"
    worst = 0.0
    where = "not measured"
    for row in rows:
        memory = row.notes["memory"]
        assert isinstance(memory, dict)
        peers = {name: bytes for name, bytes in memory.items() if name != SUBJECT}
        if SUBJECT in memory and peers:
            least = min(peers, key=lambda name: peers[name])
            share = memory[SUBJECT] / peers[least]
            if share > worst:
                worst, where = share, f"{share:.2f} of {least}'s at most ({row.case})"
    return Verdict(promise, where, worst <= 1 if worst else None)
