"""What all tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tulle.tuning.store import forget_tuned_plans


@pytest.fixture(autouse=True, scope="module")
def without_tuned_plans() -> Iterator[None]:
    """What a search finds in one file of tests is not used in another."""
    yield
    forget_tuned_plans()
