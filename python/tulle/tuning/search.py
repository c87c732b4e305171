"""A search: what is tried next, and what is decided by races."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tulle.support.errors import Unsupported, UserError, translated
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
from tulle.tuning.result import Recommendation, Tuned, milliseconds
from tulle.tuning.space import Candidate, Space

FIRST = 6  # candidates that are chosen to be far from each other
TRIAL_ROUNDS = 5  # that say what is worth a longer race
TRIAL_SHARE = 0.1  # of the time of the search, at most
HOPELESS = 2.5  # times the best: not even that
FINALISTS = 3  # of the formats that something is decided for
MOST_RACES = 8  # to find these, where the machine is busy or first impressions were wrong
FORMATS = 2  # beside the operands' own, that something is decided for
OTHER_RESULT = "its result would be stored in another format; say which with out_format="


class Search:
    """The state of a search."""

    def __init__(
        self,
        space: Space,
        seconds: float,
        show: Callable[[float, str], None] | None = None,
        bench: Workbench | None = None,
        keep: Callable[[Tuned], None] | None = None,
    ) -> None:
        self.space = space
        self.seconds = seconds
        self.show = show
        self.bench = bench or Workbench()
        self.keep = keep
        self.start = self.begin = self.bench.now()
        self.own = Pool(space.problem)
        self.pools: dict[tuple[tuple[str, str], ...], Pool] = {}  # by formats, own first
        self.waiting: list[Candidate] = []
        self.refused: list[Measured] = []
        self.recommended: Recommendation | None = None
        self.choices = space.format_choices()
        self.size = 0

    def run(self) -> Tuned:
        """Searches; an interrupt ends it with what was decided by then."""
        is_interrupted = False
        self._start()
        try:
            self._explore()
            self._decide()
        except KeyboardInterrupt:
            is_interrupted = True
        finally:
            if self.show:
                self.show(1.0, "")
        return self._result(is_interrupted)

    # ---- exploring -----------------------------------------------------------------------------

    def _start(self) -> None:
        """Measures the default, without which nothing can be said."""
        default, *others = self.space.candidates(self.own.problem)
        try:
            runner, self.expected = self.bench.ready(self.own.problem, default)
        except RuntimeError as error:
            raise translated(error) from None
        self.own.runners.append(runner)
        self.pools[default.formats] = self.own
        race([runner], 3, self.bench.now)
        runner.measured.ratio = 1.0
        self.waiting += others
        self.size = 1 + len(others)
        self.begin = self.bench.now()  # the compiler's own time does not count

    def _explore(self) -> None:
        """Tries one candidate after the other, those in use first."""
        self._try_kept(self.own)
        if self.waiting:
            self._try(self._next())
        for number, choice in enumerate(self.choices[1:]):
            if number == 0 or not self._is_over(0.6):
                self._add_formats(choice)
        while self.waiting and not self._is_over(0.8):
            self._try(self._next())

    def _add_formats(self, choice: Mapping[str, str]) -> None:
        """Converts the operands; the candidates of those formats wait too."""
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

    def _try_kept(self, pool: Pool) -> None:
        """What an earlier search has found: it is given up only for what is faster."""
        schedule = self.bench.kept_schedule(pool.problem)
        if not schedule:
            return
        formats = pool.default.measured.candidate.formats
        kept = Candidate(formats, schedule)
        for one in self.waiting:
            if (one.formats, one.schedule) == (formats, schedule):
                kept = one
        if kept in self.waiting:
            self.waiting.remove(kept)
            self._try(kept)
        elif all(runner.measured.candidate.schedule != schedule for runner in pool.runners):
            self.size += 1
            self._try(kept)
        found = [r for r in pool.runners[1:] if r.measured.candidate.schedule == schedule]
        pool.kept = found[0] if found else None

    def _next(self) -> Candidate:
        """What the user gave, then what is promising and unlike what was tried, then what is like
        the best."""
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
        """Measures it for a short time, beside the default; False if it is refused."""
        pool = self.pools[candidate.formats]
        try:
            runner, results = self.bench.ready(pool.problem, candidate)
        except (RuntimeError, UserError, Unsupported) as error:
            self._refuse(candidate, error)
            return False
        if pool is not self.own and len(results) != len(self.expected):
            self.refused.append(Measured(candidate, refused=OTHER_RESULT))
            return False
        # Sparse results of other formats may be stored in another order.
        is_same = pool is self.own or len(self.expected) == 1
        if is_same and not agree(results, self.expected):
            self.refused.append(Measured(candidate, refused="it computes something else: a bug"))
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
            self._report()
        return True

    def _refuse(self, candidate: Candidate, error: Exception) -> None:
        meant = translated(error) if isinstance(error, RuntimeError) else error
        self.refused.append(Measured(candidate, refused=str(meant).splitlines()[0]))

    def _promote(self, pool: Pool, runner: Runner) -> None:
        """Decides at once for what seems the best so far, and keeps that: an interrupt finds it
        decided, and the end of the process kept."""
        winner = pool.winner()
        if pool is not self.own or runner.measured.ratio > GAIN * winner.measured.ratio:
            return
        both = [runner] if winner is pool.default else [winner, runner]
        if ROUNDS * cost([pool.default, *both]) < 0.1 * self.seconds:
            self._race(pool, both)
            if self.keep and pool.decision:
                self.keep(self._result(is_interrupted=True))
                pool.keep()

    # ---- deciding ------------------------------------------------------------------------------

    def _decide(self) -> None:
        """For the operands' own formats, then for the most promising others, then which are best:
        what looked best at first was partly lucky."""
        self._decide_schedule(self.own)
        limit = GAIN * self.own.winner().measured.ratio
        pools = [pool for pool in self.pools.values() if pool is not self.own and pool.runners]
        best = {id(pool): min(one.measured.ratio for one in pool.runners) for pool in pools}
        better = [pool for pool in pools if best[id(pool)] < limit]
        chosen = sorted(better, key=lambda pool: best[id(pool)])[:FORMATS]
        for pool in chosen:
            if LEAST_ROUNDS * cost(pool.runners[:2]) < self._deadline(1.2) - self.bench.now():
                self._try_kept(pool)
                self._decide_schedule(pool)
        if chosen:
            self._recommend([pool.winner() for pool in chosen])

    def _decide_schedule(self, pool: Pool) -> None:
        """Races the best few against the default of the same formats, until all of the best have
        been in such a race that nothing disturbed, or time is over."""
        for number in range(MOST_RACES):
            best = pool.promising()[:FINALISTS]
            verdicts = [runner.measured.verdict for runner in best]
            is_done = all(verdict and verdict.is_clear for verdict in verdicts)
            if is_done or (number > 0 and self._is_over(1.0)):
                break
            others = [runner for runner in pool.runners if runner not in best]
            won = [runner for runner in others if runner.measured.has_won]
            self._race(pool, self._affordable(pool.default, [*best, *won]))
        if pool.kept and not pool.kept.measured.verdict:
            self._race(pool, [pool.kept])
        pool.decide(is_last=True)

    def _race(self, pool: Pool, runners: list[Runner]) -> None:
        """Beside the default of the same formats. What an earlier race said is forgotten."""
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
        """Formats whose best schedule beats that of the operands' own."""
        own = self.own.winner()
        others = self._affordable(own, others)
        last = race([own, *others], self._rounds([own, *others]), self.bench.now)
        verdicts = [(last.verdict(at), other.measured) for at, other in enumerate(others, 1)]
        won = [(verdict, best) for verdict, best in verdicts if verdict.is_won]
        if won:
            verdict, best = min(won, key=lambda one: one[0].ratio)
            self.recommended = Recommendation(best, verdict.seconds, verdict.other_seconds)

    def _affordable(self, first: Runner, others: list[Runner]) -> list[Runner]:
        """The most promising of the others that can race against the first in the time that is
        left, and at least one."""
        ranked = sorted(others, key=lambda runner: runner.measured.ratio)
        left = self._deadline(1.0) - self.bench.now()
        while len(ranked) > 1 and LEAST_ROUNDS * cost([first, *ranked]) > left:
            ranked.pop()
        return ranked

    def _rounds(self, runners: list[Runner]) -> int:
        """As many as there is time for, within bounds."""
        left = self._deadline(1.0) - self.bench.now()
        return max(LEAST_ROUNDS, min(ROUNDS, int(left / max(cost(runners), 1e-9))))

    # ---- what is seen of it --------------------------------------------------------------------

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

    def _report(self) -> None:
        decision = self.own.decision
        seconds = decision.seconds if decision else self.own.default.measured.seconds
        speedup = decision.default_seconds / seconds if decision else 1.0
        count = len(self._runners())
        text = f"{count} measured, best {milliseconds(seconds)}, {speedup:.2f}x"
        assert self.show
        self.show((self.bench.now() - self.begin) / self.seconds, text)

    def _runners(self) -> list[Runner]:
        return [runner for pool in self.pools.values() for runner in pool.runners]

    def _deadline(self, share: float) -> float:
        return self.begin + share * self.seconds

    def _is_over(self, share: float) -> bool:
        return self.bench.now() > self._deadline(share)


def _first_samples(runner: Runner) -> list[Sample]:
    """Two, and a few more if both were disturbed."""
    samples = [runner.sample() for _ in range(2)]
    while len(samples) < 5 and not any(sample.is_clean for sample in samples):
        samples.append(runner.sample())
    return samples
