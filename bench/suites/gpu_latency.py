"""The time to the first result on a GPU with a warm driver: compiled, and from the disk cache."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness import Options, Row, Verdict

from suites import latency

TITLE = "First result of a new expression on a GPU, in a process warmed up on another one"
COMPARE = False
LIMIT_MS = 60.0
COMPILING = 7  # processes; assembling uses several cores, which other work may occupy


def measure(options: Options) -> Iterator[Row]:
    return latency.first_calls("cuda", COMPILING) if options.tulle else iter(())


def judge(rows: Sequence[Row]) -> list[Verdict]:
    return [latency.verdict(f"compiled under {LIMIT_MS:g} ms", LIMIT_MS, "compiled", rows)]
