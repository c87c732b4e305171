"""Fixtures for all tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tulle.tuning.store import forget_tuned_plans


@pytest.fixture(autouse=True, scope="module")
def without_tuned_plans() -> Iterator[None]:
    """Removes the plans of searches after each file of tests."""
    yield
    forget_tuned_plans()
