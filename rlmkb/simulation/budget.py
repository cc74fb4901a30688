"""Which configuration is fastest on a given number of devices: periods of table IX's rows over shares of the devices.

The analytic form of `rlmkb.simulation.analytic` with the device time of `rlmkb.simulation.speedups`, so that sweeps
take no simulation: all devices in turns, or a share that generates beside groups for assessment and for training.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import sympy

from rlmkb.errors import InputError
from rlmkb.simulation.analytic import period
from rlmkb.simulation.services import Decoding, Passes, Service, step_time
from rlmkb.simulation.speedups import ROLLOUTS, Setting
from rlmkb.theory.algorithms import GRPO
from rlmkb.theory.configurations import CONFIGURATIONS
from rlmkb.theory.graph import SYNCHRONOUS, IterationGraph, Schedule, split_by_stage

if TYPE_CHECKING:
    import pandas as pd

ALGORITHM = GRPO.with_verifier()  # a reference pass, a verifier that takes no devices

PARTS = np.linspace(0.02, 0.98, 49)  # of the devices that do not generate, those that assess

#: From a name to the graph, whether the devices are split, and whether generation has a layout of its own.
PLANS: Mapping[str, tuple[IterationGraph, bool, bool]] = {
    "co-located": (CONFIGURATIONS["baseline"].graph(ALGORITHM), False, False),
    "hybrid": (CONFIGURATIONS["hybrid"].graph(ALGORITHM), False, True),
    "split, synchronous": (IterationGraph(ALGORITHM, split_by_stage(ALGORITHM), SYNCHRONOUS), True, False),
    "asynchronous": (CONFIGURATIONS["async"].graph(ALGORITHM), True, False),
    "combined": (CONFIGURATIONS["combined"].graph(ALGORITHM), True, True),
}


def pipelined(staleness: sympy.Expr | int) -> IterationGraph:
    """Groups for generation, assessment and training, without barriers, at a staleness or the symbol of one.

    Examples
    --------
    >>> eta = sympy.Symbol("eta")
    >>> pipelined(eta).period(lambda node: sympy.Symbol(f"D_{node.stage.value[0]}", positive=True))
    max(D_a, D_g, D_t, (D_a + D_g + D_t)/(eta + 1))
    """
    schedule = Schedule(frozenset(), staleness=sympy.sympify(staleness))
    return IterationGraph(ALGORITHM, split_by_stage(ALGORITHM), schedule)


def decode_step(setting: Setting, devices: float | np.ndarray, layout: float = 1.0) -> tuple[float, float | np.ndarray]:
    """Fixed part of a decoding step, and seconds that each sequence adds, on a share of the devices.

    Parameters
    ----------
    setting : Setting
        Of which generation takes its time on all devices.
    devices : float or array
        Share of the devices.
    layout : float
        Fixed part over that of the baseline's layout: a tensor group reads each weight once, replicas several times.

    Examples
    --------
    >>> fixed, each = decode_step(Setting(spread=0.0, saturation=1.0), 0.5, layout=0.5)
    >>> round(fixed * 1000, 3), round(each * 256 * 1000, 3)  # 1,000 steps take a second on all devices
    (0.5, 2.0)
    """
    whole = float(setting.lengths.decoding_time(ROLLOUTS, 1.0, setting.saturation / ROLLOUTS))
    fixed = setting.generation / whole
    return layout * fixed, fixed * setting.saturation / ROLLOUTS / devices


def seconds(
    setting: Setting, share: np.ndarray | None = None, part: np.ndarray | float = 0.5, layout: float = 1.0
) -> dict[str, np.ndarray]:
    """Times of the nodes on all devices in turns, or with a share that generates.

    Parameters
    ----------
    setting : Setting
        Times on all devices, lengths and saturation.
    share : array, optional
        Of the devices, that generates; without it all devices do everything in turns.
    part : array or float
        Of the others, that assesses; the rest trains.
    layout : float
        As of `decode_step`.

    Examples
    --------
    >>> found = seconds(Setting(assessment=0.3, training=1.0), np.array([0.2]), part=0.25)
    >>> found["reference/assessment"].round(2), found["policy/training"].round(2)
    (array([1.5]), array([1.67]))
    """
    devices = np.ones(1) if share is None else np.asarray(share, dtype=float)
    if share is not None and not np.all((devices > 0) & (devices < 1)):
        raise InputError(f"share is {share}; give shares of the devices above 0, below 1")
    fixed, each = decode_step(setting, devices, layout)
    rest = 1 - devices
    return {
        "policy/generation": np.asarray(setting.lengths.decoding_time(ROLLOUTS, fixed, each)),
        "verifier/assessment": np.zeros(1),
        "reference/assessment": setting.assessment / (np.ones(1) if share is None else rest * part),
        "policy/training": setting.training / (np.ones(1) if share is None else rest * (1 - part)),
    }


def services(
    setting: Setting, share: float, part: float = 0.5, layout: float = 1.0, batch: int | None = None
) -> dict[str, Service]:
    """What `simulate` needs to run the same split, rollout by rollout.

    Parameters
    ----------
    setting, share, part, layout
        As of `seconds`, one number each.
    batch : int, optional
        Samples that are assessed together; default: all of an iteration, so that nothing streams.

    Examples
    --------
    >>> found = services(Setting(assessment=0.3), 0.2, 0.25, batch=8)
    >>> round(float(found["reference/assessment"].per_token * ROLLOUTS * Setting().lengths.mean), 3)
    1.5
    """
    times = seconds(setting, np.array([share]), part)
    tokens = ROLLOUTS * float(setting.lengths.mean)
    passes = {name: float(times[name][0]) / tokens for name in ("reference/assessment", "policy/training")}
    return {
        "policy/generation": Decoding(step_time(*decode_step(setting, share, layout))),
        "verifier/assessment": Passes(),
        "reference/assessment": Passes(per_token=passes["reference/assessment"], batch=batch),
        "policy/training": Passes(per_token=passes["policy/training"]),
    }


def sweep(setting: Setting, shares: np.ndarray, layout: float = 0.5) -> "pd.DataFrame":
    """Speed-up of every plan over the co-located one, by the share of the devices that generates.

    Parameters
    ----------
    setting : Setting
        Times, lengths and saturation.
    shares : array
        Between 0 and 1.
    layout : float
        Fixed part of a decoding step in generation's own layout, over that in the baseline's.

    Returns
    -------
    pandas.DataFrame
        ``plan``, ``share`` and ``gain``, with the best division of the other devices between assessment and training;
        plans that do not split have the same gain for every share.

    Examples
    --------
    Equal lengths, all devices saturated, 1 s each for generation, assessment and training on all of them: a third of
    the devices takes 3 s for any of the three, so that at best nothing is lost.

    >>> even = Setting(assessment=1.0, training=1.0, spread=0.0, saturation=8.0)
    >>> found = sweep(even, np.array([1 / 3])).set_index("plan")["gain"]
    >>> found.round(2).to_dict()
    {'co-located': 1.0, 'hybrid': 1.0, 'split, synchronous': 0.33, 'asynchronous': 0.58, 'combined': 1.0}
    """
    import pandas as pd

    shares = np.asarray(shares, dtype=float)
    found = {}
    for name, (graph, split, own) in PLANS.items():
        times = seconds(setting, shares[:, None] if split else None, PARTS, layout if own else 1.0)
        found[name] = np.broadcast_to(period(graph, times).min(axis=-1), shares.shape)
    frames = [pd.DataFrame({"plan": name, "share": shares, "gain": found["co-located"] / times})
              for name, times in found.items()]  # fmt: skip
    return pd.concat(frames, ignore_index=True)
