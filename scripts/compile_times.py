#!/usr/bin/env python3
"""Times the compilation of random programs: python3 scripts/compile_times.py --count 200 --seed 1.

Draws programs of up to 8 operands, rank 6 and 50 operations, with nested functions and several
statements. `tulle-opt` compiles each of them in a fresh process, for a CPU and for a GPU, and some
of them after deriving them once or twice. Prints the slowest programs with the time of each stage.
"""

import argparse
import random
import re
import subprocess
import sys
from collections import Counter

FUNCTIONS = [
    "exp",
    "log1p",
    "sigmoid",
    "tanh",
    "erf",
    "expm1",
    "sinh",
    "cosh",
    "log",
    "sqrt",
    "square",
    "sin",
    "relu",
    "abs",
]
FORMATS = {
    1: ["dense"],
    2: ["dense", "csr", "csc", "coo", "dcsr", "ell(8)", "bsr(4,4)", "dia", "bitmap"],
    3: ["dense", "csf", "coo", "csr"],
}
HIGH_FORMATS = ["dense", "csf", "coo"]
EXTENTS = [4, 16, 64, 300, 3000]
REDUCTIONS = ["sum", "sum", "sum", "max", "logsumexp", "mean"]


class Program:
    """A random program as the text of an expression file."""

    def __init__(self, seed: int, operands: int, rank: int, operations: int) -> None:
        self.random = random.Random(seed)
        self.budget = self.random.randint(1, operations)
        self.rank = rank
        count = self.random.randint(1, 6)
        self.extents = {"ijklmnop"[n]: self.random.choice(EXTENTS) for n in range(count)}
        self.tensors: dict[str, list[str]] = {}
        self.declarations: dict[str, str] = {}
        for number in range(self.random.randint(1, operands)):
            self.declare("ABDEFGHKLM"[number])
        self.statements: list[str] = []
        for number in range(self.random.randint(1, 3)):
            self.add_statement(f"R{number}")

    def indices(self, most: int) -> list[str]:
        count = self.random.randint(1, min(most, len(self.extents)))
        return self.random.sample(sorted(self.extents), count)

    def declare(self, name: str) -> None:
        indices = self.indices(self.rank)
        self.tensors[name] = indices
        form = self.random.choice(FORMATS.get(len(indices), HIGH_FORMATS))
        sizes = [self.extents[index] for index in indices]
        entries = 1
        for size in sizes:
            entries *= size
        entries = min(entries, self.random.choice([100, 10_000, 1_000_000]))
        types = self.random.choice(["f32", "f32", "f64", "bf16"])
        is_dense = form == "dense"
        self.declarations[name] = (
            f"operand {name}: {types}, {'' if is_dense else 'i32, '}{form} "
            f"[{', '.join(map(str, sizes))}]" + ("" if is_dense else f" nnz {max(1, entries)}")
        )

    def add_statement(self, name: str) -> None:
        used: set[str] = set()
        text = self.expression(used, 0, linear=True)
        if not used:
            return
        left = self.random.sample(sorted(used), self.random.randint(0, min(3, len(used))))
        # Indices that are only below functions need an explicit sum: sum everything else.
        rest = sorted(used - set(left))
        if rest:
            inner = f"({', '.join(rest)})" if len(rest) > 1 else rest[0]
            text = f"{self.random.choice(REDUCTIONS)}({inner}, {text})"
        self.statements.append(f"{name}[{','.join(left)}] = {text}" if left else f"{name} = {text}")
        self.tensors[name] = left

    def expression(self, used: set[str], depth: int, linear: bool) -> str:
        self.budget -= 1
        kind = self.random.random()
        if self.budget <= 0 or depth > 12 or kind < 0.15:
            return self.access(used)
        if kind < 0.5:
            function = self.random.choice(FUNCTIONS)
            return f"{function}({self.expression(used, depth + 1, False)})"
        if kind < 0.56:
            name = self.random.choice([n for n in self.tensors if self.tensors[n]] or ["A"])
            used.update(self.tensors[name])
            mask = f"{name}[{','.join(self.tensors[name])}]"
            return f"within({mask}, {self.expression(used, depth + 1, linear)})"
        if kind < 0.62:
            parts = [self.expression(used, depth + 1, False) for _ in range(2)]
            return f"{self.random.choice(['max', 'min'])}({parts[0]}, {parts[1]})"
        operator = self.random.choice(["+", "-", "*", "*", "/"])
        left = self.expression(used, depth + 1, linear)
        right = self.expression(used, depth + 1, linear)
        return f"({left} {operator} {right})"

    def access(self, used: set[str]) -> str:
        name = self.random.choice(sorted(self.tensors))
        used.update(self.tensors[name])
        indices = ",".join(self.tensors[name])
        return f"{name}[{indices}]" if indices else name

    def text(self) -> str:
        body = "\n".join(self.statements)
        used = {name for name in self.declarations if re.search(rf"\b{name}(\[|\b)", body)}
        return "\n".join([self.declarations[n] for n in sorted(used)] + [body]) + "\n"


def nested(function: str, depth: int) -> str:
    call = "B[j,k]"
    for _ in range(depth):
        call = f"{function}({call})"
    return (
        "operand A: f32, i32, csr [2708, 2708] nnz 10556\noperand B: f32 [2708, 64]\n"
        f"C[i,k] = A[i,j] * {call}\n"
    )


def compile_times(tool: str, text: str, options: list[str], limit: float) -> dict[str, float] | str:
    """The milliseconds of each stage, or the first line of the error."""
    command = [tool, "--from", "expr", "--to", "asm", "--time-stages", *options, "-"]
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"more than the limit": limit * 1000}
    found = re.search(r"^stages: (.*) ms$", done.stderr, re.MULTILINE)
    if not found:
        return (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[0]
    times = (stage.rsplit(" ", 1) for stage in found.group(1).split(", "))
    return {name: float(time) for name, time in times}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tool", default="build/tulle-opt")
    parser.add_argument("--count", type=int, default=100, help="number of random programs")
    parser.add_argument("--seed", type=int, default=1, help="seed of the first program")
    parser.add_argument("--operands", type=int, default=8)
    parser.add_argument("--rank", type=int, default=6)
    parser.add_argument("--operations", type=int, default=50)
    parser.add_argument("--gradients", type=int, default=0, help="derive the programs so often")
    parser.add_argument("--targets", nargs="*", default=["avx512", "sm_90"])
    parser.add_argument("--slowest", type=int, default=10, help="how many programs to print")
    parser.add_argument("--show", action="store_true", help="print the slowest programs, too")
    parser.add_argument("--limit", type=float, default=60, help="seconds for one program")
    parser.add_argument("--nested", action="store_true", help="nested functions, not random ones")
    arguments = parser.parse_args()

    programs = []
    if arguments.nested:
        for function in ["exp", "log1p", "sigmoid", "tanh"]:
            programs += [(f"{function} {n} deep", nested(function, n)) for n in [2, 4, 8]]
    else:
        for seed in range(arguments.seed, arguments.seed + arguments.count):
            sizes = (arguments.operands, arguments.rank, arguments.operations)
            programs.append((f"seed {seed}", Program(seed, *sizes).text()))

    results, refused = [], Counter()
    for name, text in programs:
        for target in arguments.targets:
            options = ["--target", target, "--threads", "2"] + ["--gradient"] * arguments.gradients
            times = compile_times(arguments.tool, text, options, arguments.limit)
            if isinstance(times, str):
                refused[
                    re.sub(r"line \d+, column \d+", "", re.sub(r"'[^']*'", "'...'", times))
                ] += 1
            else:
                results.append((sum(times.values()), f"{name}, {target}", times, text))
    results.sort(key=lambda result: -result[0])
    for total, name, times, text in results[: arguments.slowest]:
        shares = sorted(times.items(), key=lambda item: -item[1])
        print(f"{total:8.1f} ms  {name}: " + ", ".join(f"{k} {v:.1f}" for k, v in shares if v >= 1))
        if arguments.show:
            print("    " + text.strip().replace("\n", "\n    "))
    over = sum(total > 500 for total, *_ in results)
    print(f"{len(results)} compiled, {over} in more than 500 ms, {sum(refused.values())} refused")
    for message, count in refused.most_common(5):
        print(f"  {count} x {message[:110]}", file=sys.stderr)


if __name__ == "__main__":
    main()
