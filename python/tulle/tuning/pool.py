"""The candidates for one choice of formats, and the decision about them."""

from __future__ import annotations

from dataclasses import dataclass, field

from tulle.programs.problem import Problem
from tulle.tuning.race import GAIN, Runner
from tulle.tuning.result import Decision


@dataclass
class Pool:
    """The runners for one choice of formats."""

    problem: Problem
    conversion_seconds: float = 0.0
    runners: list[Runner] = field(default_factory=list)  # the default first
    # The runner whose schedule is in use, from an earlier search or this one.
    in_use: Runner | None = None
    in_use_decision: Decision | None = None  # of this search, which put it in use
    decision: Decision | None = None

    @property
    def default(self) -> Runner:
        """The planned schedule."""
        return self.runners[0]

    def ranked(self) -> list[Runner]:
        """All runners but the default, the most promising first."""
        return sorted(self.runners[1:], key=lambda runner: runner.measured.ratio)

    def promising(self) -> list[Runner]:
        """The runners that seem to be faster than the default."""
        limit = GAIN * self.default.measured.ratio
        return [runner for runner in self.ranked() if runner.measured.ratio < limit]

    def winner(self) -> Runner:
        """The best of the runners that won against the default, or the default."""
        return next((runner for runner in self.ranked() if runner.measured.has_won), self.default)

    def decide(self, is_last: bool) -> None:
        """Decides by the races so far. Only the last call decides for the default, and only if the
        measurements were not too disturbed."""
        best = self.winner().measured
        verdicts = [runner.measured.verdict for runner in self.runners]
        if self._stays_in_use():
            self.decision = self.in_use_decision
        elif best.verdict:
            self.decision = Decision(best, best.verdict.seconds, best.verdict.other_seconds)
        elif is_last and self._is_known() and all(v is None or v.is_clear for v in verdicts):
            self.decision = Decision(best, best.seconds, best.seconds)
        else:
            self.decision = None

    def put_in_use(self) -> None:
        """Marks the decided schedule as the one in use."""
        self.in_use_decision = self.decision
        best = self.decision.best if self.decision else None
        self.in_use = next((one for one in self.runners[1:] if one.measured is best), None)

    def _is_known(self) -> bool:
        """Whether enough undisturbed measurements exist to conclude that nothing beats the
        default."""
        others = [runner.measured for runner in self.runners[1:]]
        return 2 * sum(one.is_judged for one in others) >= len(others)

    def _stays_in_use(self) -> bool:
        """Whether the races leave the schedule in use undecided. It is replaced only if it is known
        to be no faster than the default, or slower than another winner."""
        if self.in_use is None:
            return False
        own, best = self.in_use.measured, self.winner().measured
        if own.has_won or own.has_lost:
            return False
        is_clear = own.verdict is not None and own.verdict.is_clear
        return not (is_clear and best.has_won and best.ratio < own.ratio)
