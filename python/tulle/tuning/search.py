"""A search: which candidates it tries in which order, and the races that decide."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tulle.programs.candidates import Candidate
from tulle.support.errors import Unsupported, UserError
from tulle.tuning.contender import Workbench, agree
from tulle.tuning.pool import Pool
from tulle.tuning.race import (
    GAIN,
    LEAST_ROUNDS,
    LEAST_TRIAL,
    ROUNDS,
    Measured,
    Runner,
    Sample,
    cost,
    race,
)
from tulle.tuning.report import milliseconds
from tulle.tuning.result import Recommendation, Tuned
from tulle.tuning.space import Space

FIRST = 6  # candidates that are chosen to differ from each other
TRIAL_ROUNDS = 5  # that show whether a candidate deserves a longer race
TRIAL_SHARE = 0.1  # of the time of the search: the most that a trial may take
HOPELESS = 2.5  # a candidate slower than this multiple of the best gets no trial
FINALISTS = 3  # candidates for the deciding race of a choice of formats
MOST_RACES = 8  # for one choice of formats, on a busy machine or after misleading trials
FORMATS = 2  # choices of formats with a deciding race, besides the operands' own
OTHER_RESULT = "its result would have another format; choose one with out_format="
WRONG_RESULT = "its result differs from that of the planned schedule: a bug in Tulle"


class Search:
    """The state of a search. `show` gets the share of the time that has passed and a summary;
    `store` gets the result so far after each decision."""

    def __init__(
        self,
        space: Space,
        seconds: float,
        show: Callable[[float, str], None] | None = None,
        bench: Workbench | None = None,
        store: Callable[[Tuned], None] | None = None,
    ) -> None:
        self.space = space
        self.seconds = seconds
        self.show = show
        self.bench = bench or Workbench()
        self.store = store
        self.start = self.begin = self.bench.now()
        self.own = Pool(space.problem)
        self.pools: dict[tuple[tuple[str, str], ...], Pool] = {}  # by formats, own first
        self.waiting: list[Candidate] = []
        self.refused: list[Measured] = []
        self.recommended: Recommendation | None = None
        self.choices = space.format_choices()
        self.size = 0

    def run(self) -> Tuned:
        """Searches. An interrupt ends the search with the decisions made so far."""
        is_interrupted = False
        self._start()
        try:
            self._explore()
            self._decide()
        except KeyboardInterrupt:
            is_interrupted = True
        return self._result(is_interrupted)

    # ---- exploring -----------------------------------------------------------------------------

    def _start(self) -> None:
        """Measures the default, to which all candidates are compared."""
        default, *others = self.space.candidates(self.own.problem)
        runner, self.expected = self.bench.ready(self.own.problem, default)
        self.own.runners.append(runner)
        self.pools[default.formats] = self.own
        race([runner], 3, self.bench.now)
        runner.measured.ratio = 1.0
        self.waiting += others
        self.size = 1 + len(others)
        self.begin = self.bench.now()  # the time limit excludes the default's compilation

    def _explore(self) -> None:
        """Tries one candidate after the other, the schedule in use first."""
        self._try_stored(self.own)
        if self.waiting:
            self._try(self._next())
        for number, choice in enumerate(self.choices[1:]):
            if number == 0 or not self._is_over(0.6):
                self._add_formats(choice)
        while self.waiting and not self._is_over(0.8):
            self._try(self._next())

    def _add_formats(self, choice: Mapping[str, str]) -> None:
        """Converts the operands, tries the default, and adds the other candidates of these
        formats."""
        try:
            problem, seconds = self.bench.converted(self.space.problem, choice)
            default, *others = self.space.candidates(problem)
        except (RuntimeError, UserError, Unsupported) as error:
            self.size += 1
            self._refuse(Candidate(tuple(choice.items()), ""), error)
            return
        self.pools[default.formats] = Pool(problem, seconds)
        self.size += 1
        if self._try(default):
            self.waiting += others
            self.size += len(others)

    def _try_stored(self, pool: Pool) -> None:
        """Tries the schedule of an earlier search. It stays in use unless another one is faster."""
        schedule = self.bench.stored_schedule(pool.problem)
        if not schedule:
            return
        formats = pool.default.measured.candidate.formats
        stored = Candidate(formats, schedule)
        for one in self.waiting:
            if (one.formats, one.schedule) == (formats, schedule):
                stored = one
        if stored in self.waiting:
            self.waiting.remove(stored)
            self._try(stored)
        elif all(runner.measured.candidate.schedule != schedule for runner in pool.runners):
            self.size += 1
            self._try(stored)
        found = [r for r in pool.runners[1:] if r.measured.candidate.schedule == schedule]
        pool.in_use = found[0] if found else None

    def _next(self) -> Candidate:
        """The next candidate: first the user's, then promising ones that differ from all tried
        ones, then ones similar to the best."""
        if given := [one for one in self.waiting if one.is_given]:
            self.waiting.remove(given[0])
            return given[0]
        runners = self._runners()
        tried = [runner.measured.candidate for runner in runners]

        def estimate(candidate: Candidate) -> float:
            return float("inf") if candidate.predicted is None else candidate.predicted

        if len(tried) <= FIRST:
            unlike = [
                c for c in self.waiting if min(c.difference(other) for other in tried) >= 2
            ] or self.waiting
            chosen = min(unlike, key=estimate)
        else:
            best = min(runners, key=lambda runner: runner.measured.ratio).measured.candidate
            chosen = min(self.waiting, key=lambda c: (c.difference(best), estimate(c)))
        self.waiting.remove(chosen)
        return chosen

    def _try(self, candidate: Candidate) -> bool:
        """Measures a candidate for a short time, beside the default. False if it is refused."""
        pool = self.pools[candidate.formats]
        try:
            runner, results = self.bench.ready(pool.problem, candidate)
        except (RuntimeError, UserError, Unsupported) as error:
            self._refuse(candidate, error)
            return False
        if pool is not self.own and len(results) != len(self.expected):
            self.refused.append(Measured(candidate, refused=OTHER_RESULT))
            return False
        # Operands in other formats may give sparse results with the entries in another order.
        is_same = pool is self.own or len(self.expected) == 1
        if is_same and not agree(results, self.expected):
            self.refused.append(Measured(candidate, refused=WRONG_RESULT))
            return False
        measured = runner.measured
        measured.conversion_seconds = pool.conversion_seconds
        best = min(one.measured.ratio for one in self._runners())
        first = _first_samples(runner)
        measured.add(first)
        measured.ratio = min(measured.samples) / self.own.default.measured.seconds
        measured.is_judged = any(sample.is_clean for sample in first)
        pool.runners.append(runner)
        if measured.ratio < HOPELESS * best:
            both = [self.own.default, runner]
            affordable = int(TRIAL_SHARE * self.seconds / cost(both))
            trial = race(both, max(LEAST_TRIAL, min(TRIAL_ROUNDS, affordable)), self.bench.now)
            measured.ratio = trial.verdict(1).ratio
            measured.is_judged = len(trial.clean_rounds(1)) >= LEAST_TRIAL
            self._promote(pool, runner)
        if self.show:
            self.show(*self._progress())
        return True

    def _refuse(self, candidate: Candidate, error: Exception) -> None:
        self.refused.append(Measured(candidate, refused=str(error).splitlines()[0]))

    def _promote(self, pool: Pool, runner: Runner) -> None:
        """Races a runner that seems to be the best so far, and stores the decision, so that neither
        an interrupt nor the end of the process loses it."""
        winner = pool.winner()
        if pool is not self.own or runner.measured.ratio > GAIN * winner.measured.ratio:
            return
        both = [runner] if winner is pool.default else [winner, runner]
        if ROUNDS * cost([pool.default, *both]) < 0.1 * self.seconds:
            self._race(pool, both)
            if self.store and pool.decision:
                self.store(self._result(is_interrupted=True))
                pool.put_in_use()

    # ---- deciding ------------------------------------------------------------------------------

    def _decide(self) -> None:
        """Decides for the operands' own formats, then for the most promising other formats, then
        which formats are best. Candidates that looked best in trials were partly lucky."""
        self._decide_schedule(self.own)
        limit = GAIN * self.own.winner().measured.ratio
        pools = [pool for pool in self.pools.values() if pool is not self.own and pool.runners]
        best = {id(pool): min(one.measured.ratio for one in pool.runners) for pool in pools}
        better = [pool for pool in pools if best[id(pool)] < limit]
        chosen = sorted(better, key=lambda pool: best[id(pool)])[:FORMATS]
        for pool in chosen:
            if LEAST_ROUNDS * cost(pool.runners[:2]) < self._deadline(1.2) - self.bench.now():
                self._try_stored(pool)
                self._decide_schedule(pool)
        if chosen:
            self._recommend([pool.winner() for pool in chosen])

    def _decide_schedule(self, pool: Pool) -> None:
        """Races the best few against the default of the same formats, until each of them has an
        undisturbed race, or time is over."""
        for number in range(MOST_RACES):
            best = pool.promising()[:FINALISTS]
            verdicts = [runner.measured.verdict for runner in best]
            is_done = all(verdict and verdict.is_clear for verdict in verdicts)
            if is_done or (number > 0 and self._is_over(1.0)):
                break
            others = [runner for runner in pool.runners if runner not in best]
            won = [runner for runner in others if runner.measured.has_won]
            self._race(pool, self._affordable(pool.default, [*best, *won]))
        if pool.in_use and not pool.in_use.measured.verdict:
            self._race(pool, [pool.in_use])
        pool.decide(is_last=True)

    def _race(self, pool: Pool, runners: list[Runner]) -> None:
        """Races the runners against the default of the same formats; replaces earlier verdicts."""
        entered = [pool.default, *runners]
        end = self._deadline(1.1)
        deciding = race(entered, self._rounds(entered), self.bench.now, end)
        for at, runner in enumerate(runners, 1):
            verdict = deciding.verdict(at)
            runner.measured.verdict = verdict
            runner.measured.is_judged |= verdict.is_clear
            runner.measured.ratio = verdict.ratio * pool.default.measured.ratio
        pool.decide(is_last=False)

    def _recommend(self, others: list[Runner]) -> None:
        """Recommends the formats whose best schedule beats the best for the operands' own
        formats."""
        own = self.own.winner()
        others = self._affordable(own, others)
        last = race([own, *others], self._rounds([own, *others]), self.bench.now)
        verdicts = [(last.verdict(at), other.measured) for at, other in enumerate(others, 1)]
        won = [(verdict, best) for verdict, best in verdicts if verdict.is_won]
        if won:
            verdict, best = min(won, key=lambda one: one[0].ratio)
            self.recommended = Recommendation(best, verdict.seconds, verdict.other_seconds)

    def _affordable(self, first: Runner, others: list[Runner]) -> list[Runner]:
        """The most promising of the others, as many as can race against the first in the remaining
        time, and at least one."""
        ranked = sorted(others, key=lambda runner: runner.measured.ratio)
        left = self._deadline(1.0) - self.bench.now()
        while len(ranked) > 1 and LEAST_ROUNDS * cost([first, *ranked]) > left:
            ranked.pop()
        return ranked

    def _rounds(self, runners: list[Runner]) -> int:
        """The rounds that fit into the remaining time, within limits."""
        left = self._deadline(1.0) - self.bench.now()
        return max(LEAST_ROUNDS, min(ROUNDS, int(left / max(cost(runners), 1e-9))))

    # ---- results and progress ------------------------------------------------------------------

    def _result(self, is_interrupted: bool) -> Tuned:
        done = [runner.measured for runner in self._runners()]
        return Tuned(
            self.space.problem,
            self.own.default.measured,
            sorted(done, key=lambda one: one.seconds) + self.refused,
            [pool.decision for pool in self.pools.values() if pool.decision],
            self.recommended,
            self.size,
            (len(self.pools), len(self.choices)),
            self.bench.now() - self.start,
            is_interrupted,
        )

    def _progress(self) -> tuple[float, str]:
        decision = self.own.decision
        seconds = decision.seconds if decision else self.own.default.measured.seconds
        speedup = decision.default_seconds / seconds if decision else 1.0
        count = len(self._runners())
        text = f"{count} measured, best {milliseconds(seconds)}, {speedup:.2f}x"
        return (self.bench.now() - self.begin) / self.seconds, text

    def _runners(self) -> list[Runner]:
        return [runner for pool in self.pools.values() for runner in pool.runners]

    def _deadline(self, share: float) -> float:
        return self.begin + share * self.seconds

    def _is_over(self, share: float) -> bool:
        return self.bench.now() > self._deadline(share)


def _first_samples(runner: Runner) -> list[Sample]:
    """Two samples, and a few more if both were disturbed."""
    samples = [runner.sample() for _ in range(2)]
    while len(samples) < 5 and not any(sample.is_clean for sample in samples):
        samples.append(runner.sample())
    return samples
