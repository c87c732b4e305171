"""The commands of `python -m tulle`: their arguments and what they do."""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from tulle.command_line import installation
from tulle.command_line.operands import HELP, parse_operand
from tulle.library import dtypes
from tulle.notation import explanations
from tulle.plotting import pictures
from tulle.programs.candidates import candidates_for
from tulle.programs.program import Operand
from tulle.support.errors import Unsupported, UserError
from tulle.support.text import split_outside_brackets
from tulle.tuning import store
from tulle.tuning.contender import Contender
from tulle.tuning.space import Space, problem_of
from tulle.tuning.tune import tune as search

EXPRESSION = 'an einsum ("ij,jk->ik") or index notation ("C[i,k] = A[i,j] * B[j,k]")'


def main(arguments: Sequence[str]) -> int:
    """Runs a command and returns the exit status."""
    given = _parser().parse_args(arguments)
    try:
        return int(given.command(given) or 0)
    except (UserError, Unsupported) as error:
        print(f"tulle: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader ended early, as `head` does
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

    add("info", info, "prints versions, the machine, the GPU and the cache directory")
    cache_parser = add("cache", cache, "lists or clears kernels and tuned plans on disk")
    cache_parser.add_argument("action", choices=["list", "clear"], nargs="?", default="list")
    cache_parser.add_argument("--plans", action="store_true", help="tuned plans only")
    cache_parser.add_argument(
        "--kernels", action="store_true", help="kernels and the programs that use them only"
    )
    for name, command, text in (
        ("explain", explain, "shows what the compiler does, stage by stage"),
        ("bench", bench, "measures a computation with its planned and its tuned schedule"),
        ("tune", tune, "finds the fastest schedule by measuring, and stores it"),
    ):
        _add_computation(add(name, command, text))
    explain_parser, bench_parser, tune_parser = (
        commands.choices[name] for name in ("explain", "bench", "tune")
    )
    explain_parser.add_argument(
        "--stage", action="append", help="this stage only: plan, nest, schedule, lower, passes..."
    )
    explain_parser.add_argument(
        "--candidates",
        type=int,
        default=0,
        metavar="N",
        help="also the N most promising schedules (only them: --stage candidates)",
    )
    bench_parser.add_argument("--seconds", type=float, default=2.0, help="time to measure (2)")
    tune_parser.add_argument("--seconds", type=float, default=10.0, help="time to search (10)")
    tune_parser.add_argument(
        "--formats", action="append", default=[], metavar="A=csr,csc", help="formats to try"
    )
    tune_parser.add_argument(
        "--plot", metavar="FILE", help="writes a picture of the search: .svg or .png"
    )
    return parser


def _add_computation(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("expression", help=EXPRESSION)
    parser.add_argument("operands", nargs="+", metavar="NAME=WHAT", help="see below")
    parser.add_argument(
        "--dtype", default="f32", help="element type: float32 (default) or f32, float16 or f16..."
    )
    parser.add_argument("--device", default="cpu", help="cpu (default) or cuda")
    parser.add_argument("--threads", type=int, help="number of PyTorch's threads")
    parser.epilog = HELP


def _computation(given: Any) -> tuple[str, list[Operand], dict[str, Any]]:
    """The text, and the operands in order or by name."""
    if given.threads is not None:
        if given.threads < 1:
            raise UserError(f"--threads should be 1 or more, but found {given.threads}.")
        torch.set_num_threads(given.threads)
    by_name = {dtypes.torch_name(dtype): dtype for dtype in dtypes.NAMES}
    dtype = {**by_name, **dtypes.BY_NAME}.get(given.dtype)
    if dtype is None:
        raise UserError(f"--dtype should be one of {', '.join(by_name)}.")
    named: dict[str, Operand] = {}
    for text in given.operands:
        name, operand = parse_operand(text, dtype, given.device)
        if name in named:
            raise UserError(f"'{name}' is given twice; give each operand its own name.")
        named[name] = operand
    if "=" in given.expression:
        return given.expression, [], named
    return given.expression, list(named.values()), {}


# ---- commands ----------------------------------------------------------------------------------


def info(given: Any) -> None:
    """Prints versions, machine, GPU and caches."""
    for name, text in installation.facts().items():
        print(f"{name + ':':<13} {text}")


def cache(given: Any) -> None:
    """Lists or clears the cache on disk."""
    both = given.plans == given.kernels
    directory = store.cache_directory()
    print(f"cache: {directory or 'none'}")
    if given.plans or both:
        if given.action == "clear":
            print(f"tuned plans removed: {store.forget_tuned_plans()}")
        else:
            _list_plans()
    if given.kernels or both:
        count, size = installation.kernels_on_disk(remove=given.action == "clear")
        verb = "removed" if given.action == "clear" else "kept"
        print(f"kernels {verb}: {count} entries, {size / 2**20:.1f} MiB")


def explain(given: Any) -> None:
    """Prints the stages, and candidates."""
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
    """Prints the median times of the planned schedule and the one in use, which take turns."""
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
    """Searches. The exit status is 130 after an interrupt; decisions made before it are stored."""
    if given.plot:
        pictures.check_file_name(given.plot)
        pictures.check_matplotlib()
        _check_folder(Path(given.plot).parent)
    text, ordered, named = _computation(given)
    space = Space.default(text, *ordered, **named)
    for choice in given.formats:
        name, equals, formats = choice.partition("=")
        if not equals:
            raise UserError(f"--formats: expected A=csr,csc but found '{choice}'.")
        number = [n for n, one in enumerate(given.operands) if one.startswith(f"{name}=")]
        key: Any = number[0] if ordered and number else name
        space = space.formats({key: split_outside_brackets(formats, ",")})
    found = search(text, *ordered, space=space, seconds=given.seconds, **named)
    print(found)
    if given.plot:
        found.plot(given.plot)
    return 130 if found.is_interrupted else 0


# ---- details -----------------------------------------------------------------------------------


def _check_folder(folder: Path) -> None:
    """Checks the folder of a picture before the search."""
    if not folder.is_dir():
        raise UserError(f"--plot: there is no folder '{folder}'; make it first.")
    if not os.access(folder, os.W_OK):
        raise UserError(f"--plot: the folder '{folder}' is not writable.")


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
