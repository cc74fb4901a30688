"""Published speed-ups beside what the simulation gives for their setting, as far as that is public.

The model tells what overlap is worth (see `rlmkb.simulation.speedups`). Where it gives less than a headline claims,
something else has changed too, or the assumptions are wrong; `ceiling` says when no schedule could give it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import product
from typing import TYPE_CHECKING

from rlmkb.errors import InputError, nearest
from rlmkb.measurements import measurements
from rlmkb.simulation.lengths import ResponseLengths
from rlmkb.simulation.loop import Execution
from rlmkb.simulation.speedups import Setting, gains

if TYPE_CHECKING:
    import pandas as pd

Range = tuple[float, float]


@dataclass(frozen=True)
class Comparison:
    """A headline beside the model.

    Parameters
    ----------
    headline, system : str
        Row of ``data/measurements/headlines.csv``, and what it is about.
    reported : tuple of float
        Lowest and highest ratio claimed; equal where one is.
    modelled : tuple of float, optional
        Lowest and highest over the assumptions, with the baseline's times; none where the claim is not about overlap.
    with_own : tuple of float, optional
        The same with times that the system itself was measured to take, where they are public.
    ceiling : float, optional
        The largest gain of any schedule with the baseline's times, over the assumptions.
    known, assumed : str
        What of the setting is public, and what is not.
    account : str
        Where the difference comes from, as far as one can tell.
    """

    headline: str
    system: str
    reported: Range
    modelled: Range | None
    with_own: Range | None
    ceiling: float | None
    known: str
    assumed: str
    account: str

    @property
    def verdict(self) -> str:
        """How the two stand to each other, in words."""
        if self.modelled is None:
            return "not about overlap"
        if self.reported[1] < self.modelled[0]:
            return "reported below the model"
        if self.reported[0] <= self.modelled[1]:
            return "ranges meet"
        if self.with_own and self.reported[0] <= self.with_own[1]:
            return "ranges meet with the system's own times"
        return "reported above the model" if self.reported[0] <= self.ceiling else "reported above the ceiling"


@dataclass(frozen=True)
class Case:
    """A headline's settings, one for each combination of what is not known; `unknown` names those fields."""

    headline: str
    settings: Callable[[], Iterable[Setting]]
    unknown: tuple[str, ...]
    known: str
    account: str


def _over(base: Setting, **ranges: Sequence) -> list[Setting]:
    """A setting for each combination of values."""
    return [replace(base, **dict(zip(ranges, values, strict=True))) for values in product(*ranges.values())]


def _step(row: str) -> Mapping[str, float]:
    """Published times of a step; those that are missing are 0."""
    return measurements("rl_steps").set_index("id").loc[row].fillna(0.0).to_dict()


_FIRST_FINISHED = Execution("first_finished", weights="interrupt")
_TAILS = {"spread": (0.6, 1.0), "saturation": (1.0, 4.0)}
_UNKNOWN = ("training", "assessment", "spread", "limit", "saturation", "share")


def _fused() -> Iterable[Setting]:
    base = Setting(training=0.8, assessment=0.3, limit=20.0, fused=True)
    return _over(base, bubble=(0.2, 0.5), **_TAILS)


def _streamed() -> Iterable[Setting]:
    return _over(Setting(execution=Execution("continuous")), training=(0.5, 1.0), limit=(8.0, 20.0), **_TAILS)


def _at_scale(saturation: tuple[float, float], limit: float) -> Iterable[Setting]:
    base = Setting(staleness=4, execution=_FIRST_FINISHED, limit=limit)
    return _over(base, training=(0.3, 1.0), spread=_TAILS["spread"], saturation=saturation)


def _interrupted() -> Iterable[Setting]:
    drained = Execution("first_finished", weights="drain")
    base = Setting(execution=_FIRST_FINISHED, against=drained, share=0.75, training=0.05, assessment=0.02)
    return _over(base, staleness=(1, 4), **_TAILS)


def _one_step_off() -> Iterable[Setting]:
    for alone, split in (("rl_steps-0102", "rl_steps-0103"), ("rl_steps-0104", "rl_steps-0105")):
        sync, row = _step(alone), _step(split)
        other = sync["step_s"] - sync["gen_s"] - sync["old_logprob_s"] - sync["train_s"]
        own = {"generation": row["gen_s"], "assessment": row["old_logprob_s"], "training": row["train_s"]}
        own["other"] = row["step_s"] - row["exposed_gen_s"] - row["old_logprob_s"] - row["train_s"]
        share = row["gen_gpus"] / (row["gen_gpus"] + row["train_gpus"])
        base = Setting(sync["gen_s"], sync["old_logprob_s"], sync["train_s"], other, share=share)
        yield from _over(base, own=({}, own), **_TAILS)


def _fully_asynchronous() -> Iterable[Setting]:
    for number in (80, 82, 84, 96):
        sync, row = _step(f"rl_steps-{number:04d}"), _step(f"rl_steps-{number + 1:04d}")
        passes = sync["old_logprob_s"] + sync["ref_s"]
        other = sync["step_s"] - sync["gen_s"] - passes - sync["train_s"]
        share = row["gen_gpus"] / row["gpus_total"]
        base = Setting(sync["gen_s"], passes, sync["train_s"], other, share=share, execution=_FIRST_FINISHED)
        # the trainer uses the sampler's log-probabilities; how long generation takes is not told
        own = {"assessment": row["ref_s"], "training": row["train_s"], "other": 0.0}
        yield from _over(base, own=({}, own), **_TAILS)


def _half_and_half() -> Iterable[Setting]:
    sync = _step("rl_steps-0072")
    other = sync["step_s"] - sync["gen_s"] - sync["logprob_all_s"] - sync["train_s"]
    base = Setting(sync["gen_s"], sync["logprob_all_s"], sync["train_s"], other, share=0.5)
    for spread in _TAILS["spread"]:
        lengths = ResponseLengths.with_mean(sync["T_resp_mean"], spread, sync["T_resp_max"])
        limit = sync["T_resp_max"] / lengths.median
        yield from _over(replace(base, spread=spread, limit=limit), saturation=_TAILS["saturation"])


_DECOUPLED = partial(_at_scale, (0.5, 4.0), 8.0)  # of two headlines
_TIMED = ("spread", "saturation")
_LAYOUT = "The gain is of layouts, engines or memory management; both sides run one thing after the other."

CASES: tuple[Case, ...] = (
    Case(
        "headlines-0006", _fused, (*_UNKNOWN, "bubble"),
        "PPO with four models; finished samples are assessed while others generate, actor and critic training fill each"
        " other's bubbles; the update waits for all",
        "The baselines are other systems, whose engines and layouts the ratio includes. Here a fixed part of the"
        " devices assesses; to move devices over as the tail drains would gain more.",
    ),
    Case(
        "headlines-0010", _streamed, _UNKNOWN,
        "generation on its own devices, streamed, with one step of staleness, against a co-located synchronous system",
        "Lengths that are predicted, so that long responses decode in small batches, are not in the model.",
    ),
    Case(
        "headlines-0011", _DECOUPLED, (*_UNKNOWN, "staleness"),
        "rollouts that weights interrupt, on their own devices; training takes what is there; equal numbers of GPUs;"
        " hours of both sides",
        "A small model on many GPUs decodes below saturation, so that a part of them generates as fast: the gain rests"
        " on that as much as on the tail.",
    ),
    Case(
        "headlines-0012", _interrupted, (*_UNKNOWN, "staleness"),
        "new weights interrupt rollouts, against waiting for those that run; throughput of generation, on few GPUs",
        "The caches that an interruption throws away are not counted, and replicas do not wait for each other's longest"
        " response.",
    ),
    Case(
        "headlines-0015", lambda: _at_scale((0.1, 1.0), 20.0), (*_UNKNOWN, "staleness"),
        "rollouts each on their own course, against synchronous systems, on up to 1024 GPUs",
        "The headline is the best over baselines and scales, some of which no longer scale.",
    ),
    Case(
        "headlines-0016",
        lambda: _over(Setting(limit=4.0), training=(0.5, 1.0, 2.0), spread=(0.3, 0.6), saturation=_TAILS["saturation"]),
        _UNKNOWN,
        "one step of staleness, generation and training on separate GPUs, short responses",
        "The synchronous side generates with the training library, so a faster engine is part of the gain.",
    ),
    Case(
        "headlines-0017", _DECOUPLED, (*_UNKNOWN, "staleness"),
        "rollouts decoupled from training, bounded staleness, equal numbers of GPUs",
        "The higher figure is for agents, which also wait for their environments; that is not in the model.",
    ),
    Case(
        "headlines-0020", _fully_asynchronous, _TIMED,
        "seconds of the synchronous run's phases and of the split run's training; devices of each; longest response",
        "On its part of the GPUs the split run trains in hardly more time than the synchronous one on all, and takes"
        " log-probabilities from the sampler: more has changed than the schedule.",
    ),
    Case(
        "headlines-0021", _one_step_off, _TIMED,
        "seconds of every phase of both sides; three quarters of the GPUs train",
        "The percentages are of total times; the times of steps printed beside them have other ratios, higher for one"
        " engine and lower for the other.",
    ),
    Case(
        "headlines-0028", _half_and_half, _TIMED,
        "equal numbers of GPUs, half of them generate; phases of a step of an earlier release, with its mean length",
        "The split runs also change the training layout. At equal numbers of GPUs some of the published pairs are"
        " slower when split.",
    ),
    *(Case(name, lambda: (), (), "", _LAYOUT) for name in
      ("headlines-0001", "headlines-0002", "headlines-0007", "headlines-0008", "headlines-0009", "headlines-0024")),
)  # fmt: skip


def compare(headline: str) -> Comparison:
    """One headline beside the model.

    Parameters
    ----------
    headline : str
        Id in ``data/measurements/headlines.csv``.

    Returns
    -------
    Comparison
        Computed on the first call, in two seconds at most.

    Raises
    ------
    InputError
        For a headline without a case.

    Examples
    --------
    >>> compare("headlines-0001").verdict
    'not about overlap'
    """
    cases = {case.headline: case for case in CASES}
    if headline not in cases:
        raise InputError(f"there is no case for {headline!r}; available, nearest first: {nearest(headline, cases)}")
    case = cases[headline]
    row = measurements("headlines").set_index("id").loc[headline].fillna(0.0)
    high = float(row["value_high"])
    alone = [setting for setting in case.settings() if not setting.own]
    return Comparison(
        headline, row["system"], (float(row["value_low"]) or high, high), *_modelled(case.settings),
        case.known, "; ".join(_assumption(name, alone) for name in case.unknown), case.account,
    )  # fmt: skip


@cache
def _modelled(settings: Callable[[], Iterable[Setting]]) -> tuple[Range | None, Range | None, float | None]:
    """Speed-ups with the baseline's times, with the system's own, and the ceiling; over all settings."""
    found = [(setting, *gains(setting)) for setting in settings()]
    alone, own = ([ratio for setting, ratio, _ in found if bool(setting.own) is timed] for timed in (False, True))
    most = max((ceiling for setting, _, ceiling in found if not setting.own), default=None)
    return _range(alone), _range(own), most


def _range(ratios: Sequence[float]) -> Range | None:
    return (min(ratios), max(ratios)) if ratios else None


_WORDS = {
    "training": "training takes {} times as long as generation",
    "assessment": "assessment takes {} times as long as generation",
    "spread": "the logarithm of the lengths has a standard deviation of {}",
    "limit": "the limit is at {} medians",
    "saturation": "a decoding step with all rollouts takes {} times its fixed part",
    "bubble": "a pipeline idles {} of a pass",
    "staleness": "staleness is {}",
    "share": "{} of the devices generate",
}


def _assumption(name: str, settings: Sequence[Setting]) -> str:
    """What the settings assume of one field, in words."""
    values = [getattr(setting, name) for setting in settings]
    if None in values:
        return "the split of the devices is the best one"
    low, high = min(values), max(values)
    return _WORDS[name].format(f"{low:g}" if low == high else f"{low:g} to {high:g}")


def comparisons() -> "pd.DataFrame":
    """All cases as a table: what is reported, what the model gives, what no schedule could exceed.

    Returns
    -------
    pandas.DataFrame
        The fields of `Comparison`; ranges in two columns, for example ``modelled_low`` and ``modelled_high``.
    """
    import pandas as pd

    rows = []
    for case in CASES:
        found = compare(case.headline)
        ranges = {}
        for name in ("reported", "modelled", "with_own"):
            ranges[f"{name}_low"], ranges[f"{name}_high"] = getattr(found, name) or (None, None)
        rows.append({"headline": found.headline, "system": found.system, **ranges, "ceiling": found.ceiling,
                     "verdict": found.verdict, "known": found.known, "assumed": found.assumed,
                     "account": found.account})  # fmt: skip
    return pd.DataFrame(rows)
