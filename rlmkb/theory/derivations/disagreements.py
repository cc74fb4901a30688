"""Where the paper's statements differ from each other: both readings, and how far apart.

In these modules alone a formula of the paper is written down a second time, to be held against the one that this
project uses. Here are tables III and IV, and `GROUPS`, which has the others too.
"""

import sympy

from rlmkb.notation import Role, Stage, symbol
from rlmkb.theory import building_blocks as blocks
from rlmkb.theory.algorithms import DPO, PPO
from rlmkb.theory.derivations.disagreement import Disagreement
from rlmkb.theory.derivations.disagreements_configurations import CONFIGURATION_DISAGREEMENTS
from rlmkb.theory.derivations.disagreements_parallel import PARALLEL_DISAGREEMENTS
from rlmkb.theory.derivations.disagreements_specifications import SPECIFICATION_DISAGREEMENTS
from rlmkb.theory.formula import Quantity
from rlmkb.theory.functions import Log2, Maximum
from rlmkb.theory.insights import critic_gap
from rlmkb.theory.iteration import BASELINE, TABLE_IV, stage_cost
from rlmkb.theory.transformer import transformer

B, K, S, T, m, P_t, pairs = (symbol(name) for name in ("B", "K", "S", "T", "m", "P_t", "B_pairs"))
POLICY = transformer(Role.POLICY)
L, d, d_ff, h, V = POLICY.L, POLICY.d, POLICY.d_ff, POLICY.h, POLICY.V


def _decode_attention() -> Disagreement:
    weights = 4 * d**2 + 2 * d * d_ff
    step = 2 * L * (weights + (S + blocks.STEP) * d) + 2 * V * d
    return Disagreement(
        "decode_attention", "Attention of one decode step", Quantity.WORK,
        "table III and the closed form of B-A3: $2(S+t)d$", blocks.decode().explicit,
        "the sum in B-A3: $(S+t)d$", sympy.Sum(step, (blocks.STEP, 1, T - 1)),
        "One query row has no upper half to leave out, and the closed form follows from the first only.",
    )  # fmt: skip


def _decode_steps() -> Disagreement:
    return Disagreement(
        "decode_steps", "Number of decode steps", Quantity.WORK,
        "sums in table III, B-A3 and B-B1: $T-1$", blocks.decode().explicit,
        "prose of B-B1: $T$", sympy.Sum(blocks.decode_step().explicit, (blocks.STEP, 1, T)),
        "Prefill's logits give the first token, so $T$ tokens need $T-1$ steps.",
    )  # fmt: skip


def _prefill_logits() -> Disagreement:
    return Disagreement(
        "prefill_logits", "Logits of a prompt", Quantity.WORK,
        "table III: $2Vd$", blocks.prefill().explicit,
        'prose of B-A3, "the forward cost at length S": $2VdS$', blocks.prefill().explicit + 2 * V * d * (S - 1),
        "Sampling needs the logits of the prompt's last token only.",
    )  # fmt: skip


def _sharded_depth() -> Disagreement:
    every = L * (4 * Log2(d / P_t) + Log2(d_ff / P_t) + Log2(m) - Log2(h)) + Log2(d / P_t)
    return Disagreement(
        "sharded_depth", "What tensor parallelism shortens", Quantity.DEPTH,
        "B-C4: two contractions a layer, $P_t^2$", blocks.depth_forward_tp(Role.POLICY).explicit,
        r"table III and B-A4: every $\log d$ becomes $\log(d/P_t)$", every,
        "Only the two products whose summed dimension is sharded sum over less.",
    )  # fmt: skip


def _gradient_batch() -> Disagreement:
    return Disagreement(
        "gradient_batch", "Sequences that a weight gradient sums over", Quantity.DEPTH,
        "the batch of the stage: $BK$ rollouts", blocks.depth_training(Role.POLICY, B * K).explicit,
        "table III with table I's $B$: prompts", blocks.depth_training(Role.POLICY).explicit,
        "Every rollout has a term in the gradient; tables V to VIII use $B$ for sequences.",
    )  # fmt: skip


def _training_depth() -> Disagreement:
    return Disagreement(
        "training_depth", "Depth of the training stage", Quantity.DEPTH,
        "tables III and IV: $D_f + D_b$", blocks.depth_training(Role.POLICY, B * K).explicit,
        'prose of B-B1: "a single backward pass"', blocks.depth_backward(Role.POLICY, B * K).explicit,
        "The backward pass waits for a forward pass of the same stage.",
    )  # fmt: skip


def _head_gradient() -> Disagreement:
    followed = blocks.depth_training(Role.POLICY, B * K).explicit - Log2(d) + Log2(V)
    return Disagreement(
        "head_gradient", "Back through the vocabulary head", Quantity.DEPTH,
        r"table III: $D_b = D_f + \dots$, so $\log d$", blocks.depth_training(Role.POLICY, B * K).explicit,
        r"followed link by link: $\log V$", followed,
        "We keep the printed form; traced programs show the sum over the vocabulary.",
    )  # fmt: skip


def _critic_gap() -> Disagreement:
    forward, back = (part(Role.CRITIC).explicit for part in (blocks.forward, blocks.backward))
    return Disagreement(
        "critic_gap", "What PPO costs beyond GRPO, per token", Quantity.WORK,
        "table IV: $2C_f + C_b$ of the critic", critic_gap(),
        "sections II-E and II-F: $C_f + C_b$", forward + back,
        "The critic runs forward in assessment and again in training.",
    )  # fmt: skip


_ONE_PASS_EACH = (blocks.forward(Role.POLICY), blocks.forward(Role.REFERENCE), blocks.backward(Role.POLICY))
_DPO_ONCE = pairs * m * sympy.Add(*(part.explicit for part in _ONE_PASS_EACH))


def _dpo_forward() -> Disagreement:
    stages = sympy.Add(*(stage_cost(DPO, stage, Quantity.WORK, TABLE_IV).explicit for stage in Stage))
    return Disagreement(
        "dpo_forward", "Forward passes of DPO's policy", Quantity.WORK,
        r"table IV: one in assessment, one inside $C_{\mathrm{tr}}$", stages,
        "sections II-F and B-B2: one", _DPO_ONCE,
        "We follow the table's stages; a program that keeps assessment's activations needs one.",
    )  # fmt: skip


def _dpo_pair() -> Disagreement:
    both = sympy.Add(*(stage_cost(DPO, stage, Quantity.WORK, BASELINE).explicit for stage in Stage))
    one = sympy.Add(*(stage_cost(DPO, stage, Quantity.WORK, TABLE_IV).explicit for stage in Stage))
    return Disagreement(
        "dpo_pair", "Sequences of a preference pair", Quantity.WORK,
        "algorithm 4: two, each with the prompt", both,
        "table IV, II-F and B-B2: one of $S+T$ tokens", one,
        "The loss compares two responses, so both pass through both models; table IV is shown as printed.",
    )  # fmt: skip


def _dpo_depth() -> Disagreement:
    stages = sympy.Add(*(stage_cost(DPO, stage, Quantity.DEPTH, TABLE_IV).explicit for stage in Stage))
    forward = blocks.depth_forward(Role.POLICY).explicit
    longest = Maximum(forward, forward, blocks.depth_backward(Role.POLICY, 2 * pairs).explicit)
    return Disagreement(
        "dpo_depth", "Depth of an iteration of DPO", Quantity.DEPTH,
        "table IV: the stages one after the other", stages,
        "B-B2: the longest of $D_f$, $D_f$ and $D_b$", longest,
        "Log-ratios, loss and backward pass wait for each other.",
    )  # fmt: skip


def _optimiser_state() -> Disagreement:
    ours, other = (
        stage_cost(PPO, Stage.TRAINING, Quantity.MEMORY, reading).explicit for reading in (BASELINE, TABLE_IV)
    )
    return Disagreement(
        "optimiser_state", "Memory of PPO's training stage", Quantity.MEMORY,
        "table IX: $4|M|$ for each trained model", ours,
        "table IV: $|M|$", other,
        r"Gradients and two moments are kept; inside $O(\cdot)$ both are right.",
    )  # fmt: skip


def _softmax() -> Disagreement:
    return Disagreement(
        "softmax", "Scores that the softmax of a layer reads in prefill", Quantity.WORK,
        r"$h$ matrices of $S \times S$", h * S**2,
        "table III: $O(S^2)$, without $h$", S**2,
        "Each head has its own scores; we leave softmax out of the work altogether.",
    )  # fmt: skip


DISAGREEMENTS: dict[str, Disagreement] = {
    entry.id: entry
    for entry in (
        _decode_attention(), _decode_steps(), _prefill_logits(), _softmax(), _sharded_depth(), _gradient_batch(),
        _training_depth(), _head_gradient(), _critic_gap(), _dpo_forward(), _dpo_pair(), _dpo_depth(),
        _optimiser_state(),
    )
}  # fmt: skip

GROUPS: dict[str, dict[str, Disagreement]] = {
    "Tables III and IV": DISAGREEMENTS,
    "Tables V to VIII": PARALLEL_DISAGREEMENTS,
    "Table IX": CONFIGURATION_DISAGREEMENTS,
    "Algorithms 1 to 4": SPECIFICATION_DISAGREEMENTS,
}
EVERY: dict[str, Disagreement] = {id: entry for group in GROUPS.values() for id, entry in group.items()}
