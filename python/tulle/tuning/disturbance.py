"""How long the threads of this process wait for a processor: what other work takes from it."""

from __future__ import annotations

import os

TASKS = "/proc/self/task"
DISTURBED = 0.1  # of a sample


def waited() -> dict[str, int]:
    """Nanoseconds of each thread since it began; nothing where the system does not count them."""
    found = {}
    try:
        tasks = os.listdir(TASKS)
    except OSError:
        return {}
    for task in tasks:
        try:
            with open(f"{TASKS}/{task}/schedstat", "rb") as file:
                found[task] = int(file.read().split()[1])
        except (OSError, IndexError, ValueError):
            continue  # it has ended, or nothing is counted
    return found


def is_disturbed(before: dict[str, int], after: dict[str, int], seconds: float) -> bool:
    """Whether a thread waited for a good part of the time in between."""
    longest = max((after[task] - before.get(task, 0) for task in after), default=0)
    return longest > DISTURBED * 1e9 * seconds
