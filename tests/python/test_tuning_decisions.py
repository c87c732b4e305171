"""The decisions of a search with simulated times, noise, disturbed samples and interrupts."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

import tulle
from tulle.programs.candidates import Candidate
from tulle.programs.program import Program
from tulle.tuning import disturbance
from tulle.tuning.contender import Workbench
from tulle.tuning.race import Measured, Race, Sample, chance_of
from tulle.tuning.result import Decision, Tuned
from tulle.tuning.search import Search

Truth = Mapping[tuple[str, str], float]  # milliseconds of a call, by format and schedule
PLANNED = "planned"
PRODUCT = Program("ij,jk->ik", is_einsum=True)


@dataclass(frozen=True)
class Problem:
    """A problem, which is only a format here."""

    format: str
    program: Program = PRODUCT


@dataclass(frozen=True)
class Space:
    """The candidates of the truth, in an order that does not depend on it."""

    truth: Truth
    problem: Problem
    hidden: tuple[str, ...] = ()  # schedules that are not tried

    def format_choices(self) -> list[dict[str, str]]:
        own = self.problem.format
        others = {format for format, _ in self.truth} - {own}
        return [{"A": format} for format in (own, *sorted(others))]

    def candidates(self, problem: Problem) -> list[Candidate]:
        formats = (("A", problem.format),)
        schedules = [schedule for format, schedule in self.truth if format == problem.format]
        schedules = [one for one in schedules if one != PLANNED and one not in self.hidden]
        others = [Candidate(formats, one, predicted(one)) for one in schedules]
        return [Candidate(formats, PLANNED, 1.0, is_default=True), *others]


def predicted(schedule: str) -> float:
    return 0.0 if schedule == "fast" else random.Random(schedule).random()


@dataclass
class Machine(Workbench):
    """A simulated machine: samples advance the clock, and `disturb` changes them."""

    truth: Truth
    seed: int = 0
    noise: float = 0.02
    interrupt_at: int | None = None  # the number of the sample that is interrupted
    kept: Mapping[str, str] = field(default_factory=dict)  # schedules of earlier searches
    # The number of a sample, its candidate and its time: the disturbed sample.
    disturb: Callable[[int, Candidate, float, random.Random], Sample] | None = None
    time: float = 0.0
    samples: int = 0

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)

    def now(self) -> float:
        return self.time

    def ready(self, problem: Any, candidate: Candidate) -> tuple[Any, list[Any]]:
        self.time += 2e-3
        return Runner(self, candidate, self.truth[problem.format, candidate.schedule]), []

    def converted(self, problem: Any, formats: Mapping[str, str]) -> tuple[Any, float]:
        return Problem(formats["A"]), 0.1

    def stored_schedule(self, problem: Any) -> str:
        return self.kept.get(problem.format, "")

    def sample(self, candidate: Candidate, truth: float) -> Sample:
        self.samples += 1
        if self.samples == self.interrupt_at:
            raise KeyboardInterrupt
        seconds = 1e-3 * truth * max(0.5, self.random.gauss(1, self.noise))
        found = Sample(seconds)
        if self.disturb:
            found = self.disturb(self.samples, candidate, seconds, self.random)
        self.time += found.seconds
        return found


class Runner:
    """A candidate on the simulated machine."""

    def __init__(self, machine: Machine, candidate: Candidate, truth: float) -> None:
        self.machine, self.truth = machine, truth
        self.measured = Measured(candidate)
        self.repeats = 1

    def sample(self) -> Sample:
        return self.machine.sample(self.measured.candidate, self.truth)

    def release(self) -> None:
        pass


def search(machine: Machine, own: str, seconds: float = 0.5, hidden: tuple[str, ...] = ()) -> Tuned:
    space: Any = Space(machine.truth, Problem(own), hidden)
    return Search(space, seconds, bench=machine).run()


def test_what_is_decided_is_kept_at_once() -> None:
    truth = {("csr", PLANNED): 1.0, ("csr", "fast"): 0.5, ("csr", "a"): 1.5, ("csr", "b"): 1.2}
    kept: list[Tuned] = []
    space: Any = Space(truth, Problem("csr"))
    found = Search(space, 0.5, bench=Machine(truth), store=kept.append).run()
    assert kept and kept[0].decision and kept[0].decision.best.candidate.schedule == "fast"
    assert len(kept[0].measured) < len(found.measured)


@pytest.mark.parametrize("most", [1.2, 30.0])
def test_what_is_kept_at_once_is_not_taken_back_in_doubt(most: float) -> None:
    """After the decision every sample is disturbed, by at most this factor."""
    others = {("csr", f"c{number}"): 0.8 - 0.06 * number for number in range(1, 8)}
    truth = {("csr", PLANNED): 1.0, ("csr", "fast"): 0.8, **others}
    for seed in range(20):
        kept: list[Tuned] = []

        def disturb(
            _: int, __: Candidate, seconds: float, drawn: random.Random, kept: list[Tuned] = kept
        ) -> Sample:
            return Sample(seconds * drawn.uniform(1, most), False) if kept else Sample(seconds)

        machine = Machine(truth, seed, disturb=disturb)
        space: Any = Space(truth, Problem("csr"))
        found = Search(space, 2.0, bench=machine, store=kept.append).run()
        assert kept and kept[-1].decision and found.decision
        assert found.decision.best.candidate == kept[-1].decision.best.candidate
        assert not found.best.is_default


def searches_interrupted(
    make: Callable[[int | None], Machine], own: str, hidden: tuple[str, ...] = ()
) -> list[Tuned]:
    """A complete search, and a search interrupted at each sample after those of the default."""
    whole = make(None)
    found = [search(whole, own, hidden=hidden)]
    for at in range(4, whole.samples + 1):
        found.append(search(make(at), own, hidden=hidden))
        assert found[-1].is_interrupted
    return found


def time_of(truth: Truth, candidate: Candidate) -> float:
    return truth[candidate.formats[0][1], candidate.schedule]


def check(found: Tuned, truth: Truth, tolerance: float) -> None:
    """Asserts that no stored or recommended candidate is slower than what it replaces, and that the
    reported times were measured."""
    for decision in found.decisions:
        format = decision.formats[0][1]
        best = decision.best
        assert time_of(truth, best.candidate) <= (1 + tolerance) * truth[format, PLANNED]
        if best.is_default:
            assert not (found.is_interrupted and decision is found.decision)
        else:
            assert best.verdict and best.verdict.is_won and best.verdict.is_clear
            assert decision.seconds < decision.default_seconds
            assert min(best.samples) <= decision.seconds <= max(best.samples)
    if found.recommended:
        now, then = (time_of(truth, m.candidate) for m in (found.best, found.recommended.best))
        assert then <= (1 + tolerance) * now
        assert 0 < found.pays_after < float("inf")
    for one in found.measured:
        assert min(one.samples) <= one.seconds <= max(one.samples)


def drawn_truth(seed: int) -> dict[tuple[str, str], float]:
    """Random times of formats and schedules, most of them slower than the planned schedules."""
    drawn = random.Random(seed)
    truth = {}
    for format in ("csr", "hyb", "bsr"):
        planned = drawn.uniform(0.4, 0.8)
        truth[format, PLANNED] = planned
        for number in range(8):
            truth[format, f"step{number}({format})"] = planned * drawn.uniform(0.95, 1.4)
    return truth


@pytest.mark.parametrize("noise", [0.0, 0.02, 0.05, 0.1])
def test_what_is_kept_is_not_slower(noise: float) -> None:
    for seed in range(40):
        truth = drawn_truth(seed)
        check(search(Machine(truth, seed, noise), "csr"), truth, 0.2 * noise)


def test_another_format_keeps_no_schedule_slower_than_its_own_planned_one() -> None:
    truth = {("hyb", PLANNED): 0.62, ("csr", PLANNED): 0.5}
    truth |= {(format, f"step{n}"): 0.52 for format in ("csr", "hyb") for n in range(6)}
    for seed in range(60):
        found = search(Machine(truth, seed, noise=0.05), "hyb")
        check(found, truth, 0.0)
        assert all(one.best.is_default for one in found.decisions if one.formats[0][1] == "csr")


def test_what_is_faster_is_found_and_other_formats_are_recommended() -> None:
    truth = {("csr", PLANNED): 0.5, ("hyb", PLANNED): 0.4, ("bsr", PLANNED): 0.9}
    for format, best in (("csr", 0.42), ("hyb", 0.3), ("bsr", 0.8)):
        truth |= {(format, f"slow{n}({format})"): 0.55 for n in range(5)}
        truth[format, "fast"] = best
    for seed in range(20):
        found = search(Machine(truth, seed), "csr")
        check(found, truth, 0.0)
        assert found.schedule == "fast" and not found.is_interrupted
        assert found.speedup == pytest.approx(0.5 / 0.42, rel=0.05)
        assert found.formats == {"A": "hyb"}
        assert found.recommended and found.recommended.best.candidate.schedule == "fast"
        assert found.pays_after == pytest.approx(0.1 / 0.12e-3, rel=0.2)
        kept = {one.formats[0][1]: one.best.candidate.schedule for one in found.decisions}
        assert kept == {"csr": "fast", "hyb": "fast"}


def test_an_interrupt_keeps_what_is_decided_and_nothing_else() -> None:
    truth = drawn_truth(3) | {("csr", "fast"): 0.3, ("hyb", "fast"): 0.2}
    found = searches_interrupted(lambda at: Machine(truth, 5, 0.05, at), "csr")
    for one in found:
        check(one, truth, 0.0)
        if one.decision is None:
            assert one.best is one.default and one.speedup == 1
            assert one.recommended is None
    schedules = [one.schedule for one in found]
    assert schedules[0] == "fast"
    since = schedules.index("fast", 1)  # the number of samples before the decision
    assert since < 0.25 * len(schedules)
    assert schedules[-1] == "fast" and schedules[1] == PLANNED


def test_an_interrupt_does_not_decide_for_the_default() -> None:
    truth = {("csr", PLANNED): 0.5} | {("csr", f"step{n}"): 0.5 for n in range(12)}
    raced = 0
    for seed in range(3):
        make = lambda at, seed=seed: Machine(truth, seed, 0.05, at)  # noqa: E731
        for found in searches_interrupted(make, "csr"):
            check(found, truth, 0.0)
            raced += found.is_interrupted and any(one.verdict for one in found.measured)
            assert found.is_interrupted == (found.decision is None)
    assert raced > 0  # some candidates seemed to be better, but were not


def test_a_default_that_is_disturbed_at_first_does_not_make_others_seem_fast() -> None:
    """Disturbances go unnoticed."""

    def disturb(number: int, candidate: Candidate, seconds: float, _: random.Random) -> Sample:
        return Sample(seconds * (200 if candidate.is_default and 5 < number < 60 else 1))

    truth = {("csr", PLANNED): 0.04, ("csr", "serial"): 0.064, ("csr", "like it"): 0.041}
    for seed in range(4):
        for found in searches_interrupted(
            lambda at, seed=seed: Machine(truth, seed, 0.05, at, disturb=disturb),  # type: ignore[misc]
            "csr",
        ):
            check(found, truth, 0.0)
            assert found.best.is_default and found.speedup == 1


@pytest.mark.parametrize("is_counted", [True, False])
def test_load_that_slows_parallel_schedules_alone_lets_no_serial_one_win(is_counted: bool) -> None:
    """If waiting times are known, all samples may be disturbed; else one in 50 is clean."""

    def disturb(_: int, candidate: Candidate, seconds: float, drawn: random.Random) -> Sample:
        if "serial" in candidate.schedule or not (is_counted or drawn.random() > 0.02):
            return Sample(seconds)
        return Sample(seconds * drawn.uniform(20, 300), not is_counted)

    truth = {(format, f"parallel{n}"): 0.05 for n in range(3) for format in ("csr", "csc")}
    truth |= {("csr", "serial"): 0.07, ("csc", "serial2"): 0.08}
    truth |= {("csr", PLANNED): 0.04, ("csc", PLANNED): 0.06}
    for seed in range(10):
        found = search(Machine(truth, seed, disturb=disturb), "csr", seconds=5)
        check(found, truth, 0.0)
        assert found.recommended is None
        assert found.best.is_default
        assert bool(found.notes) == is_counted
        assert not is_counted or found.decision is None


def test_samples_that_are_disturbed_do_not_count() -> None:
    def disturb(_: int, __: Candidate, seconds: float, drawn: random.Random) -> Sample:
        is_clean = drawn.random() > 0.3
        return Sample(seconds * (1 if is_clean else drawn.uniform(2, 50)), is_clean)

    truth = {("csr", PLANNED): 0.5, ("csr", "fast"): 0.4, ("csr", "slow"): 0.55}
    for seed in range(20):
        found = search(Machine(truth, seed, disturb=disturb), "csr", seconds=5)
        assert found.schedule == "fast"
        assert found.speedup == pytest.approx(1.25, rel=0.05)


@pytest.mark.parametrize("hidden", [(), ("kept",)])
def test_what_an_earlier_search_has_found_is_kept_unless_something_is_faster(
    hidden: tuple[str, ...],
) -> None:
    truth = {("csr", PLANNED): 0.5, ("csr", "kept"): 0.4}
    truth |= {("csr", f"step{n}"): 0.45 for n in range(4)}
    truth |= {("hyb", PLANNED): 0.35, ("hyb", "kept"): 0.3, ("hyb", "other"): 0.32}

    def in_use_after(found: Tuned) -> dict[str, float]:
        used = {"csr": 0.4, "hyb": 0.3}
        for one in found.decisions:
            used[one.formats[0][1]] = time_of(truth, one.best.candidate)
        return used

    def make(at: int | None) -> Machine:
        return Machine(truth, 1, 0.01, at, kept={"csr": "kept", "hyb": "kept"})

    whole = search(make(None), "csr", hidden=hidden)
    assert whole.schedule == "kept"
    for found in searches_interrupted(make, "csr", hidden):
        assert in_use_after(found) == {"csr": 0.4, "hyb": 0.3}
    better = truth | {("csr", "better"): 0.3}
    assert search(Machine(better, 1, kept={"csr": "kept"}), "csr").schedule == "better"
    worse = truth | {("csr", "kept"): 0.6}
    assert search(Machine(worse, 1, kept={"csr": "kept"}), "csr").schedule.startswith("step")


def test_what_an_earlier_search_has_found_is_not_given_up_in_doubt() -> None:
    truth = {("csr", PLANNED): 0.5, ("csr", "kept"): 0.475, ("csr", "other"): 0.5}
    doubts = 0
    for seed in range(40):
        found = search(Machine(truth, seed, 0.05, kept={"csr": "kept"}), "csr")
        kept = next(one for one in found.measured if one.candidate.schedule == "kept")
        assert kept.verdict and kept.verdict.is_clear
        doubts += found.decision is None
        if found.decision and found.best.is_default:
            assert kept.verdict.ratio >= 0.98
        if found.decision is None:
            assert kept.verdict.ratio < 0.98 and not kept.verdict.is_won
            assert "times varied too much: the schedule in use stays" in str(found)
    assert 0 < doubts < 40


def test_a_busy_machine_does_not_forget_what_an_earlier_search_has_found() -> None:
    def disturb(_: int, __: Candidate, seconds: float, drawn: random.Random) -> Sample:
        return Sample(seconds * drawn.uniform(1, 30), False)

    truth = {("csr", PLANNED): 0.5, ("csr", "kept"): 0.4, ("csr", "other"): 0.45}
    for seed in range(20):
        found = search(Machine(truth, seed, disturb=disturb, kept={"csr": "kept"}), "csr")
        assert found.decision is None
        assert "the schedule in use stays" in str(found)
        assert found.notes


@pytest.mark.parametrize("slower", [1.2, 8.0])
def test_a_machine_that_is_always_busy_decides_nothing_and_says_so(slower: float) -> None:
    """This holds even if no candidate deserves a race or a trial."""

    def disturb(_: int, __: Candidate, seconds: float, drawn: random.Random) -> Sample:
        return Sample(seconds * drawn.uniform(5, 6), False)

    truth = {("csr", PLANNED): 0.5} | {("csr", f"step{n}"): slower * 0.5 for n in range(6)}
    for seed in range(20):
        found = search(Machine(truth, seed, disturb=disturb), "csr")
        assert not any(one.verdict for one in found.measured)
        assert found.decision is None and found.decisions == [] and found.disturbed == 1
        assert found.best.is_default and found.speedup == 1
        *_, verdict, note = str(found).splitlines()
        assert "no decision, because the machine was too busy" in verdict
        assert "the schedule in use stays" in verdict and "planned schedule stays" not in str(found)
        assert "100% of the samples: search again on an idle machine, or for more seconds" in note
        assert repr(found) == str(found)
        assert "no decision" in found.plot().svg


def test_the_planned_one_stays_where_most_of_the_others_were_measured_undisturbed() -> None:
    def disturb(_: int, candidate: Candidate, seconds: float, drawn: random.Random) -> Sample:
        is_clean = candidate.schedule not in busy
        return Sample(seconds * (1 if is_clean else drawn.uniform(5, 6)), is_clean)

    truth = {("csr", PLANNED): 0.5} | {("csr", f"step{n}"): 0.6 for n in range(6)}
    for count in range(7):
        busy = {f"step{n}" for n in range(count)}
        found = search(Machine(truth, 1, disturb=disturb), "csr")
        assert len(found.measured) == 7
        assert (found.decision is not None) == (count <= 3)
        assert ("the planned schedule stays" in str(found)) == (count <= 3)
        assert ("too busy" in str(found)) == (count > 3)
        assert bool(found.notes) == (found.disturbed > 0.2)


def test_a_space_of_the_planned_one_alone_is_decided() -> None:
    def disturb(_: int, __: Candidate, seconds: float, ___: random.Random) -> Sample:
        return Sample(seconds, False)

    found = search(Machine({("csr", PLANNED): 0.5}, disturb=disturb), "csr")
    assert found.decision and "the planned schedule stays" in str(found) and found.notes


def test_slow_calls_take_no_more_than_a_few_times_what_was_asked_for() -> None:
    truth = drawn_truth(2) | {("csr", "fast"): 0.1}
    slow = {key: 1000 * value for key, value in truth.items()}
    machine = Machine(slow, 1)
    check(search(machine, "csr", seconds=5), slow, 0.0)
    assert machine.time < 30


# ---- races -------------------------------------------------------------------------------------


def of(*times: float) -> list[Sample]:
    return [Sample(one) for one in times]


def test_luck() -> None:
    assert chance_of(5, 5) == 1 / 32
    assert chance_of(0, 7) == 1
    assert chance_of(11, 15) > 1 / 32 > chance_of(12, 15)


@pytest.mark.parametrize(
    ("first", "other", "least", "is_won"),
    [
        ([1.0] * 5, [0.9] * 5, 1.0, True),
        ([1.0] * 5, [0.99] * 5, 1.0, False),  # the gain is too small
        ([1.0] * 4, [0.5] * 4, 1.0, False),  # too few rounds
        ([1.0] * 5, [0.9] * 4 + [1.1], 1.0, False),  # may be luck
        ([1.0] * 15, [0.9] * 12 + [1.1] * 3, 1.0, True),
        ([1.4] * 15, [1.1] * 15, 1.0, False),  # the first was faster before
        ([1.4] * 15, [1.1] * 14 + [0.9], 1.0, True),
    ],
)
def test_verdicts(first: list[float], other: list[float], least: float, is_won: bool) -> None:
    verdict = Race([of(*first), of(*other)], [least, min(other)]).verdict(1)
    assert verdict.is_won == is_won
    assert verdict.is_clear == (len(first) >= 5)


@pytest.mark.parametrize("least", [[1.0, 1.0], [5.0, 0.5]])
def test_what_was_far_faster_before_is_disturbed(least: list[float]) -> None:
    verdict = Race([of(*[5.0] * 15), of(*[1.0] * 15)], least).verdict(1)
    assert not verdict.is_clear and not verdict.is_won


def test_verdicts_are_of_rounds_that_nothing_disturbed() -> None:
    disturbed = [Sample(50.0, False)] * 6
    first, other = [*of(*[1.0] * 5), *disturbed], [*of(*[0.9] * 5), *of(*[0.9] * 6)]
    assert Race([first, other], [1.0, 0.9]).verdict(1).other_seconds == 1.0
    verdict = Race([first[1:], other[1:]], [1.0, 0.9]).verdict(1)
    assert not verdict.is_clear and not verdict.is_won


def test_waits_for_a_processor() -> None:
    before = {"1": 5_000_000, "2": 0}
    assert not disturbance.is_disturbed(before, {"1": 5_040_000, "2": 0}, 1e-3)
    assert disturbance.is_disturbed(before, {"1": 5_000_000, "2": 200_000}, 1e-3)
    assert not disturbance.is_disturbed({}, {}, 1e-3)
    assert all(waited >= 0 for waited in disturbance.waiting_times().values())


def test_a_system_that_counts_no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disturbance, "TASKS", "/nowhere")
    assert disturbance.waiting_times() == {}


def test_decisions_have_formats() -> None:
    one = Measured(Candidate((("A", "csr"),), "parallel(i)"))
    assert Decision(one, 1.0, 2.0).formats == (("A", "csr"),)
    assert tulle.Tuned is Tuned
