"""Appendix B-B: one iteration of PPO, GRPO and DPO, added up from the invocation lists."""

import sympy

from rlmkb.notation import Role, symbol
from rlmkb.theory import building_blocks as blocks
from rlmkb.theory.algorithms import DPO, GRPO, PPO, Algorithm
from rlmkb.theory.breakdown import by_invocation
from rlmkb.theory.derivations.steps import Derivation, Relation, Step
from rlmkb.theory.formula import Formula, Quantity
from rlmkb.theory.functions import Log2, Maximum
from rlmkb.theory.iteration import BASELINE, DISAGGREGATED, iteration_cost

B, K, m, pairs = (symbol(name) for name in ("B", "K", "m", "B_pairs"))
ROLLOUTS = B * K


def _handles(*formulas: Formula) -> dict[sympy.Symbol, sympy.Expr]:
    return {formula.handle: formula.expr for formula in formulas}


POLICY, REFERENCE, REWARD, CRITIC = (
    blocks.forward(role) for role in (Role.POLICY, Role.REFERENCE, Role.REWARD, Role.CRITIC)
)
TRAINED = (Role.POLICY, Role.CRITIC)
TRAIN = _handles(*(blocks.training(role) for role in TRAINED))
BACK = _handles(*(blocks.backward(role) for role in TRAINED))
WHERE = (
    POLICY, REFERENCE, REWARD, CRITIC, blocks.generation(),
    *(block(role) for role in TRAINED for block in (blocks.training, blocks.backward)),
)  # fmt: skip


def work(algorithm: Algorithm) -> Derivation:
    """Work of an online algorithm in passes of its models, from one term per invocation."""
    one_each = sympy.Add(*(cost.expr for _, cost in by_invocation(algorithm)))
    split = sympy.expand(one_each.xreplace(TRAIN))
    doubled = sympy.expand(split.xreplace(BACK))
    same = doubled.xreplace({REFERENCE.handle: POLICY.handle})
    return Derivation(
        f"{algorithm.id}_work", f"Work of one iteration of {algorithm.name}", r"W_{\mathrm{" + algorithm.name + "}}",
        "Appendix B-B1",
        (
            Step("One term for each invocation.", one_each),
            Step("Training is a forward and a backward pass.", _per_rollout(split)),
            Step("Backward is twice forward.", _per_rollout(doubled)),
            Step("The reference has the policy's shape.", _per_rollout(same)),
        ),
        iteration_cost(algorithm, Quantity.WORK).explicit,
        WHERE,
    )  # fmt: skip


def _per_rollout(expr: sympy.Expr) -> sympy.Expr:
    """BK [C_gen + m (...)]: generation is per rollout, all else per token."""
    generation = blocks.generation().handle
    rest = sympy.expand((expr - ROLLOUTS * generation) / (ROLLOUTS * m))
    return ROLLOUTS * (generation + m * rest)


def _in_passes() -> Derivation:
    passes = 5 * POLICY.handle + REWARD.handle + 4 * CRITIC.handle
    start = work(PPO).steps[-1].expr
    return Derivation(
        "ppo_passes", "PPO in forward passes", r"W_{\mathrm{PPO}}", "Appendix B-B1",
        (
            Step("Generation, and passes of the three models.", start),
            Step("A rollout is at most a forward pass over its tokens.", ROLLOUTS * m * passes, Relation.BOUND),
        ),
        ROLLOUTS * m * passes,
        WHERE,
    )  # fmt: skip


def _critic_gap() -> Derivation:
    critic_calls = [cost for call, cost in by_invocation(PPO) if call.role is Role.CRITIC]
    forward, back = CRITIC.handle, blocks.backward(Role.CRITIC).handle
    return Derivation(
        "critic_gap", "What the critic costs: PPO less GRPO", r"W_{\mathrm{PPO}} - W_{\mathrm{GRPO}}",
        "Table IV; section II-F prints $C_f + C_b$",
        (
            Step("The critic's invocations: values in assessment, then its own training.",
                 sympy.Add(*(cost.expr for cost in critic_calls))),
            Step("Two forward passes and one backward pass a token.", ROLLOUTS * m * (2 * forward + back)),
            Step("Backward is twice forward.", 4 * ROLLOUTS * m * forward),
        ),
        iteration_cost(PPO, Quantity.WORK).explicit - iteration_cost(GRPO, Quantity.WORK).explicit,
        WHERE,
    )  # fmt: skip


def _depth(algorithm: Algorithm, apart: bool) -> Derivation:
    """Depth of an iteration, with the models of a stage side by side or one after the other."""
    reading = DISAGGREGATED if apart else BASELINE
    forwards = [blocks.depth_forward(call.role) for call in algorithm.invocations if call.call == "forward"]
    training = [
        blocks.depth_training(call.role, call.sequences) for call in algorithm.invocations if call.call == "train"
    ]
    combine = Maximum if apart else sympy.Add
    generation = blocks.depth_generation()
    stages = [combine(*(part.handle for part in stage)) for stage in (forwards, training)]
    start = sympy.Add(generation.handle, *stages)
    split = start.xreplace({
        part.handle: 2 * forward.handle + Log2(ROLLOUTS * m)
        for part in training for forward in (blocks.depth_forward(part.role),)
    })  # fmt: skip
    placed = "each model on devices of its own" if apart else "one after the other"
    return Derivation(
        f"{algorithm.id}_depth_{'apart' if apart else 'together'}",
        f"Depth of one iteration of {algorithm.name}, {placed}", r"D_{\mathrm{" + algorithm.name + "}}",
        "Appendix B-B1",
        (
            Step("Stages follow each other; in a stage the longest model counts." if apart
                 else "Stages follow each other, and so do the models in them.", start),
            Step("A training pass is two passes and a sum over the tokens of all $BK$ rollouts.", split),
        ),
        iteration_cost(algorithm, Quantity.DEPTH, reading).explicit,
        (generation, *forwards, *training, *(blocks.depth_forward(role) for role in TRAINED)),
    )  # fmt: skip


def _dpo_work() -> Derivation:
    one_each = sympy.Add(*(cost.expr for _, cost in by_invocation(DPO)))
    back = blocks.backward(Role.POLICY).handle
    once = POLICY.handle + REFERENCE.handle + back
    return Derivation(
        "dpo_work", "Work of one iteration of DPO", r"W_{\mathrm{DPO}}", "Appendix B-B2",
        (
            Step("One term for each invocation, two sequences per pair.", one_each),
            Step("Training is a forward and a backward pass.",
                 2 * pairs * m * (2 * POLICY.handle + REFERENCE.handle + back)),
            Step("The policy's log-ratios come from training's own forward pass.", 2 * pairs * m * once,
                 Relation.APPROXIMATE),
            Step("A pair is taken as one sequence of $S+T$ tokens.", pairs * m * once, Relation.APPROXIMATE),
        ),
        pairs * m * (POLICY.explicit + REFERENCE.explicit + blocks.backward(Role.POLICY).explicit),
        WHERE,
    )  # fmt: skip


def _dpo_depth() -> Derivation:
    forwards = (blocks.depth_forward(Role.REFERENCE), blocks.depth_forward(Role.POLICY))
    training = blocks.depth_training(Role.POLICY, 2 * pairs)
    policy = forwards[1].handle
    return Derivation(
        "dpo_depth", "Depth of one iteration of DPO, each model on devices of its own", r"D_{\mathrm{DPO}}",
        "Appendix B-B2 and table IV",
        (
            Step("Log-ratios, then training.", Maximum(*(part.handle for part in forwards)) + training.handle),
            Step("The reference has the policy's shape.", policy + training.handle),
            Step("Three passes and a sum over the tokens of both sequences of all pairs.",
                 3 * policy + Log2(2 * pairs * m)),
        ),
        iteration_cost(DPO, Quantity.DEPTH, DISAGGREGATED).explicit,
        (*forwards, training),
    )  # fmt: skip


DERIVATIONS = (
    work(PPO),
    work(GRPO),
    _in_passes(),
    _critic_gap(),
    _depth(PPO, apart=False),
    _depth(PPO, apart=True),
    _depth(GRPO, apart=False),
    _depth(GRPO, apart=True),
    _dpo_work(),
    _dpo_depth(),
)
