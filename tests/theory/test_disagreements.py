"""Disagreements of tables V to IX: each stands, has its size on a real shape, and ours is what the tables use."""

import pytest
import sympy

from rlmkb.notation import symbol
from rlmkb.theory.algorithms import PPO
from rlmkb.theory.configurations import CONFIGURATIONS
from rlmkb.theory.derivations import difference
from rlmkb.theory.derivations.disagreements import EVERY, GROUPS
from rlmkb.theory.derivations.disagreements_configurations import CONFIGURATION_DISAGREEMENTS, in_seconds
from rlmkb.theory.derivations.disagreements_parallel import PARALLEL_DISAGREEMENTS
from rlmkb.theory.derivations.disagreements_specifications import MINIBATCHES, SPECIFICATION_DISAGREEMENTS
from rlmkb.theory.evaluate import evaluate
from rlmkb.theory.partition import STRATEGIES
from rlmkb.theory.traffic import messages

# Llama-3.1-8B's shape, Qwen3-30B-A3B's experts, a critic as large as Llama-3.2-1B
CASE = {
    "L": 32, "d": 4096, "d_ff": 14336, "h": 32, "V": 128256, "B": 8, "K": 8, "S": 1024, "T": 7168,
    "E": 128, "E_a": 8, "d_e": 768, "P_d": 8, "P_p": 4, "P_t": 8, "P_c": 4, "P_e": 8,
    "B_pairs": 8, "n_epochs": 3, "L_V": 16, "d_V": 2048, "d_ff_V": 8192, "h_V": 32,
}  # fmt: skip

SIZES = {
    "batch_symbol": -0.875, "head_work": 0.0753, "data_path": -0.0007, "pipeline_path": -0.7473,
    "global_depth_tensor": -0.0856, "global_depth_5d": -0.0911, "tensor_orders": -0.1405, "vocabulary_3d": -0.1904,
    "vocabulary_ends": 0.0612, "tensor_activations": 1.7524, "training_states": -0.25, "strongest_memory": 6.7174,
    "isolated_dispatch": 7.0,
    "shared_actor_critic": -0.0618, "hybrid_memory": -0.0428, "fusion_depth": -0.0001, "fusion_memory": -0.1183,
    "fusion_roles": -0.0002, "async_depth": -0.0003, "async_actors": 0.0447, "dropped_buffers": -0.2503,
    "combined_period": 0.0, "combined_training": -0.0865, "smallest_peak": 0.0447,
    "dpo_epochs": 0.2, "minibatch_tag": -0.7499,
}  # fmt: skip


def test_every_disagreement_is_sized():
    assert set(SIZES) == {*PARALLEL_DISAGREEMENTS, *CONFIGURATION_DISAGREEMENTS, *SPECIFICATION_DISAGREEMENTS}
    assert len(EVERY) == sum(map(len, GROUPS.values()))


@pytest.mark.parametrize("id", SIZES)
def test_it_stands_and_has_its_size(id):
    assert EVERY[id].stands
    assert EVERY[id].size(CASE) == pytest.approx(SIZES[id], abs=1e-4)


def test_equal_readings_do_not_stand():
    entry = EVERY["tensor_activations"]
    assert not type(entry)("x", "x", entry.quantity, "x", entry.ours, "x", entry.ours * 1, "x").stands


def test_table_and_appendix_differ_by_the_sums_of_the_all_reduces():
    """Four a layer, each a tree over P_t partial sums, restore what tables VI and VIII print."""
    count = sum(message.count for message in messages(STRATEGIES["tensor"]))
    gap = EVERY["global_depth_tensor"].gap
    log = next(iter(gap.atoms(sympy.Function)))
    assert difference(gap + count * log, 0) == 0


def test_one_epoch_and_one_minibatch_leave_nothing_to_disagree_on():
    assert EVERY["dpo_epochs"].size(CASE | {"n_epochs": 1}) == 0
    # three epochs: 3 (1 + 3) passes against 1 + 3 * 3
    assert EVERY["dpo_epochs"].size(CASE) == pytest.approx(12 / 10 - 1)
    # the gradient's sum is over fewer sequences in each minibatch, so it is not quite a quarter
    assert EVERY["minibatch_tag"].size(CASE) == pytest.approx(1 / MINIBATCHES - 1, abs=1e-3)


def test_sharing_breaks_even_at_a_quarter_of_the_policys_work():
    entry = EVERY["shared_actor_critic"]
    same_width = {f"{name}_V": CASE[name] for name in ("d", "d_ff", "h")}
    sizes = [entry.size(CASE | same_width | {"L_V": layers}) for layers in (7, 8, 10, 12)]
    assert sizes == sorted(sizes)
    assert sizes[0] < 0 < sizes[-1]


def test_the_combined_period_needs_staleness_two_where_no_part_is_half_of_the_path():
    times = {"policy/generation": 10, "reference/assessment": 10, "policy/training": 10}
    rows = {row["configuration"]: row for row in in_seconds(PPO, times)}
    assert rows["all combined"]["period"] == rows["all combined"]["printed"] == 10
    assert rows["all combined, staleness 1"]["period"] == 15
    assert rows["stage fusion"]["critical path"] == 30
    assert rows["stage fusion"]["printed"] == 20


def test_ours_are_the_configurations_own_forms():
    assert CONFIGURATION_DISAGREEMENTS["combined_period"].other == CONFIGURATIONS["combined"].period(PPO)
    path = CONFIGURATIONS["async"].critical_path(PPO)
    assert difference(CONFIGURATION_DISAGREEMENTS["async_depth"].ours, path) == 0
    printed = EVERY["head_work"].ours
    assert evaluate(printed, CASE) == evaluate(STRATEGIES["none"].rank_work.total, CASE)
    assert symbol("P_t") not in EVERY["global_depth_tensor"].ours.free_symbols
