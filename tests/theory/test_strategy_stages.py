"""A strategy in each stage: the same partition, less of the work, the state and the traffic."""

import pytest
import sympy

from rlmkb.notation import Stage
from rlmkb.theory.partition import STATE, STRATEGIES, B, L, Part, Strategy, d, m
from rlmkb.theory.passes import decode_step, forward_pass
from rlmkb.theory.strategy_stages import in_stage
from rlmkb.theory.traffic import Collective, Phase, messages, traffic_formula

every = pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=STRATEGIES)
POINT = {"B": 4, "m": 32, "L": 2, "d": 16, "d_ff": 64, "h": 4, "V": 0}


def as_policy(expr):
    """The symbols of a role as the bare ones, at a point without a head."""
    names = {symbol: POINT[symbol.name.removesuffix("_pi")] for symbol in expr.free_symbols}
    return expr.subs(names)


def test_alone_the_work_is_that_of_a_pass_without_its_head():
    for stage, one in ((Stage.GENERATION, decode_step()), (Stage.ASSESSMENT, forward_pass())):
        work = in_stage(STRATEGIES["none"], stage).work.total
        assert as_policy(work) == as_policy(one.work)


@every
def test_training_is_the_row_of_the_tables(strategy: Strategy):
    use = in_stage(strategy, Stage.TRAINING)
    assert (use.work, use.memory) == (strategy.rank_work, strategy.rank_memory)
    assert use.sent == traffic_formula(strategy).expr


@every
def test_an_applied_model_keeps_one_number_of_four_and_sends_nothing_back(strategy: Strategy):
    for stage in (Stage.GENERATION, Stage.ASSESSMENT):
        use = in_stage(strategy, stage)
        for name in use.memory.names:
            if name in map(str, STATE):
                assert sympy.simplify(4 * use.memory[name] - strategy.rank_memory[name]) == 0
        assert {message.phase for message in use.messages} <= {Phase.FORWARD}


@every
def test_a_forward_pass_is_a_third_of_the_work_and_sends_the_forward_messages(strategy: Strategy):
    use = in_stage(strategy, Stage.ASSESSMENT)
    assert sympy.simplify(3 * use.work.total - strategy.rank_work.total) == 0
    assert use.messages == messages(strategy, backward=False)


@every
def test_the_cache_is_cut_as_the_activations_are(strategy: Strategy):
    cache = in_stage(strategy, Stage.GENERATION).memory["cache"]
    assert sympy.simplify(cache / strategy.rank_memory[Part.ACTIVATIONS]) == 2


def test_replicas_send_nothing_unless_they_train():
    sent = [in_stage(STRATEGIES["data"], stage).sent for stage in Stage]
    assert sent[:2] == [0, 0]
    assert sent[2] != 0


def test_a_decode_step_meets_as_often_as_a_pass_and_sends_one_token_of_each_sequence():
    use = in_stage(STRATEGIES["tensor"], Stage.GENERATION)
    (message,) = use.messages
    assert (message.count, message.elements) == (2 * L, B * d)
    (message,) = in_stage(STRATEGIES["context"], Stage.GENERATION).messages
    assert (message.kind, message.count, message.elements) == (Collective.ALL_REDUCE, L, B * d)


def test_the_buffer_of_a_forward_pass_is_one_hidden_state():
    alone, stages = (in_stage(STRATEGIES[name], Stage.ASSESSMENT).memory["buffer"] for name in ("none", "pipeline"))
    assert alone == stages == B * m * d
