"""The commands of python -m tulle."""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from tulle.command_line.operands import HELP, parse_operand
from tulle.library import bindings, dtypes
from tulle.notation import explanations
from tulle.plotting.pictures import check_name
from tulle.programs.execution import Operand
from tulle.support.errors import Unsupported, UserError
from tulle.tuning import store
from tulle.tuning.contender import Contender
from tulle.tuning.space import Space, candidates_for, problem_of
from tulle.tuning.tune import tune as run_search

EXPRESSION = 'an einsum ("ij,jk->ik") or index notation ("C[i,k] = A[i,j] * B[j,k]")'


def main(arguments: Sequence[str]) -> int:
    """Runs a command; its exit status."""
    given = _parser().parse_args(arguments)
    try:
        return int(given.command(given) or 0)
    except (UserError, Unsupported) as error:
        print(f"tulle: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # of `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tulle", description="Tulle, a sparse tensor compiler for PyTorch."
    )
    commands = parser.add_subparsers(required=True, metavar="command")

    def add(name: str, command: Callable[[Any], int | None], text: str) -> argparse.ArgumentParser:
        added = commands.add_parser(
            name, help=text, description=text, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        added.set_defaults(command=command)
        return added

    add("info", info, "prints versions, the machine, the GPU and the cache's directory")
    cache_parser = add("cache", cache, "lists or clears kernels and tuned plans on disk")
    cache_parser.add_argument("action", choices=["list", "clear"], nargs="?", default="list")
    cache_parser.add_argument("--plans", action="store_true", help="tuned plans alone")
    cache_parser.add_argument(
        "--kernels", action="store_true", help="kernels, and programs that use them, alone"
    )
    for name, command, text in (
        ("explain", explain, "shows what the compiler does, stage by stage"),
        ("bench", bench, "times a computation with its planned and its tuned schedule"),
        ("tune", tune, "finds the fastest schedule by measuring, and keeps it"),
    ):
        _add_computation(add(name, command, text))
    explain_parser, bench_parser, tune_parser = (
        commands.choices[name] for name in ("explain", "bench", "tune")
    )
    explain_parser.add_argument(
        "--stage", action="append", help="this stage alone: plan, nest, schedule, lower, passes..."
    )
    explain_parser.add_argument(
        "--candidates",
        type=int,
        default=0,
        metavar="N",
        help="the N most promising schedules too, after the stages (alone: --stage candidates)",
    )
    bench_parser.add_argument("--seconds", type=float, default=2.0, help="how long (2)")
    tune_parser.add_argument("--seconds", type=float, default=10.0, help="how long to search (10)")
    tune_parser.add_argument(
        "--formats", action="append", default=[], metavar="A=csr,csc", help="formats to be tried"
    )
    tune_parser.add_argument("--plot", metavar="FILE", help="draws the search: .svg, or .png")
    return parser


def _add_computation(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("expression", help=EXPRESSION)
    parser.add_argument("operands", nargs="+", metavar="NAME=WHAT", help="see below")
    parser.add_argument(
        "--dtype", default="f32", help="float32 (default) or f32, float16 or f16..."
    )
    parser.add_argument("--device", default="cpu", help="cpu (default) or cuda")
    parser.add_argument("--threads", type=int, help="how many threads PyTorch has")
    parser.epilog = HELP


def _computation(given: Any) -> tuple[str, list[Operand], dict[str, Any]]:
    """The text, and operands in order or by name."""
    if given.threads is not None:
        if given.threads < 1:
            raise UserError(f"--threads should be 1 or more, but found {given.threads}.")
        torch.set_num_threads(given.threads)
    by_name = {str(dtype).removeprefix("torch."): dtype for dtype in dtypes.NAMES}
    dtype = {**by_name, **dtypes.BY_NAME}.get(given.dtype)
    if dtype is None:
        raise UserError(f"--dtype should be one of {', '.join(by_name)}.")
    named: dict[str, Operand] = {}
    for text in given.operands:
        name, operand = parse_operand(text, dtype, given.device)
        if name in named:
            raise UserError(f"'{name}' is given twice; give each operand a name of its own.")
        named[name] = operand
    if "=" in given.expression:
        return given.expression, [], named
    return given.expression, list(named.values()), {}


# ---- commands ----------------------------------------------------------------------------------


def info(given: Any) -> None:
    """Versions, machine, GPU, caches."""
    directory = store.cache_directory()
    kernels, size = _kernels()
    rows = {
        "tulle": bindings.version,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "processor": _processor(),
        "threads": f"{torch.get_num_threads()} of {os.cpu_count()}",
        "gpu": _gpu(),
        "libraries": str(bindings.library_folder()),
        "cache": str(directory) if directory else "none (TULLE_CACHE=0, or no home directory)",
        "kernels": f"{kernels} entries, {size / 2**20:.1f} MiB",
        "tuned plans": str(len(store.tuned_plans())),
    }
    for name, text in rows.items():
        print(f"{name + ':':<13} {text}")


def cache(given: Any) -> None:
    """Lists or clears."""
    both = given.plans == given.kernels
    directory = store.cache_directory()
    print(f"cache: {directory or 'none'}")
    if given.plans or both:
        if given.action == "clear":
            print(f"tuned plans removed: {store.forget_tuned_plans()}")
        else:
            _list_plans()
    if given.kernels or both:
        count, size = _kernels(remove=given.action == "clear")
        verb = "removed" if given.action == "clear" else "kept"
        print(f"kernels {verb}: {count} entries, {size / 2**20:.1f} MiB")


def explain(given: Any) -> None:
    """The stages, and candidates."""
    text, ordered, named = _computation(given)
    shown = explanations.explain(text, *ordered, candidates=given.candidates, **named)
    if not given.stage:
        print(shown)
        return
    for stage in given.stage:
        if stage not in shown.stages:
            raise UserError(
                f"--stage: there is no stage '{stage}'; there are {', '.join(shown.stages)}."
            )
        print(f"== {stage} ==\n{shown.stages[stage]}")


def bench(given: Any) -> None:
    """Medians of calls, taking turns."""
    if not given.seconds > 0:
        raise UserError(f"--seconds should be a number above 0, but found {given.seconds}.")
    text, ordered, named = _computation(given)
    problem = problem_of("bench", text, ordered, named, None)
    default, *_ = candidates_for(problem)
    contenders = {
        "planned": Contender(problem, default),
        "in use": Contender(problem.tuned(), default),
    }
    for contender in contenders.values():
        contender.warm_up()
    samples: dict[str, list[float]] = {name: [] for name in contenders}
    end = time.perf_counter() + given.seconds
    while time.perf_counter() < end or len(samples["planned"]) < 5:
        for name, contender in contenders.items():
            samples[name].append(contender.sample().seconds)
    for name, times in samples.items():
        low, high = min(times), max(times)
        print(
            f"{name + ':':<9} {1e3 * statistics.median(times):9.4g} ms  "
            f"({1e3 * low:.4g} to {1e3 * high:.4g}, {len(times)} samples)"
        )


def tune(given: Any) -> int:
    """Searches; 130 if it was interrupted, after what was decided has been kept."""
    if given.plot:
        check_name(given.plot, has_png=True)
        _check_folder(Path(given.plot).parent)
    text, ordered, named = _computation(given)
    space = Space.default(text, *ordered, **named)
    for choice in given.formats:
        name, equals, formats = choice.partition("=")
        if not equals:
            raise UserError(f"--formats: expected A=csr,csc but found '{choice}'.")
        number = [n for n, one in enumerate(given.operands) if one.startswith(f"{name}=")]
        key: Any = number[0] if ordered and number else name
        space = space.formats({key: _split_formats(formats)})
    found = run_search(text, *ordered, space=space, seconds=given.seconds, **named)
    print(found)
    if given.plot:
        found.plot(given.plot)
    return 130 if found.is_interrupted else 0


# ---- what they ask -----------------------------------------------------------------------------


def _check_folder(folder: Path) -> None:
    """Before a search whose picture goes there."""
    if not folder.is_dir():
        raise UserError(f"--plot: there is no folder '{folder}'; make it first.")
    if not os.access(folder, os.W_OK):
        raise UserError(f"--plot: the folder '{folder}' cannot be written to.")


def _split_formats(text: str) -> list[str]:
    """At commas outside of parentheses."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "({") - (letter in ")}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def _list_plans() -> None:
    plans = store.tuned_plans()
    print(f"tuned plans: {len(plans)}")
    for plan in plans:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(plan.made))
        print(f"\n  {when}  {plan.default_seconds / plan.seconds:.2f}x of planned by rule")
        for text in (plan.statements, plan.tensors, plan.operands, plan.machine):
            for line in text.splitlines():
                print(f"    {line.strip()}")
        print(f"    -> {plan.schedule or 'as planned'}")


def _kernels(remove: bool = False) -> tuple[int, int]:
    """How many entries of kernels and their programs there are on disk, and their size."""
    directory = store.cache_directory()
    count = size = 0
    for path in directory.glob("*.o") if directory else ():
        try:
            size += path.stat().st_size
            count += 1
            if remove:
                path.unlink()
        except OSError:
            continue  # another process was faster
    return count, size


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            names = [
                line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")
            ]
    except OSError:
        names = []
    capability = torch.backends.cpu.get_cpu_capability()
    return f"{names[0] if names else platform.processor()}, {capability}"


def _gpu() -> str:
    if not torch.cuda.is_available():
        return "none" if torch.backends.cuda.is_built() else "none (this PyTorch has no CUDA)"
    found = []
    for number in range(torch.cuda.device_count()):
        major, minor = torch.cuda.get_device_capability(number)
        found.append(f"{torch.cuda.get_device_name(number)} (sm_{major}{minor})")
    return ", ".join(found)
