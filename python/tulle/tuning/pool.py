"""What is tried for operands in some formats, and what is decided for them."""

from __future__ import annotations

from dataclasses import dataclass, field

from tulle.tuning.race import GAIN, Runner
from tulle.tuning.result import Decision
from tulle.tuning.space import Problem


@dataclass
class Pool:
    """The contenders for a choice of formats."""

    problem: Problem
    conversion_seconds: float = 0.0
    runners: list[Runner] = field(default_factory=list)  # the default first
    kept: Runner | None = None  # what is in use: an earlier search has found it, or this one
    kept_for: Decision | None = None  # what this one decided for it
    decision: Decision | None = None

    @property
    def default(self) -> Runner:
        """The planned schedule."""
        return self.runners[0]

    def ranked(self) -> list[Runner]:
        """All but the default, the most promising first."""
        return sorted(self.runners[1:], key=lambda runner: runner.measured.ratio)

    def promising(self) -> list[Runner]:
        """Those that seem to be faster than the default."""
        limit = GAIN * self.default.measured.ratio
        return [runner for runner in self.ranked() if runner.measured.ratio < limit]

    def winner(self) -> Runner:
        """The best of those that won against the default, or the default."""
        return next((runner for runner in self.ranked() if runner.measured.has_won), self.default)

    def decide(self, is_last: bool) -> None:
        """By the races so far. That the default stays is known at the last only, and not if the
        machine was too busy to say."""
        best = self.winner().measured
        verdicts = [runner.measured.verdict for runner in self.runners]
        if self._is_kept_in_doubt():
            self.decision = self.kept_for
        elif best.verdict:
            self.decision = Decision(best, best.verdict.seconds, best.verdict.other_seconds)
        elif is_last and self._is_known() and all(v is None or v.is_clear for v in verdicts):
            self.decision = Decision(best, best.seconds, best.seconds)
        else:
            self.decision = None

    def keep(self) -> None:
        """What is decided is in use from now on."""
        self.kept_for = self.decision
        best = self.decision.best if self.decision else None
        self.kept = next((one for one in self.runners[1:] if one.measured is best), None)

    def _is_known(self) -> bool:
        """Whether that nothing seems to be faster than the default says more than that everything
        was disturbed."""
        others = [runner.measured for runner in self.runners[1:]]
        return 2 * sum(one.is_judged for one in others) >= len(others)

    def _is_kept_in_doubt(self) -> bool:
        """What is in use is given up only if it is known to be no faster than the default, or
        slower than another that is."""
        if self.kept is None:
            return False
        kept, best = self.kept.measured, self.winner().measured
        if kept.has_won or kept.has_lost:
            return False
        is_clear = kept.verdict is not None and kept.verdict.is_clear
        return not (is_clear and best.has_won and best.ratio < kept.ratio)
