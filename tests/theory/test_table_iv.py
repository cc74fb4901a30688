"""Table IV against the paper's cells, typed independently in its own building blocks."""

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from rlmkb.errors import InputError
from rlmkb.notation import Role, Stage, symbol
from rlmkb.theory import building_blocks as blocks
from rlmkb.theory.algorithms import ALGORITHMS, DPO, GRPO, PPO, Call
from rlmkb.theory.formula import Quantity
from rlmkb.theory.functions import Maximum
from rlmkb.theory.iteration import BASELINE, DISAGGREGATED, TABLE_IV, iteration_cost, stage_cost
from rlmkb.theory.tables import table

B, K, m, pairs = (symbol(name) for name in ("B", "K", "m", "B_pairs"))
PI, REF, R, V = Role.POLICY, Role.REFERENCE, Role.REWARD, Role.CRITIC


def block(make):
    return lambda *args: make(*args).explicit


f, tr, D_f = block(blocks.forward), block(blocks.training), block(blocks.depth_forward)
D_tr, size = block(blocks.depth_training), block(blocks.parameter_count)
act, inf = block(blocks.activation_memory), block(blocks.inference_memory)
C_gen, D_gen, M_KV = (make().explicit for make in (blocks.generation, blocks.depth_generation, blocks.cache_memory))

PRINTED = {
    ("ppo", "generation", "work"): B * K * C_gen,
    ("ppo", "assessment", "work"): B * K * m * (f(REF) + f(R) + f(V)),
    ("ppo", "training", "work"): B * K * m * (tr(PI) + tr(V)),
    ("grpo", "generation", "work"): B * K * C_gen,
    ("grpo", "assessment", "work"): B * K * m * (f(REF) + f(R)),
    ("grpo", "training", "work"): B * K * m * tr(PI),
    ("dpo", "assessment", "work"): pairs * m * (f(REF) + f(PI)),
    ("dpo", "training", "work"): pairs * m * tr(PI),
    ("ppo", "generation", "depth"): D_gen,
    ("ppo", "assessment", "depth"): Maximum(D_f(REF), D_f(R), D_f(V)),
    ("ppo", "training", "depth"): Maximum(D_tr(PI, B * K), D_tr(V, B * K)),
    ("grpo", "generation", "depth"): D_gen,
    ("grpo", "assessment", "depth"): Maximum(D_f(REF), D_f(R)),
    ("grpo", "training", "depth"): D_tr(PI, B * K),
    ("dpo", "assessment", "depth"): Maximum(D_f(PI), D_f(REF)),
    ("dpo", "training", "depth"): D_tr(PI, 2 * pairs),
    ("ppo", "generation", "memory"): size(PI) + B * K * M_KV,
    ("ppo", "assessment", "memory"): size(REF) + size(R) + size(V) + B * K * m * Maximum(inf(REF), inf(R), inf(V)),
    ("ppo", "training", "memory"): size(PI) + size(V) + B * K * m * (act(PI) + act(V)),
    ("grpo", "generation", "memory"): size(PI) + B * K * M_KV,
    ("grpo", "assessment", "memory"): size(REF) + size(R) + B * K * m * Maximum(inf(REF), inf(R)),
    ("grpo", "training", "memory"): size(PI) + B * K * m * act(PI),
    ("dpo", "assessment", "memory"): size(PI) + size(REF) + pairs * m * act(PI),
    ("dpo", "training", "memory"): size(PI) + pairs * m * act(PI),
    **{("dpo", "generation", quantity): sympy.S.Zero for quantity in ("work", "depth", "memory")},
}  # fmt: skip


@st.composite
def points(draw):
    sizes = st.integers(1, 5000)
    point = {name: draw(sizes) for name in ("V", "S", "T", "B", "K", "B_pairs")}
    for role in ("pi", "R", "V"):
        point |= {f"{name}_{role}": draw(sizes) for name in ("L", "d", "d_ff", "h")}
    return point


def test_the_table_has_the_paper_s_27_cells():
    cells = table("IV").cells
    assert {(cell.row, cell.stage, cell.formula.quantity.value) for cell in cells} == PRINTED.keys()
    assert len(cells) == 27


@pytest.mark.parametrize("key", PRINTED, ids=" ".join)
def test_cell_equals_the_printed_one_symbolically(key):
    row, stage, quantity = key
    cell = table("IV").cell(row, stage=stage, quantity=quantity)
    explicit, printed = cell.formula.explicit, PRINTED[key]
    if explicit.has(Maximum):  # the arguments' order is free
        explicit, printed = (expr.replace(Maximum, lambda *args: sum(arg**2 for arg in args))
                             for expr in (explicit, printed))  # fmt: skip
    assert sympy.expand(explicit - printed) == 0


@given(points())
@settings(max_examples=25, deadline=None)
def test_laws(point):
    def value(algorithm, stage, quantity, reading):
        return stage_cost(algorithm, stage, quantity, reading).evaluate(point)

    for algorithm in ALGORITHMS.values():
        for stage in Stage:
            longest = value(algorithm, stage, Quantity.DEPTH, DISAGGREGATED)
            together = value(algorithm, stage, Quantity.DEPTH, BASELINE)
            models = max(len(algorithm.at(stage)), 1)
            assert longest <= together <= models * longest + 1e-9 * abs(together)
            work_there = value(algorithm, stage, Quantity.WORK, DISAGGREGATED)
            assert value(algorithm, stage, Quantity.WORK, BASELINE) == work_there
            assert value(algorithm, stage, Quantity.MEMORY, DISAGGREGATED) <= value(
                algorithm, stage, Quantity.MEMORY, BASELINE
            )
    for stage in Stage:
        assert value(GRPO, stage, Quantity.WORK, BASELINE) <= value(PPO, stage, Quantity.WORK, BASELINE)


@given(points())
@settings(max_examples=15, deadline=None)
def test_work_is_linear_in_prompts_and_candidates(point):
    work = iteration_cost(PPO, Quantity.WORK)
    once, twice = work.evaluate(point), work.evaluate({**point, "K": 2 * point["K"]})
    assert twice == pytest.approx(2 * once, rel=1e-12)


AT = {"L": 4, "d": 64, "d_ff": 256, "h": 4, "V": 1000, "S": 30, "T": 50, "B": 4, "K": 2, "B_pairs": 8}


def work(algorithm, stage, reading=BASELINE):
    return stage_cost(algorithm, stage, Quantity.WORK, reading).evaluate(AT)


def test_grpo_is_ppo_without_the_critic():
    assert PPO.without(Role.CRITIC).invocations == GRPO.invocations


def test_variants_are_edits():
    assert work(GRPO.without(Role.REFERENCE), Stage.ASSESSMENT) == pytest.approx(
        4 * 2 * 80 * blocks.forward(Role.REWARD).evaluate(AT)
    )
    assert work(PPO.with_epochs(3), Stage.TRAINING) == 3 * work(PPO, Stage.TRAINING)
    depth = stage_cost(PPO.with_epochs(3), Stage.TRAINING, Quantity.DEPTH).evaluate(AT)
    assert depth == pytest.approx(3 * stage_cost(PPO, Stage.TRAINING, Quantity.DEPTH).evaluate(AT))
    assert work(GRPO.with_verifier(), Stage.ASSESSMENT) == 4 * 2 * 80 * blocks.forward(Role.REFERENCE).evaluate(AT)
    reward = 4 * 2 * 80 * blocks.forward(Role.REWARD).evaluate(AT)
    assert work(GRPO.with_process_reward(5), Stage.ASSESSMENT) == pytest.approx(
        work(GRPO, Stage.ASSESSMENT) + 4 * reward
    )
    assert work(PPO.with_frozen(Role.COST_MODEL), Stage.ASSESSMENT) == pytest.approx(
        work(PPO, Stage.ASSESSMENT) + reward
    )
    assert work(GRPO.with_recomputed_log_probs(), Stage.ASSESSMENT) == work(GRPO, Stage.ASSESSMENT) + work(
        GRPO.with_verifier(), Stage.ASSESSMENT
    )
    assert work(GRPO.with_extra_rollouts(3), Stage.GENERATION) == 3 * work(GRPO, Stage.GENERATION)
    assert work(GRPO.with_extra_rollouts(3), Stage.TRAINING) == work(GRPO, Stage.TRAINING)
    assert work(DPO.with_sequences_per_example(1), Stage.TRAINING) * 2 == work(DPO, Stage.TRAINING)
    assert PPO.with_trained(Role.COST_CRITIC).trained_roles == (Role.POLICY, Role.CRITIC, Role.COST_CRITIC)


def test_a_verifier_leaves_no_weights_behind():
    memory = stage_cost(GRPO.with_verifier(), Stage.ASSESSMENT, Quantity.MEMORY, BASELINE)
    assert not memory.explicit.has(symbol("L_R"))


def test_epochs_may_stay_a_symbol():
    formula = stage_cost(PPO.with_epochs(symbol("n_epochs")), Stage.TRAINING, Quantity.WORK)
    assert formula.evaluate({**AT, "n_epochs": 4}) == 4 * work(PPO, Stage.TRAINING)


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (lambda: GRPO.without(Role.CRITIC), "does not use the critic"),
        (lambda: PPO.without(Role.POLICY), "cannot be left out"),
        (lambda: PPO.with_epochs(0), "integer of at least 1"),
        (lambda: PPO.with_process_reward(1.5), "integer of at least 1"),
        (lambda: DPO.with_verifier(), "does not use the reward"),
        (lambda: GRPO.with_extra_rollouts(0.5), "at least 1"),
    ],
)
def test_impossible_edits_are_refused(edit, told):
    with pytest.raises(InputError, match=told):
        edit()


def test_pairs_count_twice_where_the_printed_table_counts_once():
    for stage in (Stage.ASSESSMENT, Stage.TRAINING):
        assert work(DPO, stage, BASELINE) == 2 * work(DPO, stage, TABLE_IV)


def test_memory_of_an_iteration_is_no_sum():
    with pytest.raises(ValueError, match="peak per stage"):
        iteration_cost(PPO, Quantity.MEMORY)


def test_online_algorithms_generate_and_offline_ones_do_not():
    for algorithm in ALGORITHMS.values():
        generates = any(call.call is Call.GENERATE for call in algorithm.invocations)
        assert generates == algorithm.online
