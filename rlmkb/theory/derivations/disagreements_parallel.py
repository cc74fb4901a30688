"""Where the paper's statements about one model on many ranks (tables V to VIII, section III) differ from each other."""

import sympy

from rlmkb.notation import symbol
from rlmkb.theory.derivations.disagreement import Disagreement
from rlmkb.theory.formula import Quantity
from rlmkb.theory.functions import Log2
from rlmkb.theory.parallel_tables import Scope, parallel_formula
from rlmkb.theory.partition import DATA, DENSE, EXPERT_ISOLATED, STRATEGIES, Part, Strategy
from rlmkb.theory.sequence import MEGATRON_TENSOR
from rlmkb.theory.traffic import Collective, messages, sent
from rlmkb.theory.transforms import STATES, Transformed, Zero

B, K, m, L, d, d_ff, h, V = (symbol(name) for name in ("B", "K", "m", "L", "d", "d_ff", "h", "V"))
E_a, P_d, P_p, P_t = (symbol(name) for name in ("E_a", "P_d", "P_p", "P_t"))
VOCABULARY = STATES * V * d


def _cell(row: str, scope: Scope, quantity: Quantity) -> sympy.Expr:
    """A cell as tables VII and VIII print it."""
    return parallel_formula(STRATEGIES[row], scope, quantity).explicit


def _global_depth(row: str, name: str, section: str) -> Disagreement:
    return Disagreement(
        f"global_depth_{row}", f"Depth of all ranks under {name}", Quantity.DEPTH,
        "tables VI and VIII: as without $P_t$", _cell(row, Scope.GLOBAL, Quantity.DEPTH),
        f"{section}: $P_t^2$ stays", STRATEGIES[row].global_depth.total,
        "The all-reduce adds $P_t$ partial sums; counted as a tree, as the paper counts the gradient's under data"
        " parallelism, it restores what the shards saved.",
    )  # fmt: skip


def _orders() -> Disagreement:
    every = 2 * L * (4 * Log2(d / P_t) + Log2(d_ff / P_t) + Log2(m) - Log2(h)) + Log2(B * m)
    return Disagreement(
        "tensor_orders", "Depth of one rank under tensor parallelism", Quantity.DEPTH,
        "table VII and B-C4: two contractions a layer, $P_t^2$", _cell("tensor", Scope.PER_RANK, Quantity.DEPTH),
        r"tables V and III-G: every $\log d$ becomes $\log(d/P_t)$", every,
        "Four of the six contractions sum over dimensions that no rank has cut.",
    )  # fmt: skip


def _vocabulary_3d() -> Disagreement:
    ours = STRATEGIES["3d"].rank_memory.total
    return Disagreement(
        "vocabulary_3d", "Vocabulary matrix of one rank under 3D parallelism", Quantity.MEMORY,
        "table VII, B-C7 and table V's 5D row: $4Vd/P_t$", ours,
        "table V's 3D row: divided by $P_p P_t$", ours - VOCABULARY / P_t + VOCABULARY / (P_p * P_t),
        "The matrix sits whole on a boundary stage, as the note to table V says.",
    )  # fmt: skip


def _vocabulary_ends() -> Disagreement:
    ours = STRATEGIES["pipeline"].global_memory.total
    return Disagreement(
        "vocabulary_ends", "Vocabulary matrix on all ranks of a pipeline", Quantity.MEMORY,
        "tables VI, VIII and B-C3: one copy, $4Vd$", ours,
        "note to table V: on the boundary ranks, first and last", ours + VOCABULARY,
        "The paper counts one matrix; a model that ties it needs it at both ends, one that does not has two.",
    )  # fmt: skip


def _batch() -> Disagreement:
    whole = _cell("none", Scope.PER_RANK, Quantity.WORK)
    return Disagreement(
        "batch_symbol", "Sequences of one training step", Quantity.WORK,
        "tables V to VIII: $B$ counts sequences, so $BK$ rollouts", whole.subs(B, B * K),
        "table I: $B$ counts prompts", whole,
        "A step of PPO or GRPO trains on every rollout; with table I's $B$ the cells are short by a factor of $K$.",
    )  # fmt: skip


def _head() -> Disagreement:
    ours = _cell("none", Scope.PER_RANK, Quantity.WORK)
    return Disagreement(
        "head_work", "Work of the head in one training step", Quantity.WORK,
        "tables V to VIII and B-C1: none, as a small difference", ours,
        "table III: $2Vd$ a token forward, three times that in all", ours + 6 * B * m * V * d,
        "Printed as it is; the same tables do count the head's memory, $4Vd$, and its work is not small in small"
        " models.",
    )  # fmt: skip


def _data_path() -> Disagreement:
    return Disagreement(
        "data_path", "Critical path under data parallelism", Quantity.DEPTH,
        "III-G, III-H and B-C2, globally: unchanged", _cell("data", Scope.GLOBAL, Quantity.DEPTH),
        r"tables V and VII: $\log(Bm/P_d)$ at the end", _cell("data", Scope.PER_RANK, Quantity.DEPTH),
        "A rank's depth stops before the all-reduce; nothing is updated until that has ended.",
    )  # fmt: skip


def _pipeline_path() -> Disagreement:
    return Disagreement(
        "pipeline_path", "Latency of one invocation under pipeline parallelism", Quantity.DEPTH,
        "III-G's note, B-C3 and table VI: all $L$ layers", STRATEGIES["pipeline"].global_depth.total,
        "III-G and III-H: $L/P_p$, a tool against latency", STRATEGIES["pipeline"].rank_depth.total,
        "A token passes every stage; a pipeline raises what a group finishes per second, not how soon one call ends.",
    )  # fmt: skip


def _tensor_activations() -> Disagreement:
    ours = STRATEGIES["tensor"].rank_memory.total
    return Disagreement(
        "tensor_activations", "Activations of one rank under tensor parallelism", Quantity.MEMORY,
        "tables V and VII: $BmLd/P_t$, idealised", ours,
        "III-C: token-wise parts are replicated", Strategy("tensor", DENSE, (MEGATRON_TENSOR,)).rank_memory.total,
        "What the model keeps, one hidden state a layer, is what tensor parallelism replicates; the cell holds with"
        " sequence parallelism, which has no row.",
    )  # fmt: skip


def _strongest() -> Disagreement:
    ranks = P_d * P_p * P_t
    sharded = Transformed(Strategy("data", DENSE, (DATA.at(ranks),)), zero=Zero.PARAMETERS, shards=ranks)
    return Disagreement(
        "strongest_memory", "Least memory of a rank on $N = P_d P_p P_t$ devices", Quantity.MEMORY,
        "III-G1: ZeRO-3 over all of them", sharded.rank_memory.total,
        '3D parallelism, "the strongest" reduction in III-G', STRATEGIES["3d"].rank_memory.total,
        "3D keeps a copy of the state in each of $P_d$ replicas; sharding over them too leaves none.",
    )  # fmt: skip


def _states() -> Disagreement:
    parameters = sum(STRATEGIES["none"].rank_memory[part] for part in
                     (Part.PROJECTION_STATE, Part.FFN_STATE, Part.VOCABULARY_STATE)) / STATES  # fmt: skip
    return Disagreement(
        "training_states", "State of a trained model over its weights", Quantity.MEMORY,
        "III-G1 and all tables: 4 numbers a parameter", STATES * parameters,
        "III-B1: gradients inflate it by about 3", 3 * parameters,
        "Weight, gradient and two moments are four; three come on top of the weights.",
    )  # fmt: skip


def _dispatch() -> Disagreement:
    isolated = messages(STRATEGIES["expert"])
    ranks = EXPERT_ISOLATED.degree
    routed = 4 * L * sent(Collective.ALL_TO_ALL, B * m * E_a * d, ranks)  # to the experts and back, twice
    return Disagreement(
        "isolated_dispatch", "What a rank sends under isolated expert parallelism", Quantity.MEMORY,
        "III-G and B-C6: every rank has every token, so outputs are added up",
        sympy.Add(*(message.volume for message in isolated)),
        "III-F: two all-to-alls a layer, forward and again backward", routed,
        "Tokens need no dispatch to where they are already; all-to-alls belong to the coupled reading of the 5D row.",
    )  # fmt: skip


PARALLEL_DISAGREEMENTS: dict[str, Disagreement] = {
    entry.id: entry
    for entry in (
        _batch(), _head(), _data_path(), _pipeline_path(), _global_depth("tensor", "tensor and 3D parallelism",
                                                                         "B-C4 and B-C7"),
        _global_depth("5d", "5D parallelism", "B-C8"), _orders(), _vocabulary_3d(), _vocabulary_ends(),
        _tensor_activations(), _states(), _strongest(), _dispatch(),
    )
}  # fmt: skip
