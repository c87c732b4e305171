"""Runs the benchmarks: Tulle and its peers side by side, in ratios, with a chart and JSON.

python bench/run.py --suite spmm --threads 1,2
python bench/run.py --suite gpu --matrices proteins --widths 32,128
python bench/run.py --suite hyb --tune 5 --formats "hyb(1,3)" "hyb(4,5)"
python bench/run.py --no-tulle                  # the peers alone
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import platform
import tempfile
import time
import traceback
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

# OpenMP's threads sleep after about 0.1 ms without work. They stay awake between the calls of a
# series, and do not disturb the next contender. OpenMP reads this when it is loaded.
os.environ.setdefault("GOMP_SPINCOUNT", "10000")

import chart
import graphs
import harness
import report
import scipy
import torch

SUITES = ["spmm", "latency", "overhead", "spgemm", "add", "attention"]
GPU_SUITES = ["gpu_spmm", "gpu_sddmm", "gpu_attention", "gpu_latency", "gpu_overhead"]
OTHER_SUITES = ["halves", "gpu_halves", "hyb", "gpu_hyb"]  # run only if named
OTHER_SUITES += ["training", "gpu_training"]
GROUPS = {"all": SUITES, "gpu": GPU_SUITES}
DEFAULT_MATRICES = "cora,pubmed,ppi,arxiv,band,pruned-90,pruned-70"
DEFAULT_WIDTHS = "16,32,64,128,256"
GPU_MATRICES = "cora,pubmed,ppi,arxiv"
GPU_WIDTHS = "32,128,512"
OUTPUT = Path(__file__).resolve().parents[1] / "build" / "bench"
QUIET_LOAD = 0.5
UNBROKEN = "completes without an error"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    known = ",".join([*SUITES, *GPU_SUITES, *OTHER_SUITES])
    parser.add_argument("--suite", default="all", help=f"all, gpu, or some of {known}")
    parser.add_argument("--threads", default="1,2", help="numbers of threads (1,2)")
    parser.add_argument("--matrices", help=f"of {','.join(graphs.MATRICES)}")
    parser.add_argument("--widths", help=f"columns of B ({DEFAULT_WIDTHS}; GPU {GPU_WIDTHS})")
    parser.add_argument(
        "--beside",
        type=Path,
        action="append",
        default=[],
        help="a Python file with your own contenders for the GPU suites",
    )
    parser.add_argument(
        "--formats", nargs="+", default=[], help='composite formats for hyb and gpu_hyb: "hyb(1,3)"'
    )
    parser.add_argument(
        "--tune",
        type=float,
        default=0.0,
        metavar="SECONDS",
        help="search time of hyb and gpu_hyb for the schedules of each format (0)",
    )
    parser.add_argument("--json", type=Path, help="file for the figures (build/bench/SUITE.json)")
    parser.add_argument("--no-tulle", action="store_true", help="run the peers alone")
    return parser.parse_args()


def _load_tulle() -> ModuleType:
    try:
        tulle = importlib.import_module("tulle")
        _ = tulle.tensor
    except (ImportError, AttributeError) as missing:
        raise SystemExit(
            f"Tulle cannot be imported ({missing}): run make build, or use --no-tulle"
        ) from None
    return tulle


def _load_beside(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if not spec or not spec.loader or not path.exists():
        raise SystemExit(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


def _machine() -> dict[str, Any]:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next(
        (line.split(":")[1].strip() for line in lines if line.startswith("model name")), ""
    )
    versions = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "scipy": scipy.__version__,
    }
    gpu = {"gpu": torch.cuda.get_device_name()} if torch.cuda.is_available() else {}
    return {"processor": model, "cores": os.cpu_count(), **gpu, **versions}


def _run(
    suite: harness.Suite, options: harness.Options
) -> tuple[list[harness.Row], list[harness.Verdict]]:
    """The rows and verdicts of a suite. An error ends the suite and becomes a verdict."""
    table = report.Table(suite.TITLE, suite.COMPARE)
    rows: list[harness.Row] = []
    errors = []
    try:
        for row in suite.measure(options):
            rows.append(row)
            table.add(row)
    except Exception as wrong:
        traceback.print_exc()
        errors.append(harness.Verdict(UNBROKEN, f"{type(wrong).__name__}: {wrong}", False))
    table.add_means(rows)
    return rows, errors + suite.judge(rows)


def main() -> None:
    arguments = _arguments()
    names = GROUPS.get(arguments.suite) or arguments.suite.split(",")
    known = [*SUITES, *GPU_SUITES, *OTHER_SUITES]
    if unknown := set(names) - set(known):
        raise SystemExit(
            f"no suite is called {', '.join(sorted(unknown))}; there are {', '.join(known)}"
        )
    if arguments.tune:  # tuned plans stay out of the user's cache
        os.environ["TULLE_CACHE_DIR"] = tempfile.mkdtemp()
    on_gpu = any(name.startswith("gpu_") for name in names)
    if on_gpu and not torch.cuda.is_available():
        raise SystemExit("the GPU suites need a GPU that torch can use")
    options = harness.Options(
        None if arguments.no_tulle else _load_tulle(),
        _numbers(arguments.threads),
        tuple((arguments.matrices or (GPU_MATRICES if on_gpu else DEFAULT_MATRICES)).split(",")),
        _numbers(arguments.widths or (GPU_WIDTHS if on_gpu else DEFAULT_WIDTHS)),
        tuple(_load_beside(path) for path in arguments.beside),
        tuple(arguments.formats),
        arguments.tune,
    )
    suites: dict[str, Any] = {name: importlib.import_module(f"suites.{name}") for name in names}
    start, load = time.time(), os.getloadavg()[0]
    machine = _machine()
    print(", ".join(f"{key} {value}" for key, value in machine.items()))
    if load > QUIET_LOAD:
        print(f"The machine is busy (load {load:.1f}): expect noise.")
    results = {name: _run(suite, options) for name, suite in suites.items()}
    rows_of = {name: rows for name, (rows, _) in results.items()}
    verdicts_of = {name: verdicts for name, (_, verdicts) in results.items()}
    report.print_losses({name: rows_of[name] for name in names if suites[name].COMPARE})
    report.print_verdicts(verdicts_of)

    OUTPUT.mkdir(parents=True, exist_ok=True)
    stem = arguments.suite.replace(",", "-")
    figures = arguments.json or OUTPUT / f"{stem}.json"
    picture = OUTPUT / f"{stem}.svg"
    machine |= {
        "load_before": load,
        "load_after": os.getloadavg()[0],
        "seconds": time.time() - start,
    }
    found = {
        name: {
            "rows": [asdict(row) for row in rows_of[name]],
            "verdicts": [asdict(v) for v in verdicts_of[name]],
        }
        for name in names
    }
    figures.write_text(json.dumps({"machine": machine, "suites": found}, indent=1) + "\n")
    titles = {name: suite.TITLE for name, suite in suites.items() if suite.COMPARE}
    print(f"\n{time.time() - start:.0f} s; figures in {figures}")
    if importlib.util.find_spec("matplotlib"):
        chart.write(picture, titles, {name: rows_of[name] for name in titles})
        print(f"chart in {picture}")
    else:
        print("no chart, which needs matplotlib: pip install matplotlib")
    if any(
        verdict.promise == UNBROKEN for verdicts in verdicts_of.values() for verdict in verdicts
    ):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
