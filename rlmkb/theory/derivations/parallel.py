"""Appendix B-C: what each strategy does to the work, depth and memory of one training step.

Every derivation starts from what a rank holds, written out by hand, and ends at the form that
`rlmkb.theory.partition` makes from the strategy's axes.
"""

import sympy

from rlmkb.notation import symbol
from rlmkb.theory.derivations.steps import Derivation, Relation, Step
from rlmkb.theory.functions import Log2
from rlmkb.theory.partition import STRATEGIES

B, m, L, d, d_ff, h, V = (symbol(name) for name in ("B", "m", "L", "d", "d_ff", "h", "V"))
E, E_a, d_e = (symbol(name) for name in ("E", "E_a", "d_e"))
P_d, P_p, P_t, P_c, P_e = (symbol(name) for name in ("P_d", "P_p", "P_t", "P_c", "P_e"))

TITLES = {
    "none": "without parallelism", "data": "data parallelism", "pipeline": "pipeline parallelism",
    "tensor": "tensor parallelism", "context": "context parallelism", "expert": "isolated expert parallelism",
    "3d": "3D parallelism", "5d": "5D parallelism",
}  # fmt: skip
SECTIONS = {row: f"Appendix B-C{number}" for number, row in enumerate(TITLES, start=1)}
LETTERS = {"work": "W", "depth": "D", "memory": "M"}

WEIGHTS = 4 * d**2 + 2 * d * d_ff  # of one layer
CORE = WEIGHTS + m * d
MOE = 4 * d**2 + 2 * E_a * d * d_e + m * d
STATE = L * (16 * d**2 + 8 * d * d_ff)
SHARED_STATE, EXPERT_STATE = 16 * L * d**2, 8 * L * E * d * d_e
VOCABULARY = 4 * V * d
KEPT = B * m * L * d
CHAIN = Log2(d**4 * d_ff * m / h)
MOE_CHAIN = Log2(d**4 * d_e * m / h)
LINKS = 4 * Log2(d) + Log2(d_ff) + Log2(m) - Log2(h)

# what several strategies share
ADDED_UP = "All ranks together."
COLLECT = "Collect."
REPLICAS = "Every rank has all weights, gradients and moments; activations belong to its own tokens."


def _derivation(row: str, quantity: str, scope: str, *steps: Step) -> Derivation:
    """A derivation that ends at what the partition gives for a rank (``rank``) or for all (``global``)."""
    where = "one rank" if scope == "rank" else "all ranks"
    made = getattr(STRATEGIES[row], f"{scope}_{quantity}").total
    kind = f"{quantity} of {where}" if row != "none" else f"{quantity} of one training step"
    return Derivation(
        f"{row}_{quantity}_{scope}", f"{kind.capitalize()}, {TITLES[row]}",
        rf"{LETTERS[quantity]}^{{\mathrm{{{scope}}}}}_{{\mathrm{{{row}}}}}", SECTIONS[row], steps, made,
    )  # fmt: skip


def _baseline() -> tuple[Derivation, ...]:
    forward = L * (2 * 4 * d**2 + 2 * 2 * d * d_ff + 2 * m * d)
    six = Log2(d) + Log2(d / h) + Log2(m) + Log2(d) + Log2(d) + Log2(d_ff)
    return (
        _derivation(
            "none", "work", "rank",
            Step("Each of $Bm$ tokens passes the layers and the head once forward, and twice that backward.",
                 B * m * 3 * (forward + 2 * V * d)),
            Step("The head is left out, as small.", B * m * 3 * forward, Relation.APPROXIMATE),
            Step("Collect what a layer holds.", 6 * B * m * L * CORE),
        ),
        _derivation(
            "none", "depth", "rank",
            Step("Six contractions a layer and the head's, forward and backward; then each weight's gradient is summed"
                 " over all tokens.", 2 * (L * six + Log2(d)) + Log2(B * m)),
            Step("The head is left out.", 2 * L * six + Log2(B * m), Relation.APPROXIMATE),
            Step("Collect the logarithms of a layer.", 2 * L * LINKS + Log2(B * m)),
            Step("One logarithm, as the table prints it.", 2 * L * CHAIN + Log2(B * m)),
        ),
        _derivation(
            "none", "memory", "rank",
            Step("Weight, gradient and two moments of every parameter; one hidden state per layer and token.",
                 4 * (L * WEIGHTS + V * d) + KEPT),
            Step(COLLECT, STATE + VOCABULARY + KEPT),
        ),
    )  # fmt: skip


def _replicating(row: str, degree: sympy.Expr, share: sympy.Expr, reason: str) -> tuple[Derivation, ...]:
    """Data and context parallelism: `share` of the tokens on each rank, all state on every rank."""
    local = STATE + VOCABULARY + share * L * d
    return (
        _derivation(
            row, "work", "rank",
            Step(reason, 6 * share * L * CORE),
            Step("The whole, divided.", 6 * B * m * L * CORE / degree),
        ),
        _derivation(
            row, "work", "global",
            Step(ADDED_UP, degree * 6 * share * L * CORE),
            Step("No product is computed twice.", 6 * B * m * L * CORE),
        ),
        _derivation(
            row, "depth", "rank",
            Step("The chain of layers stays; a gradient is summed over the rank's own tokens.",
                 2 * L * LINKS + Log2(share)),
            Step("As the table prints it.", 2 * L * CHAIN + Log2(B * m / degree)),
        ),
        _derivation(
            row, "depth", "global",
            Step("The all-reduce goes on where the ranks stopped: a tree over their partial sums.",
                 2 * L * CHAIN + Log2(share) + Log2(degree)),
            Step("Both sums together reach every token, as without parallelism.", 2 * L * CHAIN + Log2(B * m)),
        ),
        _derivation(
            row, "memory", "rank",
            Step(REPLICAS, 4 * (L * WEIGHTS + V * d) + share * L * d),
            Step(COLLECT, STATE + VOCABULARY + KEPT / degree),
        ),
        _derivation(
            row, "memory", "global",
            Step(ADDED_UP, degree * local),
            Step("State is replicated, activations are not.", degree * (STATE + VOCABULARY) + KEPT),
        ),
    )  # fmt: skip


def _pipeline() -> tuple[Derivation, ...]:
    own = L / P_p
    return (
        _derivation(
            "pipeline", "work", "rank",
            Step("All tokens pass the rank's $L/P_p$ layers.", 6 * B * m * own * CORE),
            Step("The whole, divided.", 6 * B * m * L * CORE / P_p),
        ),
        _derivation(
            "pipeline", "depth", "rank",
            Step("The chain of the rank's own layers; gradients still sum over all tokens.",
                 2 * own * LINKS + Log2(B * m)),
            Step("As the table prints it.", 2 * own * CHAIN + Log2(B * m)),
        ),
        _derivation(
            "pipeline", "depth", "global",
            Step("A micro-batch passes all stages one after the other; the stages sum their gradients side by side.",
                 P_p * (2 * own * LINKS) + Log2(B * m)),
            Step("All $L$ layers are on the path: the depth is that of one rank without parallelism.",
                 2 * L * CHAIN + Log2(B * m)),
        ),
        _derivation(
            "pipeline", "memory", "rank",
            Step("State and activations of the own layers; a boundary rank holds the vocabulary matrix whole.",
                 4 * (own * WEIGHTS + V * d) + B * m * own * d),
            Step(COLLECT, STATE / P_p + VOCABULARY + KEPT / P_p),
        ),
        _derivation(
            "pipeline", "memory", "global",
            Step("All ranks together; the vocabulary matrix sits on one of them.",
                 P_p * (own * 4 * WEIGHTS + B * m * own * d) + VOCABULARY),
            Step("Nothing is replicated.", STATE + VOCABULARY + KEPT),
        ),
    )  # fmt: skip


def _tensor() -> tuple[Derivation, ...]:
    # query, key and value by columns, output by rows; up by columns, down by rows; whole heads
    shards = 3 * d * (d / P_t) + (d / P_t) * d + d * (d_ff / P_t) + (d_ff / P_t) * d
    six = Log2(d) + Log2(d / h) + Log2(m) + Log2(d / P_t) + Log2(d) + Log2(d_ff / P_t)
    sharded = Log2(d**4 * d_ff * m / (P_t**2 * h))
    return (
        _derivation(
            "tensor", "work", "rank",
            Step("A matrix is cut by columns or by rows, never both; a rank attends with its own $h/P_t$ heads.",
                 6 * B * m * L * (shards + (h / P_t) * (d / h) * m)),
            Step("So $d^2$ loses one factor $P_t$, not two.", 6 * B * m * L * CORE / P_t),
        ),
        _derivation(
            "tensor", "depth", "rank",
            Step("Only output and down projection sum over a cut dimension.", 2 * L * six + Log2(B * m)),
            Step("Two contractions of six lose $\\log P_t$.", 2 * L * (LINKS - 2 * Log2(P_t)) + Log2(B * m)),
            Step("As the table prints it.", 2 * L * sharded + Log2(B * m)),
        ),
        _derivation(
            "tensor", "depth", "global",
            Step("The ranks work side by side, so the path is as long as on one of them.",
                 2 * L * (LINKS - 2 * Log2(P_t)) + Log2(B * m)),
            Step("As appendix B-C4 prints it.", 2 * L * sharded + Log2(B * m)),
        ),
        Derivation(
            "tensor_depth_reduced", "Depth of all ranks, tensor parallelism, with the sums between ranks",
            r"D^{\mathrm{global}}_{\mathrm{tensor}}", "Tables VI and VIII",
            (
                Step("The path of one rank; and two all-reduces a layer, forward and again backward, each of which adds"
                     " $P_t$ partial sums as a tree.", 2 * L * sharded + Log2(B * m) + 2 * L * 2 * Log2(P_t)),
                Step("What the shards saved is spent between the ranks.", 2 * L * CHAIN + Log2(B * m)),
            ),
            STRATEGIES["none"].rank_depth.total,
        ),
        _derivation(
            "tensor", "memory", "rank",
            Step("The shards with their state, the rank's rows of the vocabulary, and its part of each hidden state.",
                 4 * (L * shards + (V / P_t) * d) + B * m * L * (d / P_t)),
            Step("Everything is divided.", (STATE + VOCABULARY + KEPT) / P_t),
        ),
        _derivation(
            "tensor", "memory", "global",
            Step(ADDED_UP, P_t * (4 * (L * shards + (V / P_t) * d) + B * m * L * (d / P_t))),
            Step("Nothing is replicated.", STATE + VOCABULARY + KEPT),
        ),
    )  # fmt: skip


def _expert() -> tuple[Derivation, ...]:
    routed = B * m * E_a / P_e
    shared = 4 * d**2 + m * d
    return (
        _derivation(
            "expert", "work", "rank",
            Step("Every rank runs attention on all tokens; of $Bm E_a$ routed tokens one in $P_e$ is for its experts.",
                 6 * B * m * L * shared + 6 * routed * L * 2 * d * d_e),
            Step(COLLECT, 6 * B * m * L * (4 * d**2 + 2 * E_a * d * d_e / P_e + m * d)),
        ),
        _derivation(
            "expert", "work", "global",
            Step(ADDED_UP, P_e * (6 * B * m * L * shared + 6 * routed * L * 2 * d * d_e)),
            Step("The shared path is computed $P_e$ times.",
                 6 * B * m * L * (P_e * shared + 2 * E_a * d * d_e)),
        ),
        _derivation(
            "expert", "depth", "rank",
            Step("An expert stands where the feed-forward network stood: its width replaces $d_{ff}$.",
                 2 * L * (4 * Log2(d) + Log2(d_e) + Log2(m) - Log2(h)) + Log2(B * m)),
            Step("As the table prints it.", 2 * L * MOE_CHAIN + Log2(B * m)),
        ),
        _derivation(
            "expert", "memory", "rank",
            Step("Of each layer the attention and $E/P_e$ experts; the vocabulary and all activations.",
                 4 * (L * (4 * d**2 + (E / P_e) * 2 * d * d_e) + V * d) + KEPT),
            Step(COLLECT, L * (16 * d**2 + 8 * E * d * d_e / P_e) + VOCABULARY + KEPT),
        ),
        _derivation(
            "expert", "memory", "global",
            Step(ADDED_UP, P_e * (4 * (L * (4 * d**2 + (E / P_e) * 2 * d * d_e) + V * d) + KEPT)),
            Step("Only the experts are not replicated.",
                 P_e * (SHARED_STATE + VOCABULARY + KEPT) + EXPERT_STATE),
        ),
    )  # fmt: skip


def _three() -> tuple[Derivation, ...]:
    tokens, own, ranks = B * m / P_d, L / P_p, P_d * P_p * P_t
    sharded = LINKS - 2 * Log2(P_t)
    printed = Log2(d**4 * d_ff * m / (P_t**2 * h))
    layers, kept = own * 4 * WEIGHTS / P_t, tokens * own * d / P_t
    return (
        _derivation(
            "3d", "work", "rank",
            Step("The replica's tokens, the stage's layers, the shard's columns.", 6 * tokens * own * CORE / P_t),
            Step("The whole, divided by all three.", 6 * B * m * L * CORE / ranks),
        ),
        _derivation(
            "3d", "depth", "rank",
            Step("The stage's layers with two shortened contractions; gradients over the replica's tokens.",
                 2 * own * sharded + Log2(tokens)),
            Step("As the table prints it.", 2 * own * printed + Log2(B * m / P_d)),
        ),
        _derivation(
            "3d", "depth", "global",
            Step("All stages in a row, and the gradient's sum goes on over the replicas.",
                 P_p * 2 * own * sharded + Log2(tokens) + Log2(P_d)),
            Step("As appendix B-C7 prints it.", 2 * L * printed + Log2(B * m)),
        ),
        _derivation(
            "3d", "memory", "rank",
            Step("A shard of the stage's layers, a shard of the vocabulary on a boundary rank, activations.",
                 layers + 4 * (V / P_t) * d + kept),
            Step("As table VII prints it.", STATE / (P_p * P_t) + VOCABULARY / P_t + KEPT / ranks),
        ),
        _derivation(
            "3d", "memory", "global",
            Step("All ranks together; the vocabulary on one stage of each replica.",
                 ranks * (layers + kept) + P_d * P_t * 4 * (V / P_t) * d),
            Step("Each replica has its own state.", P_d * (STATE + VOCABULARY) + KEPT),
        ),
    )  # fmt: skip


def _five() -> tuple[Derivation, ...]:
    ranks = P_d * P_p * P_t * P_c * P_e
    own, tokens = L / P_p, B * m / (P_d * P_c * P_e)  # source tokens of one rank
    arriving = P_e * tokens * (E_a / P_e)  # of P_e ranks' tokens, one in P_e is for the experts here
    shared = 4 * d**2 + m * d
    links = 4 * Log2(d) + Log2(d_e) + Log2(m) - Log2(h) - 2 * Log2(P_t)
    printed = Log2(d**4 * d_e * m / (P_t**2 * h))
    layers, experts = own * 16 * d**2 / P_t, own * (E / P_e) * 8 * d * d_e / P_t
    kept = tokens * own * d / P_t
    return (
        _derivation(
            "5d", "work", "rank",
            Step("The shared path runs on the rank's own tokens; its experts on those that $P_e$ ranks send.",
                 6 * own * (tokens * shared / P_t + arriving * 2 * d * d_e / P_t)),
            Step("Both are divided by all five degrees.", 6 * B * m * L * MOE / ranks),
        ),
        _derivation(
            "5d", "work", "global",
            Step(ADDED_UP, ranks * 6 * own * (tokens * shared + arriving * 2 * d * d_e) / P_t),
            Step("Nothing is computed twice: each token has one home.", 6 * B * m * L * MOE),
        ),
        _derivation(
            "5d", "depth", "rank",
            Step("The stage's layers with two shortened contractions; gradients over the rank's own tokens.",
                 2 * own * links + Log2(tokens)),
            Step("As the table prints it.", 2 * own * printed + Log2(B * m / (P_d * P_e * P_c))),
        ),
        _derivation(
            "5d", "depth", "global",
            Step("All stages in a row, and the gradient's sum goes on over all homes of tokens.",
                 P_p * 2 * own * links + Log2(tokens) + Log2(P_d * P_c * P_e)),
            Step("As appendix B-C8 prints it.", 2 * L * printed + Log2(B * m)),
        ),
        _derivation(
            "5d", "memory", "rank",
            Step("Shards of attention, of $E/P_e$ experts and of the vocabulary; activations of the own tokens.",
                 layers + experts + 4 * (V / P_t) * d + kept),
            Step("As table VII prints it.", SHARED_STATE / (P_p * P_t) + EXPERT_STATE / (P_p * P_t * P_e)
                 + VOCABULARY / P_t + KEPT / ranks),
        ),
        _derivation(
            "5d", "memory", "global",
            Step("All ranks together; the vocabulary on one stage each.",
                 ranks * (layers + experts + kept) + P_d * P_t * P_c * P_e * 4 * (V / P_t) * d),
            Step("Shared state is replicated $P_d P_c P_e$ times, experts $P_d P_c$ times.",
                 P_d * P_c * P_e * (SHARED_STATE + VOCABULARY) + P_d * P_c * EXPERT_STATE + KEPT),
        ),
    )  # fmt: skip


DERIVATIONS: tuple[Derivation, ...] = (
    *_baseline(),
    *_replicating("data", P_d, B / P_d * m, "Each rank has $B/P_d$ sequences."),
    *_pipeline(),
    *_tensor(),
    *_replicating("context", P_c, B * (m / P_c), "Each rank has $m/P_c$ positions of every sequence, whose queries"
                  " attend over all keys; the causal half is dealt out evenly."),
    *_expert(),
    *_three(),
    *_five(),
)  # fmt: skip
