"""What follows from the times of a simulation."""

import numpy as np

from rlmkb.notation import Role
from rlmkb.simulation import Decoding, Passes, simulate, step_time
from rlmkb.theory.algorithms import GRPO
from rlmkb.theory.graph import IterationGraph, Schedule, split_by_stage


def run(per_sample, barriers=frozenset()):
    algorithm = GRPO.without(Role.REFERENCE)
    services = {"policy/generation": Decoding(step_time(1.0)), "policy/training": Passes(),
                "reward/assessment": Passes(per_sample=per_sample, batch=1)}  # fmt: skip
    return simulate(IterationGraph(algorithm, split_by_stage(algorithm), Schedule(barriers)), services,
                    np.array([[2, 4, 6, 8]]))  # fmt: skip


def test_samples_wait_where_assessment_is_slower_than_generation():
    assert run(0.0).most_waiting == 0
    assert run(2.0).most_waiting == 1  # each is assessed while the next one ends
    # one ends every 2 s, one is assessed every 4 s: at 8 s only the first is done
    assert run(4.0).most_waiting == 3
