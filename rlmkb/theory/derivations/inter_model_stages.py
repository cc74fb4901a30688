"""Appendix B-D1: work, depth and memory of the three stages of PPO, which the rest of B-D is put together from."""

from collections.abc import Iterable
from dataclasses import replace

import sympy

from rlmkb.notation import Role, Stage, symbol
from rlmkb.theory import building_blocks as blocks
from rlmkb.theory.algorithms import PPO
from rlmkb.theory.derivations.steps import Derivation, Step
from rlmkb.theory.formula import Formula, Quantity
from rlmkb.theory.functions import Log2, Maximum
from rlmkb.theory.iteration import BASELINE, DISAGGREGATED, stage_cost
from rlmkb.theory.residency import reshard_buffer, shadow_copy
from rlmkb.theory.table_nine import cells
from rlmkb.theory.transformer import transformer

B, K, m, S, T = (symbol(name) for name in ("B", "K", "m", "S", "T"))
ROLLOUTS = B * K
TOKENS = ROLLOUTS * m
WORK, DEPTH, MEMORY = Quantity
GENERATION, ASSESSMENT, TRAINING = Stage
PI, REF, R, V, AC = Role.POLICY, Role.REFERENCE, Role.REWARD, Role.CRITIC, Role.ACTOR_CRITIC
SCORED, TRAINED, EVERY = (REF, R, V), (PI, V), (PI, REF, R, V, AC)
LETTERS = {WORK: "W", DEPTH: "D", MEMORY: "M"}

SECTIONS = {
    "stages": "Appendix B-D1", "baseline": "Appendix B-D2", "ac_shared": "Appendix B-D3",
    "disaggregated": "Appendix B-D4", "hybrid": "Appendix B-D5", "stage_fusion": "Appendix B-D6",
    "async": "Appendix B-D7", "combined": "Appendix B-D8",
}  # fmt: skip

C = {role: blocks.forward(role) for role in EVERY}
C_TR = {role: blocks.training(role) for role in EVERY}
D = {role: blocks.depth_forward(role) for role in EVERY}
D_TP = {role: blocks.depth_forward_tp(role) for role in EVERY}
D_TR = {role: blocks.depth_training(role, ROLLOUTS) for role in EVERY}
SIZE = {role: blocks.parameter_count(role) for role in EVERY}
KEPT = {role: blocks.activation_memory(role) for role in EVERY}
BUFFER = {role: blocks.inference_memory(role) for role in EVERY}
C_GEN, D_GEN, D_GEN_TP, CACHE = (
    blocks.generation(), blocks.depth_generation(), blocks.depth_generation_tp(), blocks.cache_memory(),
)  # fmt: skip
SHADOW, RESHARD = shadow_copy(), reshard_buffer()
GEN = C_GEN.handle


def _h(formulas: Iterable[Formula]) -> tuple[sympy.Symbol, ...]:
    return tuple(formula.handle for formula in formulas)


def total(table: dict[Role, Formula], roles: Iterable[Role]) -> sympy.Expr:
    """Models one after the other, or together on a group.

    Examples
    --------
    >>> len(total(D, SCORED).args)
    3
    """
    return sympy.Add(*_h(table[role] for role in roles))


def largest(table: dict[Role, Formula], roles: Iterable[Role]) -> sympy.Expr:
    """Models side by side.

    Examples
    --------
    >>> largest(D, (PI,)) == D[PI].handle
    True
    """
    return Maximum(*_h(table[role] for role in roles))


def _primitive(name: str, stage: Stage, quantity: Quantity, mark: str = "", reading=BASELINE) -> Formula:
    """A term of B-D1, to stand in later lines as one letter."""
    cost = stage_cost(PPO, stage, quantity, reading)
    over = rf"^{{{mark}}}" if mark else ""
    place = list(Stage).index(stage)  # sympy orders by name
    return replace(cost, name=f"{name}.{place}{mark}", left=rf"{LETTERS[quantity]}_{{{stage.value[0].upper()}}}{over}")


W_G, W_A, W_T = (_primitive("W", stage, WORK) for stage in Stage)
D_G, D_A, D_T = (_primitive("D", stage, DEPTH, "" if stage is GENERATION else r"\Sigma") for stage in Stage)
D_A_MAX, D_T_MAX = (_primitive("D", stage, DEPTH, r"\max", DISAGGREGATED) for stage in (ASSESSMENT, TRAINING))
M_G, M_A, M_T = (_primitive("M", stage, MEMORY, "" if stage is GENERATION else r"\Sigma") for stage in Stage)
M_A_MAX, M_T_MAX = (_primitive("M", stage, MEMORY, r"\max", DISAGGREGATED) for stage in (ASSESSMENT, TRAINING))

WHERE = tuple(dict.fromkeys((
    W_G, W_A, W_T, D_G, D_A, D_T, D_A_MAX, D_T_MAX, M_G, M_A, M_T, M_A_MAX, M_T_MAX,
    C_GEN, blocks.prefill(), blocks.decode(), blocks.generation(AC), D_GEN, D_GEN_TP, blocks.depth_generation(AC),
    CACHE, blocks.cache_memory(AC), SHADOW, RESHARD,
    *(table[role] for table in (C, C_TR, D, D_TP, D_TR, SIZE, KEPT, BUFFER) for role in EVERY),
    *(blocks.backward(role) for role in EVERY), *(blocks.depth_backward(role, ROLLOUTS) for role in EVERY),
)))  # fmt: skip

CELLS = {(cell.row, cell.stage, cell.printed.quantity): cell for cell in cells()}


def cell(row: str, stage: str, quantity: Quantity) -> sympy.Expr:
    """A cell of table IX as it is printed, in handles of table III.

    Examples
    --------
    >>> cell("baseline", "generation", Quantity.DEPTH) == blocks.depth_generation().handle
    True
    """
    return CELLS[row, stage, quantity].printed.expr


def derivation(row: str, name: str, title: str, left: str, steps: Iterable[Step], result: sympy.Expr) -> Derivation:
    """A derivation of a section of appendix B-D, in all the names above.

    Examples
    --------
    >>> derivation("stages", "x", "A pass", "x", [Step("One.", D[PI].handle)], D[PI].handle).holds
    True
    """
    return Derivation(name, title, left, SECTIONS[row], tuple(steps), result, WHERE)


def _generation() -> tuple[Derivation, ...]:
    first = blocks.depth_forward(PI, S).expr
    later = sympy.Sum(blocks.depth_forward(PI, S + blocks.STEP).expr, (blocks.STEP, 1, T - 1))
    policy = transformer(PI)
    return (
        derivation("stages", "generation_work", "Work of generation", "W_G", (
            Step("Each of $BK$ rollouts is a prefill and $T-1$ decode steps.",
                 ROLLOUTS * (blocks.prefill().handle + blocks.decode().handle)),
            Step("Together they are one rollout's generation.", ROLLOUTS * GEN),
        ), cell("baseline", "generation", WORK)),
        derivation("stages", "generation_depth", "Depth of generation", "D_G", (
            Step("A pass over the prompt, then one for each further token; rollouts do not wait for each other.",
                 first + later),
            Step("That is one rollout's depth.", D_GEN.handle),
        ), cell("baseline", "generation", DEPTH)),
        derivation("stages", "generation_memory", "Memory of generation", "M_G", (
            Step("The actor, and keys and values of all tokens in all layers.",
                 SIZE[PI].handle + ROLLOUTS * 2 * m * policy.L * policy.d),
            Step("The cache of a rollout, $BK$ times.", SIZE[PI].handle + ROLLOUTS * CACHE.handle),
        ), cell("baseline", "generation", MEMORY)),
        derivation("stages", "recomputed_work", "Work of assessment, old log-probabilities recomputed",
                    r"W_A'", (
            Step("One pass of the actor over all tokens comes to the three of assessment.",
                 W_A.handle + TOKENS * C[PI].handle),
            Step("Collect.", TOKENS * (C[PI].handle + total(C, SCORED))),
        ), stage_cost(PPO.with_recomputed_log_probs(), ASSESSMENT, WORK, BASELINE).expr),
    )  # fmt: skip


def _assessment() -> tuple[Derivation, ...]:
    weights = total(SIZE, SCORED)
    return (
        derivation("stages", "assessment_work", "Work of assessment", "W_A", (
            Step("Three forward passes over $BK(S+T)$ tokens.",
                 sympy.Add(*(TOKENS * C[role].handle for role in SCORED))),
            Step("Collect.", TOKENS * total(C, SCORED)),
        ), cell("baseline", "assessment", WORK)),
        derivation("stages", "assessment_depth_sum", "Depth of assessment, one group", r"D_A^{\Sigma}", (
            Step("On one group of devices the models run one after the other.", total(D, SCORED)),
        ), cell("baseline", "assessment", DEPTH)),
        derivation("stages", "assessment_depth_max", "Depth of assessment, a group for each model",
                    r"D_A^{\max}", (
            Step("No score needs another score, so the longest pass counts.", largest(D, SCORED)),
        ), cell("disaggregated", "assessment", DEPTH)),
        derivation("stages", "assessment_memory", "Memory of assessment, one group", r"M_A^{\Sigma}", (
            Step("All three models lie together; each pass would need its buffer, and they take turns.",
                 weights + Maximum(*(TOKENS * BUFFER[role].handle for role in SCORED))),
            Step("One buffer, of the widest model.", weights + TOKENS * largest(BUFFER, SCORED)),
        ), cell("baseline", "assessment", MEMORY)),
    )  # fmt: skip


def _training() -> tuple[Derivation, ...]:
    backward = {role: blocks.backward(role) for role in TRAINED}
    depth_back = {role: blocks.depth_backward(role, ROLLOUTS) for role in TRAINED}
    state = {role: 4 * SIZE[role].handle + TOKENS * KEPT[role].handle for role in TRAINED}
    gradient_sum = {role: 2 * D[role].handle + Log2(TOKENS) for role in TRAINED}
    return (
        derivation("stages", "training_work", "Work of training", "W_T", (
            Step("A forward and a backward pass of both trained models.",
                 TOKENS * (total(C, TRAINED) + total(backward, TRAINED))),
            Step("Backward is twice forward.", 3 * TOKENS * total(C, TRAINED)),
            Step("Named as table III does.", TOKENS * total(C_TR, TRAINED)),
        ), cell("baseline", "training", WORK)),
        derivation("stages", "training_depth_sum", "Depth of training, one group", r"D_T^{\Sigma}", (
            Step("Forward, then backward, of one model and then of the other.",
                 total(D, TRAINED) + total(depth_back, TRAINED)),
            Step("Named as table III does.", total(D_TR, TRAINED)),
        ), cell("baseline", "training", DEPTH)),
        derivation("stages", "training_depth_max", "Depth of training, a group for each model", r"D_T^{\max}", (
            Step("Neither update reads the other; each is two passes and the gradient's sum over all tokens.",
                 Maximum(*gradient_sum.values())),
            Step("Named as table III does.", largest(D_TR, TRAINED)),
        ), cell("disaggregated", "training", DEPTH)),
        derivation("stages", "training_memory_sum", "Memory of training, one group", r"M_T^{\Sigma}", (
            Step("Weight, gradient and two moments of each parameter, and the activations, of both models.",
                 sympy.Add(*state.values())),
            Step("Collect.", 4 * total(SIZE, TRAINED) + TOKENS * total(KEPT, TRAINED)),
        ), cell("baseline", "training", MEMORY)),
        derivation("stages", "training_memory_max", "Memory of training, a group for each model", r"M_T^{\max}", (
            Step("The same two, apart: the fuller group counts.", Maximum(*state.values())),
        ), cell("disaggregated", "training", MEMORY)),
    )  # fmt: skip


DERIVATIONS: tuple[Derivation, ...] = (*_generation(), *_assessment(), *_training())
