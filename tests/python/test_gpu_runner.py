"""The part of tests/gpu/run.py that needs no GPU: how it calls compute-sanitizer."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

RUNNER = Path(__file__).resolve().parents[1] / "gpu" / "run.py"


def run(arguments: list[str], path: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": str(path), "CUDA_HOME": str(path)}
    command = [sys.executable, str(RUNNER), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("tool", "status"), [("memcheck", 0), ("racecheck", 9)])
def test_small_cases_run_under_the_sanitizer(tmp_path: Path, tool: str, status: int) -> None:
    fake = tmp_path / "compute-sanitizer"
    asked = tmp_path / "asked"
    said = f'echo "$GTEST_SHARD_INDEX of $GTEST_TOTAL_SHARDS: $*" >> {asked}'
    fake.write_text(f'#!/bin/sh\n{said}\necho "[  PASSED  ] 3 tests."\nexit {status}\n')
    fake.chmod(0o755)
    done = run(["--sanitize", tool, "--build", "/there"], tmp_path)
    lines = asked.read_text().splitlines()
    cores = len(os.sched_getaffinity(0))
    assert len(lines) == cores and f"{tool} of {3 * cores} " in done.stdout
    for at, line in enumerate(sorted(lines, key=lambda line: int(line.split()[0]))):
        assert line.startswith(f"{at} of {cores}: ")
        assert f"--tool {tool} --error-exitcode 9 /there/gpu_test --gtest_filter=" in line
        assert "BoundSchedule" in line and "DefaultPlan" in line
    assert (done.returncode == 0) == (status == 0)
    assert ("clean" in done.stdout) == (status == 0)


def test_missing_sanitizer_is_a_failure(tmp_path: Path) -> None:
    done = run(["--sanitize", "memcheck"], tmp_path)
    assert done.returncode == 1
    assert "compute-sanitizer is missing" in done.stdout
