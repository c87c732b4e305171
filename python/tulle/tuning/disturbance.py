"""Whether other work on the machine disturbed a measurement: how long the threads of this process
waited for a processor."""

from __future__ import annotations

import os

TASKS = "/proc/self/task"
DISTURBED = 0.1  # the share of a sample that a thread waits from which the sample is disturbed


def waiting_times() -> dict[str, int]:
    """The time that each thread has waited, in nanoseconds since its start. Empty where the system
    does not measure it."""
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
            continue  # the thread has ended, or the system does not measure its waiting time
    return found


def is_disturbed(before: dict[str, int], after: dict[str, int], seconds: float) -> bool:
    """Whether a thread waited for a large share of the seconds between the two measurements."""
    longest = max((after[task] - before.get(task, 0) for task in after), default=0)
    return longest > DISTURBED * 1e9 * seconds
