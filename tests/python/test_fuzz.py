"""A few thousand mutants of the fuzzers in tests/fuzz."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).resolve().parents[1] / "fuzz"


@pytest.mark.parametrize(("script", "count"), [("boundary.py", 400), ("strings.py", 3000)])
def test_mutants_are_refused_or_computed_in_bounds(script: str, count: int) -> None:
    seed = int(os.environ.get("TULLE_FUZZ_SEED", "7"))
    command = [sys.executable, str(FUZZ / script), "--count", str(count), "--seed", str(seed)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    print(done.stdout, done.stderr[-5000:])
    assert done.returncode == 0
    assert re.search(rf"seed {seed}: {count} ", done.stdout)
