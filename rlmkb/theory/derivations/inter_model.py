"""Appendix B-D: work, depth and memory of an iteration under each configuration of table IX.

Every derivation starts from the invocations, written out by hand, and ends at what
`rlmkb.theory.table_nine`, `rlmkb.theory.configurations` or `rlmkb.theory.residency` make of the iteration's graph.
Where the appendix prints an idealisation, the last line is approximate and keeps what it leaves out.
"""

from collections.abc import Iterable
from dataclasses import replace
from itertools import product

import sympy

from rlmkb.notation import Stage, symbol
from rlmkb.theory import building_blocks as blocks
from rlmkb.theory.algorithms import PPO
from rlmkb.theory.configurations import CONFIGURATIONS, shared_actor_critic
from rlmkb.theory.derivations import inter_model_stages
from rlmkb.theory.derivations.inter_model_stages import (
    AC,
    BUFFER,
    C_TR,
    CACHE,
    CELLS,
    D_A,
    D_A_MAX,
    D_G,
    D_GEN,
    D_GEN_TP,
    D_T,
    D_T_MAX,
    D_TP,
    D_TR,
    DEPTH,
    GEN,
    KEPT,
    LETTERS,
    M_A,
    M_A_MAX,
    M_G,
    M_T,
    M_T_MAX,
    MEMORY,
    PI,
    REF,
    RESHARD,
    ROLLOUTS,
    SCORED,
    SHADOW,
    SIZE,
    TOKENS,
    TRAINED,
    W_A,
    W_G,
    W_T,
    WORK,
    C,
    D,
    R,
    S,
    T,
    V,
    cell,
    derivation,
    largest,
    m,
    total,
)
from rlmkb.theory.derivations.steps import Derivation, Relation, Step
from rlmkb.theory.formula import Quantity
from rlmkb.theory.functions import Log2, Maximum
from rlmkb.theory.iteration import iteration_cost
from rlmkb.theory.residency import QUEUED_PER_TOKEN, Live, live_sets
from rlmkb.theory.table_nine import end_to_end
from rlmkb.theory.transformer import transformer

eta, P_t = symbol("eta"), symbol("P_t")


def honest(row: str, stage: str, quantity: Quantity) -> sympy.Expr:
    """What the graph of the iteration gives where table IX prints an idealisation.

    Examples
    --------
    >>> honest("async", "aggregate", DEPTH) == CONFIGURATIONS["async"].critical_path(PPO)
    True
    """
    return CELLS[row, stage, quantity].honest.expr


def _work(row: str, reason: str) -> Derivation:
    """Work of a row that changes none: one term for each node of its graph."""
    nodes = [ROLLOUTS * GEN, *(TOKENS * C[role].handle for role in SCORED),
             *(TOKENS * C_TR[role].handle for role in TRAINED)]  # fmt: skip
    found = sympy.Add(*(cell(row, stage, WORK) for of, stage, what in CELLS if (of, what) == (row, WORK)))
    return derivation(row, f"{row}_work", f"Work, {CONFIGURATIONS[row].title}", _left(row, WORK), (
        Step("One term for each invocation.", sympy.Add(*nodes)),
        Step(reason, W_G.handle + W_A.handle + W_T.handle),
    ), found)  # fmt: skip


def _left(row: str, quantity: Quantity) -> str:
    short = {"baseline": "base", "ac_shared": "ac", "disaggregated": "disagg", "hybrid": "hyb",
             "stage_fusion": "fusion", "async": "async", "combined": "comb"}[row]  # fmt: skip
    return rf"{LETTERS[quantity]}_{{\mathrm{{{short}}}}}"


def _peak(lives: Iterable[Live]) -> sympy.Expr:
    """The fullest group at its fullest time, in handles."""
    return Maximum(*(live.expr for live in lives))


def _baseline() -> tuple[Derivation, ...]:
    row, configuration = "baseline", CONFIGURATIONS["baseline"]
    everything = 4 * total(SIZE, TRAINED) + SIZE[REF].handle + SIZE[R].handle
    batches = (ROLLOUTS * CACHE.handle, TOKENS * largest(BUFFER, SCORED), TOKENS * total(KEPT, TRAINED))
    return (
        _work(row, "By stage."),
        derivation(row, "baseline_depth", "Depth, co-located baseline", _left(row, DEPTH), (
            Step("One thing after the other on the one group.",
                 D_GEN.handle + total(D, SCORED) + total(D_TR, TRAINED)),
            Step("By stage.", D_G.handle + D_A.handle + D_T.handle),
        ), end_to_end(configuration).expr),
        derivation(row, "baseline_memory", "Memory, co-located baseline", _left(row, MEMORY), (
            Step("A stage's models come when it begins and go when it ends, so the largest stage counts.",
                 Maximum(M_G.handle, M_A.handle, M_T.handle)),
        ), _peak(live_sets(configuration, PPO))),
        derivation(row, "baseline_memory_resident", "Memory, co-located, nothing offloaded", _left(row, MEMORY), (
            Step("All weights stay, with the state of the trained ones, beside the batch of each stage.",
                 Maximum(*(everything + batch for batch in batches))),
            Step("What is always there adds up; the batches take turns.", everything + Maximum(*batches)),
        ), _peak(live_sets(configuration, PPO, offload=False))),
    )  # fmt: skip


def _as_large_as_the_policy(expr: sympy.Expr) -> sympy.Expr:
    """With the policy's dimensions for those of the shared model."""
    shared, policy = transformer(AC), transformer(PI)
    return expr.xreplace({getattr(shared, name): getattr(policy, name) for name in ("L", "d", "d_ff", "h")})


def _shared() -> tuple[Derivation, ...]:
    row, configuration = "ac_shared", CONFIGURATIONS["ac_shared"]
    generation, depth = blocks.generation(AC).handle, blocks.depth_generation(AC).handle
    scored = (REF, R, AC)
    work = ROLLOUTS * generation + TOKENS * (total(C, scored) + C_TR[AC].handle)
    separate = iteration_cost(PPO, WORK)
    gap = iteration_cost(shared_actor_critic(PPO), WORK).explicit - separate.explicit
    forward, critic, head = C[PI].handle, C[V].handle, 2 * transformer(PI).d
    return (
        derivation(row, "ac_shared_work", "Work, shared actor-critic", _left(row, WORK), (
            Step("The shared model generates, gives the values, and is trained once.",
                 ROLLOUTS * generation + sympy.Add(*(TOKENS * C[role].handle for role in scored))
                 + TOKENS * C_TR[AC].handle),
            Step("Collect.", work),
        ), iteration_cost(shared_actor_critic(PPO), WORK).expr),
        derivation(row, "ac_shared_gap", "Work of sharing less that of separate models, shared model as large as"
                    " the policy", rf"{_left(row, WORK)} - {_left('baseline', WORK)}", (
            Step("Values and training of the shared model come, those of critic and policy go.",
                 TOKENS * (forward + head + 3 * (forward + head) - critic - 3 * critic - 3 * forward)),
            Step("A pass more of the policy, four fewer of the critic, and the value head.",
                 TOKENS * (forward - 4 * critic + 4 * head)),
        ), _as_large_as_the_policy(gap)),
        derivation(row, "ac_shared_depth", "Depth, shared actor-critic", _left(row, DEPTH), (
            Step("One group, one thing after the other; one training pass in place of two.",
                 depth + total(D, scored) + D_TR[AC].handle),
        ), end_to_end(configuration).expr),
        derivation(row, "ac_shared_memory", "Memory of training, shared actor-critic", r"M_T^{\mathrm{ac}}", (
            Step("Four numbers a parameter, one hidden state a layer and token; the heads keep too little to count.",
                 4 * SIZE[AC].handle + TOKENS * transformer(AC).L * transformer(AC).d),
            Step("Named as table III does.", 4 * SIZE[AC].handle + TOKENS * KEPT[AC].handle),
        ), cell(row, "training", MEMORY)),
    )  # fmt: skip


def _disaggregated() -> tuple[Derivation, ...]:
    row, configuration = "disaggregated", CONFIGURATIONS["disaggregated"]
    chains = [D_GEN.handle + D[scores].handle + D_TR[learns].handle for scores, learns in product(SCORED, TRAINED)]
    frozen = [SIZE[role].handle + TOKENS * BUFFER[role].handle for role in SCORED]
    trained = [4 * SIZE[role].handle + TOKENS * KEPT[role].handle for role in TRAINED]
    return (
        _work(row, "Where a term is computed does not change it."),
        derivation(row, "disaggregated_depth", "Depth, disaggregated models", _left(row, DEPTH), (
            Step("Stages wait for all of the stage before: six chains, of which the longest counts.", Maximum(*chains)),
            Step("Both choices are free, so each is its longest.",
                 D_GEN.handle + largest(D, SCORED) + largest(D_TR, TRAINED)),
            Step("By stage.", D_G.handle + D_A_MAX.handle + D_T_MAX.handle),
        ), end_to_end(configuration).expr),
        derivation(row, "disaggregated_memory", "Memory, disaggregated models", _left(row, MEMORY), (
            Step("Six footprints on four groups; those of one model take turns.",
                 Maximum(SIZE[PI].handle + ROLLOUTS * CACHE.handle, *frozen, *trained)),
            Step("By stage.", Maximum(M_G.handle, M_A_MAX.handle, M_T_MAX.handle)),
        ), _peak(live_sets(configuration, PPO))),
    )  # fmt: skip


def _hybrid() -> tuple[Derivation, ...]:
    row, configuration = "hybrid", CONFIGURATIONS["hybrid"]
    layer = 4 * Log2(transformer(PI).d) + Log2(transformer(PI).d_ff) - Log2(transformer(PI).h) - 2 * Log2(P_t)
    head = Log2(transformer(PI).d) - Log2(P_t)

    def step(length: sympy.Expr) -> sympy.Expr:
        return transformer(PI).L * (layer + Log2(length)) + head

    decode = sympy.Sum(step(S + blocks.STEP), (blocks.STEP, 1, T - 1))
    return (
        _work(row, "A layout moves products to other devices; none is lost or done twice."),
        derivation(row, "hybrid_generation", "Depth of generation in a tensor-parallel layout",
                    r"D_G^{\mathrm{inf}}", (
            Step("In each pass two of six contractions of a layer, and the head's, are cut into $P_t$ parts.",
                 step(S) + decode),
            Step("Still a chain of $T$ passes.", D_GEN_TP.handle),
        ), cell(row, "generation", DEPTH)),
        derivation(row, "hybrid_depth", "Depth, a layout per stage", _left(row, DEPTH), (
            Step("One group, so the stages and the models in them follow each other, each in its layout.",
                 D_GEN_TP.handle + total(D_TP, SCORED) + total(D_TR, TRAINED)),
        ), end_to_end(configuration).expr),
        derivation(row, "hybrid_memory", "Memory, a layout per stage", _left(row, MEMORY), (
            Step("As the baseline, and the second layout of the actor's weights while it is filled.",
                 Maximum(M_G.handle, M_A.handle, M_T.handle) + RESHARD.handle),
            Step("Table IX prints the row without the buffer.", Maximum(M_G.handle, M_A.handle, M_T.handle),
                 Relation.APPROXIMATE),
        ), Maximum(*(cell(row, stage.value, MEMORY) for stage in Stage))),
    )  # fmt: skip


def _fusion() -> tuple[Derivation, ...]:
    row, configuration = "stage_fusion", CONFIGURATIONS["stage_fusion"]
    longer = Maximum(D_G.handle, D_A_MAX.handle)
    path = D_G.handle + D_A_MAX.handle + D_T_MAX.handle
    chains = [D_GEN.handle + D[scores].handle + D_TR[learns].handle for scores, learns in product(SCORED, TRAINED)]
    actor, models = SIZE[PI].handle + ROLLOUTS * CACHE.handle, total(SIZE, SCORED)
    both = actor + models + TOKENS * total(BUFFER, SCORED)
    return (
        _work(row, "The same parts, in another order."),
        derivation(row, "fusion_path", "Critical path with fused stages", r"D_{\mathrm{path}}", (
            Step("No barrier, but a response is scored when it has ended, the longest too, and an update reads scores.",
                 Maximum(*chains)),
            Step("By stage: as with barriers.", path),
        ), configuration.critical_path(PPO)),
        derivation(row, "fusion_depth", "Depth with fused stages, as printed", _left(row, DEPTH), (
            Step("The critical path.", path),
            Step("The shorter of both is taken as hidden: no chain, but a throughput.", longer + D_T_MAX.handle,
                 Relation.APPROXIMATE),
        ), end_to_end(configuration).expr),
        derivation(row, "fusion_stream", "What the larger of both is: the limit of a fine stream",
                    _left(row, DEPTH), (
            Step("Cut both stages into $BK$ equal parts: the first passes both, each further one waits for the slower.",
                 (D_G.handle + D_A_MAX.handle) / ROLLOUTS + (ROLLOUTS - 1) * longer / ROLLOUTS + D_T_MAX.handle),
            Step("For many parts the first one no longer counts.", longer + D_T_MAX.handle, Relation.APPROXIMATE),
        ), end_to_end(configuration).expr),
        derivation(row, "fusion_dominated", "Depth with fused stages where generation is longer",
                    _left(row, DEPTH), (
            Step("As printed.", longer + D_T_MAX.handle),
            Step("Right where no model of assessment is deeper than all of generation.",
                 D_G.handle + D_T_MAX.handle, Relation.APPROXIMATE),
        ), cell("baseline", "generation", DEPTH) + cell(row, "intra", DEPTH)),
        derivation(row, "fusion_memory", "Memory of fused generation and assessment", r"M_{G/A}^{\mathrm{fused}}", (
            Step("Both stages are live: actor and cache, three models with buffers, queues of tokens to each.",
                 both + len(SCORED) * QUEUED_PER_TOKEN * TOKENS),
        ), honest(row, "inter", MEMORY)),
        derivation(row, "fusion_memory_printed", "Memory of fused generation and assessment, as printed",
                    r"M_{G/A}^{\mathrm{fused}}", (
            Step("Both stages are live.", both + len(SCORED) * QUEUED_PER_TOKEN * TOKENS),
            Step("Without queues and buffers.", actor + models, Relation.APPROXIMATE),
            Step("As if one stage ended before the other began.", Maximum(actor, models), Relation.APPROXIMATE),
        ), cell(row, "inter", MEMORY)),
    )  # fmt: skip


def _batches_under_way(ahead: sympy.Expr) -> sympy.Expr:
    """Of asynchronous execution with a rollout barrier: what a period cannot be below, `ahead` batches under way."""
    halves = [D_GEN.handle + D[role].handle for role in SCORED]
    updates = [D_TR[role].handle for role in TRAINED]
    return Maximum(*halves, *updates, *((half + update) / ahead for half, update in product(halves, updates)))


def _async() -> tuple[Derivation, ...]:
    row, configuration = "async", CONFIGURATIONS["async"]
    stale = replace(configuration, schedule=replace(configuration.schedule, staleness=eta))
    free = replace(CONFIGURATIONS["combined"], sharded=frozenset(),
                   schedule=replace(CONFIGURATIONS["combined"].schedule, staleness=sympy.S.One))  # fmt: skip
    half = D_G.handle + D_A_MAX.handle
    trained = [4 * SIZE[role].handle + TOKENS * KEPT[role].handle for role in TRAINED]
    copies = ROLLOUTS * CACHE.handle + SHADOW.handle
    frozen = [SIZE[role].handle for role in SCORED]
    buffered = [SIZE[role].handle + TOKENS * BUFFER[role].handle for role in SCORED]
    return (
        _work(row, "Work of another iteration runs meanwhile; each has its own."),
        derivation(row, "async_staleness", r"Period at staleness $\eta$", _left(row, DEPTH), (
            Step(r"Generation with assessment and each update follow their like; $\eta + 1$ batches share a path.",
                 _batches_under_way(eta + 1)),
            Step("By stage.", Maximum(half, D_T_MAX.handle, (half + D_T_MAX.handle) / (eta + 1))),
        ), stale.period(PPO)),
        derivation(row, "async_depth", "Period at staleness 1, as printed", _left(row, DEPTH), (
            Step("Two batches share a path, so a period is at least half of one.",
                 Maximum(half, D_T_MAX.handle, (half + D_T_MAX.handle) / 2)),
            Step("That is the mean of the other two, and never above the larger.", Maximum(half, D_T_MAX.handle)),
        ), end_to_end(configuration).expr),
        derivation(row, "async_fused", "Period at staleness 1 with assessment fused, as printed", _left(row, DEPTH), (
            Step("Every invocation has a group; two batches share a path.",
                 Maximum(D_G.handle, D_A_MAX.handle, D_T_MAX.handle, (half + D_T_MAX.handle) / 2)),
            Step("The appendix replaces the first term and forgets the path.",
                 Maximum(D_G.handle, D_A_MAX.handle, D_T_MAX.handle), Relation.APPROXIMATE),
        ), Maximum(*(free.depth_of(node).handle for node in free.graph(PPO).nodes))),
        derivation(row, "async_memory", "Memory, asynchronous execution, as printed", _left(row, MEMORY), (
            Step("Caches and a copy to read; frozen models with buffers; trained models with state.",
                 Maximum(copies, *buffered, *trained)),
            Step("Without the buffers.", Maximum(copies, *frozen, *trained), Relation.APPROXIMATE),
            Step("The generation group keeps the actor as well as its copy.",
                 Maximum(M_G.handle + SHADOW.handle, *frozen, M_T_MAX.handle), Relation.APPROXIMATE),
        ), cell(row, "aggregate", MEMORY)),
    )  # fmt: skip


def _combined() -> tuple[Derivation, ...]:
    row, configuration = "combined", CONFIGURATIONS["combined"]
    alone = Maximum(D_GEN_TP.handle, D_A_MAX.handle, D_T_MAX.handle)
    path = D_GEN_TP.handle + D_A_MAX.handle + D_T_MAX.handle
    sharded = [2 * D_TP[role].handle + Log2(TOKENS) for role in TRAINED]
    ideal = [2 * blocks.depth_forward_tp(role).explicit + Log2(ROLLOUTS * m) for role in TRAINED]
    trained = [4 * SIZE[role].handle + TOKENS * KEPT[role].handle for role in TRAINED]
    frozen = [SIZE[role].handle for role in SCORED]
    return (
        _work(row, "None of the ingredients changes it."),
        derivation(row, "combined_depth", "Period at staleness 2", _left(row, DEPTH), (
            Step("Every invocation has a group, and three batches share a path.",
                 Maximum(D_GEN_TP.handle, D_A_MAX.handle, D_T_MAX.handle, path / 3)),
            Step("A mean of three is never above the largest.", alone),
        ), end_to_end(configuration).expr),
        derivation(row, "combined_depth_once", "Period at staleness 1, as printed", _left(row, DEPTH), (
            Step("Two batches share a path.", Maximum(D_GEN_TP.handle, D_A_MAX.handle, D_T_MAX.handle, path / 2)),
            Step("Half of the path is left out: right only if one part is half of it.", alone, Relation.APPROXIMATE),
        ), end_to_end(configuration).expr),
        derivation(row, "combined_ideal", "The ideal form", _left(row, DEPTH), (
            Step("As table IX prints it.", alone),
            Step("Assessment is taken as hidden.", Maximum(D_GEN_TP.handle, D_T_MAX.handle), Relation.APPROXIMATE),
            Step("Training is sharded as well, which table IX does not.", Maximum(D_GEN_TP.handle, *sharded),
                 Relation.APPROXIMATE),
        ), Maximum(D_GEN_TP.explicit, *ideal)),
        derivation(row, "combined_memory", "Memory, combined, as printed", _left(row, MEMORY), (
            Step("Actor, cache and copy; frozen models; trained models with state.",
                 Maximum(SIZE[PI].handle + ROLLOUTS * CACHE.handle + SHADOW.handle, *frozen, *trained)),
            Step("By stage.", Maximum(M_G.handle + SHADOW.handle, *frozen, M_T_MAX.handle)),
        ), cell(row, "aggregate", MEMORY)),
    )  # fmt: skip


DERIVATIONS: tuple[Derivation, ...] = (
    *inter_model_stages.DERIVATIONS, *_baseline(), *_shared(), *_disaggregated(), *_hybrid(),
    *_fusion(), *_async(), *_combined(),
)  # fmt: skip
