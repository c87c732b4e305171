"""Runs the tests of this folder on a machine with a GPU; needs Python and torch, no compiler.

    python tests/gpu/run.py [--build DIR] [--only TEXT]

DIR holds the program gpu_test, which runs kernels written as text; the tests in test_*.py use the
package. What `make gpu-bundle` packs can be unpacked anywhere and run from there.
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def run_python(only: str) -> int:
    """The number of tests that failed."""
    sys.path.insert(0, str(ROOT / "python"))
    failed = 0
    for path in sorted(HERE.glob("test_*.py")):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for name, test in vars(module).items():
            if not name.startswith("test_") or only not in name:
                continue
            start = time.perf_counter()
            try:
                test()
                verdict = "ok"
            except Exception:
                traceback.print_exc()
                verdict = "FAILED"
                failed += 1
            print(f"{verdict:6} {path.stem}.{name} {time.perf_counter() - start:.2f} s", flush=True)
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the tests for the GPU.")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--only", default="", help="tests of the package whose name has this")
    options = parser.parse_args()
    failed = 0 if options.only else subprocess.call([options.build / "gpu_test"])
    failed += run_python(options.only)
    print("all passed" if not failed else "FAILED")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
