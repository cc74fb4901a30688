"""Appendix B-A4: depth, from the chain of contractions that wait for each other."""

import sympy

from rlmkb.notation import Role, symbol
from rlmkb.theory import building_blocks as blocks
from rlmkb.theory.derivations.steps import Derivation, Relation, Step
from rlmkb.theory.functions import Log2, Maximum, close_sums
from rlmkb.theory.transformer import Transformer, layer_chain, transformer

S, T, m, B, P_t = (symbol(name) for name in ("S", "T", "m", "B", "P_t"))
POLICY = transformer(Role.POLICY)
L, d, d_ff, h, V = POLICY.L, POLICY.d, POLICY.d_ff, POLICY.h, POLICY.V


def forward(role: Role) -> Derivation:
    """Depth of a forward pass: six contractions a layer, one for the head."""
    model, formula = transformer(role), blocks.depth_forward(role)
    chain = sympy.Add(*(Log2(link.length / link.divisor) for link in layer_chain(model, m)))
    name = {Role.POLICY: "policy", Role.REWARD: "reward model", Role.CRITIC: "critic"}[role]
    return Derivation(
        "depth" if role is Role.POLICY else f"depth_{role.value}", f"Depth of a forward pass of the {name}",
        formula.left, "Appendices B-A4 and B-C1",
        (
            Step("Six contractions wait for each other in a layer; every head adds one over $d$.",
                 model.L * chain + Log2(model.d)),
            Step("Split the logarithm of $d/h$ and collect.", formula.expr),
        ),
        formula.explicit,
    )  # fmt: skip


def _tensor_parallel() -> Derivation:
    chain = sympy.Add(*(Log2(link.length / link.divisor) for link in layer_chain(POLICY, m, P_t)[:1]))
    sharded = Log2(d / P_t) + Log2(d_ff / P_t)
    formula = blocks.depth_forward_tp(Role.POLICY)
    return Derivation(
        "depth_tp", "Depth of a forward pass under tensor parallelism", formula.left, "Appendices B-A4 and B-C4",
        (
            Step("Each rank sums its share where the summed dimension is sharded: attention output, down, head.",
                 L * (chain + Log2(d / h) + Log2(m) + Log2(d) + sharded) + Log2(d / P_t)),
            Step("Two of a layer's six contractions shrink, and the head.",
                 blocks.depth_forward(Role.POLICY).explicit - (2 * L + 1) * Log2(P_t)),
            Step("Collect.", formula.expr),
        ),
        formula.explicit,
    )  # fmt: skip


def backward_lengths(model: Transformer) -> dict[str, sympy.Expr]:
    """What the gradient of each contraction's input sums over, from the layer's end to its start.

    The gradient of X in Y = X W sums over the columns of W, so the lengths are those of the forward pass in
    another order.

    Examples
    --------
    >>> list(backward_lengths(POLICY).values())
    [d_pi, d_ff_pi, d_pi, d_pi/h_pi, m, d_pi]
    """
    return {
        "down": model.d, "up": model.d_ff, "output": model.d, "values": model.d / model.h, "scores": m,
        "query, key, value": model.d,
    }  # fmt: skip


def _backward() -> Derivation:
    chain = sympy.Add(*(Log2(length) for length in backward_lengths(POLICY).values()))
    layers = L * (4 * Log2(d) + Log2(d_ff) + Log2(m) - Log2(h))
    end = Maximum(Log2(d), Log2(B * m)) - Log2(d)
    formula = blocks.depth_backward(Role.POLICY)
    return Derivation(
        "depth_backward", "Depth of a backward pass of the policy", formula.left, "Appendix B-A4",
        (
            Step("Back through the head (a sum over $V$), then six contractions a layer; the chain ends in the first"
                 " layer, in the gradient of its input (over $d$) or of its weights (over all tokens).",
                 Log2(V) + L * chain + end),
            Step("A layer's six lengths are those of the forward pass, in another order.", Log2(V) + layers + end),
            Step("The head is counted as in the forward pass: $d$, not $V$.", Log2(d) + layers + end,
                 Relation.APPROXIMATE),
            Step("The sum over all tokens is counted after the chain, not beside its last link.",
                 formula.expr, Relation.APPROXIMATE),
        ),
        formula.explicit,
        formula.where,
    )  # fmt: skip


def _training() -> Derivation:
    formula, one = blocks.depth_training(Role.POLICY), blocks.depth_forward(Role.POLICY)
    return Derivation(
        "depth_training", "Depth of a training pass of the policy", formula.left, "Tables III and IV",
        (
            Step("The backward pass waits for the forward pass.", formula.expr),
            Step("Two passes and one sum over all tokens.", 2 * one.handle + Log2(B * m)),
        ),
        formula.explicit,
        (*formula.where, one),
    )  # fmt: skip


def _generation_lines() -> tuple[sympy.Expr, sympy.Expr]:
    step = L * (4 * Log2(d) + Log2(d_ff) - Log2(h)) + Log2(d)
    return step, Log2(S) + sympy.Sum(Log2(S + blocks.STEP), (blocks.STEP, 1, T - 1))


def _generation() -> Derivation:
    step, contexts = _generation_lines()
    return Derivation(
        "depth_generation", "Depth of one rollout", blocks.depth_generation().left, "Appendix B-A4",
        (
            Step("A prefill, then $T-1$ decode steps in a row.", blocks.depth_generation().expr),
            Step("Only the sum over the context changes from step to step.", T * step + L * contexts),
            Step("A sum of logarithms is the logarithm of a factorial: a difference of log-gammas.",
                 close_sums(T * step + L * contexts)),
        ),
        blocks.depth_generation().explicit,
    )  # fmt: skip


def _generation_coarse() -> Derivation:
    step, contexts = _generation_lines()
    whole = blocks.depth_forward(Role.POLICY)
    return Derivation(
        "depth_generation_coarse", "Depth of one rollout, coarse form", blocks.depth_generation().left,
        "Appendix B-A4",
        (
            Step("Prefill and steps, each with its own context.", T * step + L * contexts),
            Step("Every context $S+t$ is taken as $S+T$.", T * whole.handle, Relation.APPROXIMATE),
        ),
        T * whole.handle,
        (whole,),
    )  # fmt: skip


DERIVATIONS = (
    forward(Role.POLICY),
    forward(Role.REWARD),
    forward(Role.CRITIC),
    _tensor_parallel(),
    _backward(),
    _training(),
    _generation(),
    _generation_coarse(),
)
