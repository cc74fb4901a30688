"""Costs by term and by invocation add up to the table's."""

import pytest

from rlmkb.notation import Role, Stage
from rlmkb.theory import building_blocks as blocks
from rlmkb.theory.algorithms import ALGORITHMS, DPO, GRPO, PPO
from rlmkb.theory.breakdown import by_invocation, forward_passes, generation_terms, work_of
from rlmkb.theory.evaluate import evaluate
from rlmkb.theory.formula import Quantity
from rlmkb.theory.iteration import BASELINE, iteration_cost, stage_cost

AT = {
    "L": 2, "d": 8, "d_ff": 24, "h": 2, "V": 40, "S": 5, "T": 7, "B": 3, "K": 2, "B_pairs": 4,
    "L_V": 3, "d_R": 16,
}  # fmt: skip


@pytest.mark.parametrize("role", [Role.POLICY, Role.ACTOR_CRITIC])
def test_terms_of_generation_add_up(role):
    assert evaluate(generation_terms(role).total, AT) == blocks.generation(role).evaluate(AT)


@pytest.mark.parametrize("id", ALGORITHMS)
def test_invocations_add_up_to_the_stages(id):
    algorithm = ALGORITHMS[id]
    for stage in Stage:
        parts = [work.evaluate(AT) for call, work in by_invocation(algorithm) if call.stage is stage]
        assert sum(parts) == stage_cost(algorithm, stage, Quantity.WORK, BASELINE).evaluate(AT)


def test_a_verifier_costs_nothing():
    verify = GRPO.with_verifier().at(Stage.ASSESSMENT)[1]
    assert work_of(verify).evaluate({}) == 0


@pytest.mark.parametrize(
    ("algorithm", "passes"),
    [(PPO, 10), (GRPO, 6), (DPO, 5), (GRPO.with_verifier(), 5), (PPO.with_epochs(2), 16),
     (GRPO.with_extra_rollouts(2), 9), (GRPO.with_process_reward(8), 13)],
)  # fmt: skip
def test_forward_passes_of_a_variant(algorithm, passes):
    assert forward_passes(algorithm) == passes


@pytest.mark.parametrize("algorithm", [PPO, GRPO, DPO])
def test_passes_are_the_work_where_heads_and_context_hardly_count(algorithm):
    at = {"L": 64, "d": 4096, "d_ff": 16384, "h": 32, "V": 2, "S": 2, "T": 2000, "B": 1, "K": 1, "B_pairs": 1}
    sequences = 2 if algorithm is DPO else 1
    one = sequences * 2002 * blocks.forward(Role.POLICY).evaluate(at)
    total = iteration_cost(algorithm, Quantity.WORK).evaluate(at)
    assert total / one == pytest.approx(forward_passes(algorithm), rel=1e-3)
