"""The seven insights of section III-H as statements about the formulas, with the numbers that bear them out.

Tables V to VIII count sequences where table I counts prompts, so every formula here has B K sequences in a step.
"""

import sympy

from rlmkb.notation import Role, Stage, symbol
from rlmkb.theory import building_blocks as blocks
from rlmkb.theory.algorithms import GRPO, PPO
from rlmkb.theory.formula import Formula, Quantity, Terms
from rlmkb.theory.imbalance import CEILING
from rlmkb.theory.insights import Insight, Measure
from rlmkb.theory.iteration import BASELINE, iteration_cost, stage_cost
from rlmkb.theory.partition import STATE, STRATEGIES, Part, Strategy
from rlmkb.theory.strategy_stages import in_stage
from rlmkb.theory.transforms import Transformed, Zero

B, K, m, E, E_a, P_d, P_t, P_c, P_e = (symbol(n) for n in ("B", "K", "m", "E", "E_a", "P_d", "P_t", "P_c", "P_e"))
NONE, DATA, TENSOR, PIPELINE, CONTEXT, COUPLED = (
    STRATEGIES[name] for name in ("none", "data", "tensor", "pipeline", "context", "5d")
)
LONGER = 16
_SAME = 1e-9


def _rollouts(expr: sympy.Expr) -> sympy.Expr:
    """An expression in sequences, for B prompts with K responses each."""
    return expr.subs(B, B * K)


def _insight(id: str, title: str, claim: str, measures: dict[str, sympy.Expr], test, caveat: str | None = None):
    return Insight(id, title, claim, tuple(Measure(meaning, expr) for meaning, expr in measures.items()), test,
                   "Section III-H", caveat)  # fmt: skip


def _cost(stage: Stage, quantity: Quantity) -> sympy.Expr:
    return stage_cost(PPO, stage, quantity, BASELINE).explicit


def _whole(quantity: Quantity) -> sympy.Expr:
    return iteration_cost(PPO, quantity).explicit


def _ratio(above: Formula, below: Formula) -> sympy.Expr:
    return above.explicit / below.explicit


def _sum_of_state(terms: Terms) -> sympy.Expr:
    return sympy.Add(*(term.expr for term in terms if term.name in STATE))


def _state(strategy: Strategy, stage: Stage) -> sympy.Expr:
    """Elements that a rank keeps of the weights in a stage."""
    return _sum_of_state(in_stage(strategy, stage).memory)


def _stages() -> Insight:
    return _insight(
        "stages", "No strategy is best in all stages",
        "Generation has the depth, training the work and the memory, assessment neither.",
        {
            "generation's share of the depth": _cost(Stage.GENERATION, Quantity.DEPTH) / _whole(Quantity.DEPTH),
            "training's share of the work": _cost(Stage.TRAINING, Quantity.WORK) / _whole(Quantity.WORK),
            "numbers per weight, training over assessment":
                _state(DATA, Stage.TRAINING) / _state(DATA, Stage.ASSESSMENT),
            "memory of a replica, training over assessment":
                _rollouts(in_stage(DATA, Stage.TRAINING).memory.total / in_stage(DATA, Stage.ASSESSMENT).memory.total),
        },
        lambda depth, work, states, memory: depth > 0.5 and work > 0.5 and memory > states,
    )  # fmt: skip


def _data() -> Insight:
    return _insight(
        "data", "Data parallelism scales throughput, not the latency of a sample",
        "Each replica does its share of the work; the chain of an invocation and of a rollout stays as long.",
        {
            "work of a rank, times the ranks, over one device": P_d * DATA.rank_work.total / NONE.rank_work.total,
            "depth of all ranks over one device": _rollouts(DATA.global_depth.total / NONE.global_depth.total),
            "rollouts of a rank over all": sympy.Integer(1) / P_d,
            "passes in a row for one rollout, over its tokens":
                _ratio(blocks.depth_generation(), blocks.depth_forward(Role.POLICY)) / symbol("T"),
        },
        lambda work, depth, share, chain: (
            abs(work - 1) < _SAME and abs(depth - 1) < _SAME and share < 1 and chain > 0.5
        ),
    )  # fmt: skip


def _tensor_and_pipeline() -> Insight:
    sent = in_stage(TENSOR, Stage.TRAINING).sent / in_stage(DATA, Stage.TRAINING).sent
    return _insight(
        "capacity", "Tensor and pipeline parallelism buy capacity, and pay in communication",
        "Both divide memory; neither ends the chain of decode steps, and a pipeline does not shorten an invocation.",
        {
            "memory of a tensor rank over one device": _rollouts(TENSOR.rank_memory.total / NONE.rank_memory.total),
            "depth of a rollout with tensor parallelism, over without":
                _ratio(blocks.depth_generation_tp(), blocks.depth_generation()),
            "depth of all ranks of a pipeline over one device":
                _rollouts(PIPELINE.global_depth.total / NONE.global_depth.total),
            "elements sent in training, a tensor rank over a data rank": _rollouts(sent),
        },
        lambda memory, rollout, pipeline, traffic: (
            memory < 1 and 0.5 < rollout < 1 and abs(pipeline - 1) < _SAME and traffic > 1
        ),
        caveat="The paper also calls a pipeline a tool against the latency of one invocation; its own note says that"
               " all L layers stay on the path.",
    )  # fmt: skip


def _context() -> Insight:
    attention = NONE.rank_work[Part.ATTENTION] / NONE.rank_work.total
    sequence = NONE.rank_memory[Part.ACTIVATIONS] / B / _state(NONE, Stage.ASSESSMENT)
    return _insight(
        "context", "Sequence and context parallelism matter more for reasoning",
        "What these two divide grows with the sequence: attention to most of the work, activations beyond the weights.",
        {
            "attention's share of the work": attention,
            f"attention's share at {LONGER} times the length": attention.subs(m, LONGER * m),
            "activations of one sequence over the weights": sequence,
            f"the same at {LONGER} times the length": sequence.subs(m, LONGER * m),
            "activations of a context rank, times the ranks, over one device":
                P_c * CONTEXT.rank_memory[Part.ACTIVATIONS] / NONE.rank_memory[Part.ACTIVATIONS],
        },
        lambda short, long, one, grown, divided: long > 0.5 and grown > 1 and abs(divided - 1) < _SAME,
    )  # fmt: skip


def _layouts() -> Insight:
    frozen, trained = _state(DATA, Stage.ASSESSMENT), _state(DATA, Stage.TRAINING)
    sharded = Transformed(DATA, zero=Zero.PARAMETERS, shards=P_d).rank_memory
    learning = {algorithm.name: sum(blocks.parameter_count(role).explicit for role in algorithm.trained_roles)
                for algorithm in (PPO, GRPO)}  # fmt: skip
    return _insight(
        "frozen", "Frozen and trainable models prefer different layouts",
        "A frozen replica keeps one number per weight and sends nothing; a trained one keeps four, unless sharded.",
        {
            "elements sent by a frozen replica": sympy.sympify(in_stage(DATA, Stage.ASSESSMENT).sent),
            "numbers per weight of a trained replica": trained / frozen,
            "the same, sharded over the replicas by ZeRO-3": _sum_of_state(sharded) / frozen,
            "trained parameters, PPO over GRPO": learning["PPO"] / learning["GRPO"],
        },
        lambda sent, replica, shard, algorithms: sent == 0 and replica == 4 > shard and algorithms > 1,
    )  # fmt: skip


def _experts() -> Insight:
    work = COUPLED.step.work
    return _insight(
        "experts", "Expert parallelism scales capability, and can create skew",
        "A token pays for few of the experts in memory; attention stays, tokens travel, and the busiest rank decides.",
        {
            "experts in memory over experts a token pays for": E / E_a,
            "attention's share of a token's work": (work[Part.PROJECTIONS] + work[Part.ATTENTION]) / work.total,
            "numbers sent to experts and back, over a token's own, per layer and pass": 2 * E_a * (P_e - 1) / P_e,
            "busiest rank over the mean, at worst": CEILING,
        },
        lambda capability, attention, traffic, skew: capability > 1 and attention > 0 and traffic > 1 and skew > 1,
    )


def _specialise() -> Insight:
    def share(stage: Stage, kind: str) -> sympy.Expr:
        terms = in_stage(DATA, stage).memory
        return _rollouts(terms[kind] / terms.total)

    weights = _rollouts(_state(DATA, Stage.ASSESSMENT) / in_stage(DATA, Stage.ASSESSMENT).memory.total)
    replicated, cut = (in_stage(strategy, Stage.TRAINING).memory.total for strategy in (DATA, STRATEGIES["3d"]))
    return _insight(
        "specialise", "Systems should specialise by model and by stage",
        "Of a replica, generation fills the memory with cache, assessment with weights, training with state.",
        {
            "cache's share of a replica in generation": share(Stage.GENERATION, "cache"),
            "weights' share of a replica in assessment": weights,
            "state's share of a replica in training":
                _rollouts(_state(DATA, Stage.TRAINING) / in_stage(DATA, Stage.TRAINING).memory.total),
            "memory of a training rank, replicated over 3D": _rollouts(replicated / cut),
        },
        lambda cache, frozen, state, layout: cache > 0.5 and frozen > 0.5 and state > 0.5 and layout > 1,
        caveat="The first three depend on the sequences per replica: with more of them, activations outgrow the state.",
    )


INSIGHTS_INTRA: dict[str, Insight] = {
    insight.id: insight
    for insight in (
        _stages(), _data(), _tensor_and_pipeline(), _context(), _layouts(), _experts(), _specialise(),
    )
}  # fmt: skip
