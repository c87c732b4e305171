"""Fixtures for all tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from helpers import gradient_checks

from tulle.tuning.store import forget_tuned_plans


@pytest.fixture(autouse=True, scope="module")
def without_tuned_plans() -> Iterator[None]:
    """Removes the plans of searches after each file of tests."""
    yield
    forget_tuned_plans()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tells how many combinations of expression, formats and operand the tests of gradients
    checked."""
    if gradient_checks:
        counts = ", ".join(f"{count} by {way}" for way, count in sorted(gradient_checks.items()))
        total = gradient_checks.total()
        terminalreporter.write_line(f"gradients: {total} combinations, {counts}")
