"""The sizes of kernels grow in proportion to the depth of nested functions.

Counts the words of the loop IR after the passes, and the instructions of the LLVM IR, for 2, 4 and
8 functions in one another, also in gradients.
"""

import subprocess
import sys

PROGRAM = """operand A: f32, i32, csr [2708, 2708] nnz 10556
operand B: f32 [2708, 64]
C[i,k] = A[i,j] * {call}
"""
# For a program of twice the depth: a gradient has a factor for each function.
MOST_GROWTH = 2.6


def size(stage: str, function: str, depth: int, options: list[str]) -> int:
    call = "B[j,k]"
    for _ in range(depth):
        call = f"{function}({call})"
    command = ["tulle-opt", "--from", "expr", "--to", stage, *options, "-"]
    text = subprocess.run(
        command, input=PROGRAM.format(call=call), capture_output=True, text=True, check=True
    ).stdout
    return len(text.split()) if stage == "passes" else text.count("\n  ")


def main() -> None:
    for options in (
        ["--target", "avx2"],
        ["--target", "sm_90"],
        ["--target", "avx2", "--gradient"],
    ):
        for function in ("exp", "log1p", "sigmoid", "tanh"):
            for stage in ("passes", "llvm"):
                two, four, eight = (size(stage, function, depth, options) for depth in (2, 4, 8))
                growth = (eight - four) / (four - two)
                if growth > MOST_GROWTH:
                    text = f"{function} {' '.join(options)}, {stage}: {two}, {four}, {eight}"
                    sys.exit(f"sizes for depths 2, 4, 8 grow too fast: {text}")
    print("all sizes grow linearly")


if __name__ == "__main__":
    main()
