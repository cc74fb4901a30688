"""Appendix B-A5: parameters, what training keeps beside them, activations and the cache."""

import sympy

from rlmkb.notation import Role, symbol
from rlmkb.theory import building_blocks as blocks
from rlmkb.theory.derivations.steps import Derivation, Relation, Step
from rlmkb.theory.derivations.work import per_weight
from rlmkb.theory.models import facts
from rlmkb.theory.transformer import Head, transformer

m = symbol("m")
POLICY = transformer(Role.POLICY)
L, d, d_ff, h = POLICY.L, POLICY.d, POLICY.d_ff, POLICY.h


def parameters(role: Role) -> Derivation:
    """Parameters of a model: its matrices, one vocabulary matrix, and a vector for each scalar head."""
    model, formula = transformer(role), blocks.parameter_count(role)
    scalar = [head for head in model.heads if head is not Head.VOCABULARY]
    vector = " and a vector for the scalar head" if scalar else ""
    name = {Role.ACTOR_CRITIC: "shared actor-critic", Role.REWARD: "reward model"}.get(role, role.value)
    return Derivation(
        "parameters" if role is Role.POLICY else f"parameters_{role.value}", f"Parameters of the {name}",
        formula.left, "Appendix B-A5",
        (
            Step(f"Six matrices a layer, one vocabulary matrix{vector}.",
                 model.L * per_weight(model, 1) + model.V * model.d + len(scalar) * model.d),
            Step("As the table prints it.", formula.expr),
        ),
        formula.explicit,
    )  # fmt: skip


def _training_state() -> Derivation:
    count = blocks.parameter_count(Role.POLICY)
    return Derivation(
        "training_state", "Numbers kept per trained model", r"M_{\mathrm{state}}(\pi_\theta)", "Appendix B-A5",
        (
            Step("Weights, gradients, and Adam's first and second moments.",
                 sympy.Add(*[count.handle] * 4, evaluate=False)),
            Step("Four numbers per parameter.", 4 * count.handle),
        ),
        facts("policy").states_per_parameter * count.explicit,
        (count,),
    )  # fmt: skip


def _activations() -> Derivation:
    operands = {"query, key, value": d, "scores": 2 * d, "values": d, "output": d, "up": d, "down": d_ff}
    return Derivation(
        "activations", "Activations kept per token", blocks.activation_memory(Role.POLICY).left, "Appendix B-A5",
        (
            Step("The backward pass needs the operands of a layer's products; scores are recomputed.",
                 L * sympy.Add(*operands.values(), evaluate=False)),
            Step("Add up.", L * (6 * d + d_ff)),
            Step("One hidden state per layer is counted; the rest goes into the constant of $\\Theta(Ld)$.",
                 L * d, Relation.APPROXIMATE),
        ),
        blocks.activation_memory(Role.POLICY).explicit,
    )  # fmt: skip


def _inference_buffer() -> Derivation:
    return Derivation(
        "inference_buffer", "Buffer of a forward-only pass, per token",
        blocks.inference_memory(Role.POLICY).left, "Appendix B-A5",
        (
            Step("Layers reuse one buffer: the residual stream and the widest intermediate.", d + d_ff),
            Step("The hidden state is counted; the rest goes into the constant of $\\Theta(d)$.",
                 d, Relation.APPROXIMATE),
        ),
        blocks.inference_memory(Role.POLICY).explicit,
    )  # fmt: skip


def _cache() -> Derivation:
    return Derivation(
        "kv_cache", "Cache of one rollout", blocks.cache_memory().left, "Appendix B-A5",
        (
            Step("Per token, layer and head: a key and a value of $d/h$ numbers each.",
                 m * L * h * sympy.Add(d / h, d / h, evaluate=False)),
            Step("The heads of multi-head attention add up to $d$.", 2 * m * L * d),
        ),
        blocks.cache_memory().explicit,
    )  # fmt: skip


DERIVATIONS = (
    parameters(Role.POLICY),
    parameters(Role.REWARD),
    parameters(Role.CRITIC),
    parameters(Role.ACTOR_CRITIC),
    _training_state(),
    _activations(),
    _inference_buffer(),
    _cache(),
)
