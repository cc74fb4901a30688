"""Table IX against the paper's printed cells, and the laws of the iteration graph behind it."""

import itertools

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from rlmkb.errors import InputError
from rlmkb.notation import Role, Stage, symbol
from rlmkb.theory import building_blocks as blocks
from rlmkb.theory.algorithms import ALGORITHMS, DPO, GRPO, PPO
from rlmkb.theory.chains import Chains
from rlmkb.theory.configurations import CONFIGURATIONS, shared_actor_critic
from rlmkb.theory.evaluate import evaluate
from rlmkb.theory.formula import Quantity
from rlmkb.theory.functions import Maximum
from rlmkb.theory.graph import IterationGraph, Schedule, co_located, disaggregated, split_by_stage
from rlmkb.theory.iteration import iteration_cost
from rlmkb.theory.residency import live_sets, peak, reshard_buffer, shadow_copy
from rlmkb.theory.table_nine import cells, end_to_end
from rlmkb.theory.tables import table

G, A, T = Stage
POINT = {
    "B": 16, "K": 4, "S": 300, "T": 700, "V": 5000, "P_t": 4,
    "L_pi": 12, "d_pi": 256, "d_ff_pi": 1024, "h_pi": 8, "L_R": 10, "d_R": 320, "d_ff_R": 900, "h_R": 4,
    "L_V": 9, "d_V": 192, "d_ff_V": 700, "h_V": 6, "L_ac": 12, "d_ac": 256, "d_ff_ac": 1024, "h_ac": 8,
}  # fmt: skip
b = {
    role: {
        "C": blocks.forward(role), "Ctr": blocks.training(role), "D": blocks.depth_forward(role),
        "Dtp": blocks.depth_forward_tp(role), "Dtr": blocks.depth_training(role, symbol("B") * symbol("K")),
        "P": blocks.parameter_count(role), "Act": blocks.activation_memory(role), "Inf": blocks.inference_memory(role),
    }
    for role in (Role.POLICY, Role.REFERENCE, Role.REWARD, Role.CRITIC, Role.ACTOR_CRITIC)
}  # fmt: skip


def at(formula):
    return formula.evaluate(POINT)


def v(role, name):
    return at(b[role][name])


PI, REF, R, V, AC = Role.POLICY, Role.REFERENCE, Role.REWARD, Role.CRITIC, Role.ACTOR_CRITIC
N = POINT["B"] * POINT["K"]
M = POINT["S"] + POINT["T"]
C_gen, C_gen_ac, KV, KV_ac = (at(f) for f in (
    blocks.generation(), blocks.generation(AC), blocks.cache_memory(), blocks.cache_memory(AC),
))  # fmt: skip
D_gen, D_gen_ac, D_gen_tp = (at(f) for f in (
    blocks.depth_generation(), blocks.depth_generation(AC), blocks.depth_generation_tp(),
))  # fmt: skip


def assessment(critic):
    return (
        N * M * sum(v(x, "C") for x in (REF, R, critic)),
        sum(v(x, "D") for x in (REF, R, critic)),
        sum(v(x, "P") for x in (REF, R, critic)) + N * M * max(v(x, "Inf") for x in (REF, R, critic)),
    )


W_T = N * M * (v(PI, "Ctr") + v(V, "Ctr"))
M_T = 4 * (v(PI, "P") + v(V, "P")) + N * M * (v(PI, "Act") + v(V, "Act"))
D_T = max(v(PI, "Dtr"), v(V, "Dtr"))
W_A = N * M * sum(v(x, "C") for x in (REF, R, V))
D_A = max(v(x, "D") for x in (REF, R, V))
GROUPS = [v(PI, "P") + N * KV + v(PI, "P"), v(REF, "P"), v(R, "P"), v(V, "P"),
          4 * v(PI, "P") + N * M * v(PI, "Act"), 4 * v(V, "P") + N * M * v(V, "Act")]  # fmt: skip

# (work, depth, memory) as printed, M_sh = |pi|
PRINTED = {
    ("baseline", "generation"): (N * C_gen, D_gen, v(PI, "P") + N * KV),
    ("baseline", "assessment"): assessment(V),
    ("baseline", "training"): (W_T, v(PI, "Dtr") + v(V, "Dtr"), M_T),
    ("ac_shared", "generation"): (N * C_gen_ac, D_gen_ac, v(AC, "P") + N * KV_ac),
    ("ac_shared", "assessment"): assessment(AC),
    ("ac_shared", "training"): (N * M * v(AC, "Ctr"), v(AC, "Dtr"), 4 * v(AC, "P") + N * M * v(AC, "Act")),
    ("disaggregated", "generation"): (N * C_gen, D_gen, v(PI, "P") + N * KV),
    ("disaggregated", "assessment"): (W_A, D_A, max(v(x, "P") + N * M * v(x, "Inf") for x in (REF, R, V))),
    ("disaggregated", "training"): (W_T, D_T, max(4 * v(x, "P") + N * M * v(x, "Act") for x in (PI, V))),
    ("hybrid", "generation"): (N * C_gen, D_gen_tp, v(PI, "P") + N * KV),
    ("hybrid", "assessment"): (W_A, sum(v(x, "Dtp") for x in (REF, R, V)), assessment(V)[2]),
    ("hybrid", "training"): (W_T, v(PI, "Dtr") + v(V, "Dtr"), M_T),
    ("stage_fusion", "inter"): (
        N * C_gen + W_A, max(D_gen, D_A), max(v(PI, "P") + N * KV, v(REF, "P") + v(R, "P") + v(V, "P")),
    ),
    ("stage_fusion", "intra"): (W_T, D_T, M_T),
    ("async", "aggregate"): (N * C_gen + W_A + W_T, max(D_gen + D_A, D_T), max(GROUPS)),
    ("combined", "aggregate"): (N * C_gen + W_A + W_T, max(D_gen_tp, D_A, D_T), max(GROUPS)),
}  # fmt: skip


def test_the_printed_rows_are_all_there():
    found = [(cell.row, cell.stage, cell.formula.quantity.value) for cell in table("IX").cells]
    assert sorted(found) == sorted((*key, quantity) for key in PRINTED for quantity in ("work", "depth", "memory"))


@pytest.mark.parametrize("key", PRINTED, ids=" ".join)
def test_cell_equals_the_printed_one(key):
    row, stage = key
    found = table("IX", at=POINT)
    for quantity, printed in zip(("work", "depth", "memory"), PRINTED[key], strict=True):
        assert found.cell(row, stage=stage, quantity=quantity).value == pytest.approx(printed, rel=1e-12)


@pytest.mark.parametrize(
    ("row", "depth"),
    {
        "baseline": D_gen + assessment(V)[1] + v(PI, "Dtr") + v(V, "Dtr"),
        "disaggregated": D_gen + D_A + D_T,
        "stage_fusion": max(D_gen, D_A) + D_T,
        "async": max(D_gen + D_A, D_T),
        "combined": max(D_gen_tp, D_A, D_T),
    }.items(),
)
def test_end_to_end_depth_is_that_of_section_iv_f(row, depth):
    assert at(end_to_end(CONFIGURATIONS[row])) == pytest.approx(depth, rel=1e-12)


def test_idealised_cells_carry_the_honest_value():
    found = table("IX", at=POINT)
    fused = found.cell("stage_fusion", stage="inter", quantity="depth")
    assert fused.honest_value == pytest.approx(D_gen + D_A) != fused.value
    memory = found.cell("stage_fusion", stage="inter", quantity="memory")
    assert memory.honest_value > memory.value
    path = found.cell("async", stage="aggregate", quantity="depth")
    assert path.honest_value == pytest.approx(D_gen + D_A + D_T)
    assert "honest" in path.as_dict()


DURATIONS = st.fixed_dictionaries(
    dict.fromkeys(("G", "aF", "aR", "aV", "tP", "tV"), st.integers(1, 1000))
)
SHORT = {"policy/generation": "G", "reference/assessment": "aF", "reward/assessment": "aR",
         "critic/assessment": "aV", "policy/training": "tP", "critic/training": "tV",
         "policy/assessment": "aP"}  # fmt: skip


def simulated_period(graph, times, iterations=60):
    """Start every node as early as its edges allow, many times over; the growth per iteration at the end."""
    end: dict[tuple[str, int], float] = {}
    for k in range(iterations):
        for node in graph.nodes:
            waits = [end.get((edge.before, k - int(edge.lag)), 0) for edge in graph.edges if edge.after == node.id]
            end[node.id, k] = max(waits, default=0) + times[SHORT[node.id]]
    last = [max(end[node.id, k] for node in graph.nodes) for k in (iterations // 2 - 1, iterations - 1)]
    return (last[1] - last[0]) / (iterations - iterations // 2)


@pytest.mark.parametrize("placement", [co_located, disaggregated, split_by_stage])
@pytest.mark.parametrize("eta", [0, 1, 2, 4])
@given(times=DURATIONS)
@settings(max_examples=12, deadline=None)
def test_the_period_is_what_a_simulation_settles_on(placement, eta, times):
    for barriers in (frozenset(), frozenset({A, T})):
        graph = IterationGraph(PPO, placement(PPO), Schedule(barriers, staleness=sympy.Integer(eta)))
        period = graph.period(lambda node: sympy.Integer(times[SHORT[node.id]]))
        # 30 iterations at the end are a multiple of every cycle's span here
        assert simulated_period(graph, times) == pytest.approx(float(period), rel=0.04)


def name(node):
    return sympy.Symbol(SHORT[node.id], positive=True)


def test_synchronous_period_is_the_critical_path():
    for placement in (co_located, disaggregated, split_by_stage):
        graph = IterationGraph(PPO, placement(PPO))
        assert graph.period(name) == graph.critical_path(name).expr


def test_period_at_any_staleness_is_the_busiest_group_or_its_share_of_the_path():
    eta = symbol("eta")
    graph = IterationGraph(PPO, split_by_stage(PPO), Schedule(frozenset(), staleness=eta))
    period = graph.period(name)
    path = graph.critical_path(name).expr
    busiest = Maximum(*(name(node) for node in graph.nodes))
    for generation, reward, update, stale in itertools.product((1, 7), (2, 5), (3, 11), (0, 1, 3)):
        times = (generation, 4, reward, 3, update, 6)
        point = dict(zip(map(name, graph.nodes), times, strict=True)) | {eta: stale}
        expected = Maximum(busiest.subs(point), path.subs(point) / (stale + 1))
        assert period.subs(point) == expected


def test_combined_needs_staleness_two_in_general():
    """At one, half of a critical path may exceed the longest part: the printed maximum is not reached."""
    times = {"G": 10, "aF": 10, "aR": 1, "aV": 1, "tP": 10, "tV": 1}
    graphs = [IterationGraph(PPO, split_by_stage(PPO), Schedule(frozenset(), staleness=sympy.Integer(eta)))
              for eta in (1, 2)]  # fmt: skip
    one, two = (graph.period(lambda node: sympy.Integer(times[SHORT[node.id]])) for graph in graphs)
    assert one == 15
    assert two == 10


@pytest.mark.slow
@given(times=DURATIONS)
@settings(max_examples=30, deadline=None)
def test_removing_a_barrier_or_adding_devices_never_slows(times):
    def value(expr):
        return float(expr.subs({sympy.Symbol(key, positive=True): time for key, time in times.items()}))

    together = value(IterationGraph(PPO, co_located(PPO)).critical_path(name).expr)
    apart = value(IterationGraph(PPO, disaggregated(PPO)).critical_path(name).expr)
    free = value(IterationGraph(PPO, disaggregated(PPO), Schedule(frozenset())).critical_path(name).expr)
    assert free <= apart <= together
    periods = [value(IterationGraph(PPO, split_by_stage(PPO), Schedule(staleness=sympy.Integer(eta))).period(name))
               for eta in range(4)]  # fmt: skip
    assert periods == sorted(periods, reverse=True)


def test_partial_placement_is_between():
    shared = {**disaggregated(PPO), (REF, A): "frozen", (R, A): "frozen"}
    path = IterationGraph(PPO, shared).critical_path(name).expr
    F, RW, VV, g, tp, tv = (sympy.Symbol(x, positive=True) for x in ("aF", "aR", "aV", "G", "tP", "tV"))
    assert path == g + Maximum(VV, F + RW) + Maximum(tp, tv)


def test_a_placement_must_name_every_invocation():
    with pytest.raises(InputError, match="no device group for critic in assessment"):
        IterationGraph(PPO, co_located(GRPO))


def test_grpo_and_dpo_by_their_own_invocations():
    for algorithm in (GRPO, DPO):
        point = POINT | {"B_pairs": 8}
        for cell in cells(algorithm):
            if cell.row != "ac_shared":
                assert cell.printed.evaluate(point) >= 0
        assert end_to_end(CONFIGURATIONS["baseline"], algorithm).evaluate(point) == pytest.approx(
            iteration_cost(algorithm, Quantity.DEPTH).evaluate(point)
        )


def test_sharing_costs_more_below_a_quarter():
    """Shared minus separate is B K m [C_f(pi) - 4 C_f(V)] where the shared model is as large as the policy."""
    shared = iteration_cost(shared_actor_critic(PPO), Quantity.WORK).evaluate(POINT)
    separate = iteration_cost(PPO, Quantity.WORK).evaluate(POINT)
    gap = v(PI, "C") - 4 * v(V, "C")
    heads = 4 * 2 * POINT["d_ac"]  # the value head, in assessment and three times in training
    assert shared - separate == pytest.approx(N * M * (gap + heads))
    small = POINT | {"L_V": 2}
    assert iteration_cost(shared_actor_critic(PPO), Quantity.WORK).evaluate(small) > iteration_cost(
        PPO, Quantity.WORK
    ).evaluate(small)


def test_what_the_paper_only_names():
    assert at(shadow_copy()) == v(PI, "P")
    assert shadow_copy(PI, sympy.Rational(1, 2)).evaluate(POINT) == v(PI, "P") / 2
    assert at(reshard_buffer()) == v(PI, "P")
    baseline = CONFIGURATIONS["baseline"]
    resident = evaluate(peak(live_sets(baseline, PPO, offload=False)), POINT)
    assert resident > evaluate(peak(live_sets(baseline, PPO)), POINT)


def test_asynchrony_does_not_have_the_smallest_peak():
    """Appendix B-D8 says so of the combined row; disaggregated has no shadow copy."""
    peaks = {row: evaluate(peak(live_sets(CONFIGURATIONS[row], PPO)), POINT) for row in ("disaggregated", "combined")}
    printed = table("IX", at=POINT).cell("combined", stage="aggregate", quantity="memory").value
    assert peaks["disaggregated"] <= printed


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), min_size=1, max_size=6),
       st.fixed_dictionaries(dict.fromkeys("abcd", st.integers(1, 50))))  # fmt: skip
def test_chains_are_a_largest_sum(pairs, times):
    symbols = {key: sympy.Symbol(key, positive=True) for key in "abcd"}
    parts = [Chains.of(symbols[one]) + Chains.of(symbols[two]) for one, two in pairs]
    total = parts[0]
    for part in parts[1:]:
        total = total | part
    point = {symbols[key]: time for key, time in times.items()}
    assert total.expr.subs(point) == max(times[one] + times[two] for one, two in pairs)


def test_every_algorithm_has_a_graph():
    for algorithm, placement in itertools.product(ALGORITHMS.values(), (co_located, disaggregated, split_by_stage)):
        graph = IterationGraph(algorithm, placement(algorithm))
        assert graph.critical_path(name).expr != 0
        assert graph.cycles


def test_all_of_an_interleaved_stage_waits_for_the_turn_before_and_holds_back_the_one_after():
    """On one group, both trainings begin after all of assessment, and the next batch after both."""
    graph = IterationGraph(PPO, co_located(PPO), Schedule(frozenset(), interleaved=frozenset({T})))
    times = {"G": 1, "aF": 1, "aR": 1, "aV": 1, "tP": 5, "tV": 9}
    assert graph.period(lambda node: sympy.Integer(times[SHORT[node.id]])) == 13
    assert graph.critical_path(lambda node: sympy.Integer(times[SHORT[node.id]])).expr == 13
    pairs = {(edge.before, edge.after) for edge in graph.edges if edge.reason == "group"}
    for training in ("policy/training", "critic/training"):
        assert ("critic/assessment", training) in pairs
        assert (training, "policy/generation") in pairs
