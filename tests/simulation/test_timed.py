"""A timed step gives back the times it was made from, and shares devices so that groups are equally busy."""

import pytest
import sympy

from rlmkb.notation import Stage
from rlmkb.simulation.timed import TimedStep
from rlmkb.theory.algorithms import DPO, PPO
from rlmkb.theory.graph import IterationGraph, Schedule, co_located, disaggregated
from rlmkb.theory.placements import grouped

AT = {"L": 30, "d": 4096, "d_ff": 11008, "h": 32, "V": 102400, "B": 64, "K": 1, "S": 83, "T": 174, "B_pairs": 64}
STEP = TimedStep(AT, generation=27.6, forward=1.5, training=6.8)
ONE = IterationGraph(PPO, co_located(PPO))
TWO = grouped(PPO, {"rollout": (Stage.GENERATION,), "trainer": (Stage.ASSESSMENT, Stage.TRAINING)})


def test_the_phases_it_was_made_from_come_back():
    seconds = STEP.seconds(ONE)
    assert (seconds["policy/generation"], seconds["reference/assessment"], seconds["policy/training"]) == (
        27.6, 1.5, 6.8)  # fmt: skip
    assert seconds["critic/training"] < seconds["policy/training"]  # no vocabulary head
    assert STEP.seconds(ONE, {"L_V": 15})["critic/training"] == pytest.approx(seconds["critic/training"] / 2, rel=1e-3)
    repeated = IterationGraph(PPO.with_epochs(2).with_verifier(), co_located(PPO.with_verifier()))
    assert STEP.seconds(repeated)["policy/training"] == 2 * 6.8
    assert STEP.seconds(repeated)["verifier/assessment"] == 0


def test_played_in_turn_it_takes_the_sum():
    assert STEP.run(ONE, iterations=8).period == pytest.approx(sum(STEP.seconds(ONE).values()), rel=0.05)


def test_fewer_devices_take_longer_but_a_decoding_step_has_a_floor():
    half = STEP.generation_time(0.5) / STEP.generation_time(1.0)
    assert 1 < half < 2
    passes = STEP.services(ONE, {"all": 0.5})["policy/training"], STEP.services(ONE)["policy/training"]
    assert passes[0].per_token == pytest.approx(2 * passes[1].per_token)


@pytest.mark.parametrize("placement", [TWO, disaggregated(PPO)])
def test_balanced_groups_are_equally_busy(placement):
    graph = IterationGraph(PPO, placement)
    shares, seconds = STEP.balanced(graph), STEP.seconds(graph)
    busy = {name: sum(STEP.generation_time(shares[name]) if node.stage is Stage.GENERATION
                      else seconds[node.id] / shares[name] for node in nodes)
            for name, nodes in graph.groups.items()}  # fmt: skip
    assert sum(shares.values()) == pytest.approx(1)
    assert max(busy.values()) == pytest.approx(min(busy.values()))


def test_balance_of_one_group_and_without_generation():
    assert STEP.balanced(ONE) == {"all": 1.0}
    shares = STEP.balanced(IterationGraph(DPO, disaggregated(DPO)))
    assert shares["policy"] > shares["reference"]
    assert sum(shares.values()) == pytest.approx(1)


def test_with_barriers_no_split_beats_the_pool_and_without_them_one_does():
    pool = STEP.run(ONE).period
    graph = IterationGraph(PPO, TWO)
    split = [STEP.run(graph, {"rollout": one, "trainer": 1 - one}, iterations=6).period for one in (0.3, 0.5, 0.7)]
    assert min(split) > pool
    free = IterationGraph(PPO, TWO, Schedule(frozenset(), staleness=sympy.Integer(2)))
    assert STEP.run(free, STEP.balanced(free)).period < pool


def test_streamed_stages_take_micro_batches():
    free = IterationGraph(PPO, disaggregated(PPO), Schedule(frozenset()))
    assert STEP.services(free)["reward/assessment"].batch == 4
    assert STEP.services(ONE)["reward/assessment"].batch is None
