"""The iteration graph with seconds in place of depths: an event loop, rollout by rollout.

`simulate` runs a graph of `rlmkb.theory`; `ResponseLengths` says how long responses are, `Decoding` and `Passes` how
long devices take, `Execution` how samples move. `analytic` has the period for sweeps, `gantt` the bars of a chart,
`speedups` a system beside its baseline, `headlines` published speed-ups beside the model.
"""

from rlmkb.simulation.lengths import ResponseLengths
from rlmkb.simulation.loop import Execution, simulate
from rlmkb.simulation.result import GroupUse, Simulation
from rlmkb.simulation.services import Decoding, Passes, constant_times, step_time

__all__ = [
    "Decoding",
    "Execution",
    "GroupUse",
    "Passes",
    "ResponseLengths",
    "Simulation",
    "constant_times",
    "simulate",
    "step_time",
]
