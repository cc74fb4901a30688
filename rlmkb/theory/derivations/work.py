"""Appendices B-A1 to B-A3: forward pass, backward pass and generation, counted from the matrix products."""

import sympy

from rlmkb.notation import Role, symbol
from rlmkb.theory import building_blocks as blocks
from rlmkb.theory.derivations.steps import Derivation, Relation, Step
from rlmkb.theory.transformer import Head, Transformer, transformer

S, T, m = (symbol(name) for name in ("S", "T", "m"))
i = sympy.Symbol("i", integer=True, positive=True)


def matrices(model: Transformer) -> dict[str, tuple[sympy.Expr, sympy.Expr]]:
    """The weight matrices of one layer and their shapes.

    Examples
    --------
    >>> len(matrices(transformer(Role.POLICY)))
    6
    """
    d, d_ff = model.d, model.d_ff
    square = dict.fromkeys(("query", "key", "value", "output"), (d, d))
    return {**square, "up": (d, d_ff), "down": (d_ff, d)}


def per_weight(model: Transformer, factor: int) -> sympy.Expr:
    """A factor for each weight of a layer.

    Examples
    --------
    >>> from rlmkb.theory.evaluate import evaluate
    >>> evaluate(per_weight(transformer(Role.CRITIC), 1), {"d": 2, "d_ff": 8})  # 4 * 4 + 2 * 16
    48
    """
    return factor * sympy.Add(*(rows * columns for rows, columns in matrices(model).values()))


_HEADS = {
    Role.POLICY: "the logits of every position",
    Role.REWARD: "one score for the sequence",
    Role.CRITIC: "one value for every position",
    Role.ACTOR_CRITIC: "logits and a value for every position",
}


def _head_of_sequence(model: Transformer) -> sympy.Expr:
    """FLOPs of the heads over a whole sequence, position by position where they run at each."""
    positions = (i, 1, m)
    costs = {
        Head.VOCABULARY: sympy.Sum(2 * model.V * model.d, positions),
        Head.SCALAR_PER_TOKEN: sympy.Sum(2 * model.d, positions),
        Head.SCALAR_PER_SEQUENCE: 2 * model.d,
    }
    return sympy.Add(*(costs[head] for head in model.heads))


def forward(role: Role) -> Derivation:
    """Forward pass per token, from the cost of a whole sequence."""
    model, formula = transformer(role), blocks.forward(role)
    L, d = model.L, model.d
    head = sympy.expand(_head_of_sequence(model).doit() / m)
    attention = sympy.Sum(4 * i * d, (i, 1, m))  # position i sees i: scores and weighted values, 2 d each
    return Derivation(
        _named("forward", role), f"Forward pass of the {_spoken(role)}, per token", formula.left, "Appendix B-A1",
        (
            Step(f"Two FLOPs per weight and position, causal attention, {_HEADS[role]}; the mean over positions.",
                 L * per_weight(model, 2) + L * attention / m + _head_of_sequence(model) / m),
            Step("The mean of $i$ over the positions is $(S+T+1)/2$.",
                 L * (per_weight(model, 2) + 2 * (m + 1) * d) + head),
            Step("A position's attention to itself is dropped: $S+T+1$ becomes $S+T$.",
                 L * (per_weight(model, 2) + 2 * m * d) + head, Relation.APPROXIMATE),
            Step("Take the factor two out of the layer.", formula.expr),
        ),
        formula.explicit,
    )  # fmt: skip


def _product() -> Derivation:
    n, a, b = sympy.symbols("n a b", integer=True, positive=True)
    to_input, to_weights = 2 * n * b * a, 2 * a * n * b
    return Derivation(
        "backward", "Backward of one product $Y = XW$", r"C_b(XW)", "Appendix B-A2",
        (
            Step(r"$X$ is $n \times a$, $W$ is $a \times b$: $dX = dY\,W^\top$ sums over $b$,"
                 r" $dW = X^\top dY$ over $n$.",
                 sympy.Add(to_input, to_weights, evaluate=False)),
            Step("Each is as large as the forward product, $2nab$.", 2 * (2 * n * a * b)),
        ),
        2 * (2 * n * a * b),
    )  # fmt: skip


def _attention() -> Derivation:
    n, a = sympy.symbols("n a", integer=True, positive=True)
    one = 2 * n * n * a
    return Derivation(
        "backward_attention", r"Backward of the attention products $P = QK^\top$ and $O = PV$", r"C_b(PV, QK^{\top})",
        "Appendix B-A2",
        (
            Step("No weights here, yet each product has two operands: $dP$, $dV$, $dQ$ and $dK$.",
                 sympy.Add(one, one, one, one, evaluate=False)),
            Step("Twice the two forward products of $2n^2a$ each.", 2 * (2 * one)),
        ),
        4 * one,
    )  # fmt: skip


def _backward_pass(role: Role = Role.POLICY) -> Derivation:
    model, forward_cost = transformer(role), blocks.forward(role)
    L, d = model.L, model.d
    return Derivation(
        "backward_pass", "Backward pass of the policy, per token", blocks.backward(role).left, "Appendix B-A2",
        (
            Step("Two gradient products for each product of the forward pass, attention and head among them.",
                 L * (2 * per_weight(model, 2) + 2 * (2 * m * d)) + 2 * (2 * model.V * d)),
            Step("That is the forward pass, twice.", 2 * forward_cost.handle),
        ),
        blocks.backward(role).explicit,
        (forward_cost,),
    )  # fmt: skip


def _training(role: Role = Role.POLICY) -> Derivation:
    forward_cost, backward_cost = blocks.forward(role), blocks.backward(role)
    return Derivation(
        "training", "Training pass of the policy, per token", blocks.training(role).left, "Table III",
        (
            Step("A forward pass, then a backward pass.", forward_cost.handle + backward_cost.handle),
            Step("Backward is twice forward.", 3 * forward_cost.handle),
        ),
        blocks.training(role).explicit,
        (forward_cost, backward_cost),
    )  # fmt: skip


POLICY = transformer(Role.POLICY)
L, d, d_ff, V = POLICY.L, POLICY.d, POLICY.d_ff, POLICY.V


def _prefill() -> Derivation:
    return Derivation(
        "prefill", "Prefill of one prompt", blocks.prefill().left, "Appendix B-A3",
        (
            Step("$S$ tokens through all weights, causal attention token by token, logits of the last token only.",
                 L * (S * per_weight(POLICY, 2) + sympy.Sum(4 * i * d, (i, 1, S))) + 2 * V * d),
            Step("Add up the positions.", L * (S * per_weight(POLICY, 2) + 2 * S * (S + 1) * d) + 2 * V * d),
            Step("Attention to itself is dropped: $S+1$ becomes $S$.",
                 L * (S * per_weight(POLICY, 2) + 2 * S**2 * d) + 2 * V * d, Relation.APPROXIMATE),
            Step("Take the factor two out of the layer.", blocks.prefill().expr),
        ),
        blocks.prefill().explicit,
    )  # fmt: skip


def decode_closed_form() -> sympy.Expr:
    """The appendix's closed form of the decode sum.

    Examples
    --------
    >>> sympy.simplify(decode_closed_form() - blocks.decode().closed)
    0
    """
    context = (T - 1) * S + (T - 1) * T / 2
    return 2 * (T - 1) * L * (4 * d**2 + 2 * d * d_ff) + 4 * L * d * context + 2 * (T - 1) * V * d


def _decode() -> Derivation:
    contexts = sympy.Sum(S + blocks.STEP, (blocks.STEP, 1, T - 1))
    return Derivation(
        "decode", "Decode of one rollout", blocks.decode().left, "Appendix B-A3",
        (
            Step("$T-1$ steps; step $t$ attends to $S+t$ cached positions, one row, nothing to halve.",
                 blocks.decode().expr),
            Step("Only attention depends on $t$.",
                 (T - 1) * (2 * L * (4 * d**2 + 2 * d * d_ff) + 2 * V * d) + 4 * L * d * contexts),
            Step("The contexts add up to $(T-1)S + (T-1)T/2$.", decode_closed_form()),
        ),
        blocks.decode().explicit,
    )  # fmt: skip


def generation_closed_form() -> sympy.Expr:
    """C_gen by part: weights of S + T - 1 tokens, attention, and logits of T tokens.

    Examples
    --------
    >>> sympy.simplify(generation_closed_form() - blocks.generation().closed)
    0
    """
    attention = S**2 + (T - 1) * (2 * S + T)
    return 2 * L * (4 * d**2 + 2 * d * d_ff) * (S + T - 1) + 2 * L * d * attention + 2 * V * d * T


def _generation() -> Derivation:
    parts = (blocks.prefill(), blocks.decode())
    return Derivation(
        "generation", "Generation of one rollout", blocks.generation().left, "Appendix B-A3",
        (
            Step("Read the prompt, then decode.", sympy.Add(*(part.handle for part in parts))),
            Step("Put in both closed forms.", parts[0].expr + decode_closed_form()),
            Step("Collect weights, attention and logits.", generation_closed_form()),
        ),
        blocks.generation().explicit,
        parts,
    )  # fmt: skip


def _generation_bound() -> Derivation:
    whole = blocks.forward(Role.POLICY)
    return Derivation(
        "generation_bound", "Generation is never more work than a forward pass over the rollout",
        blocks.generation().left, "Appendix B-A3",
        (
            Step("Weights, attention and logits of a rollout.", generation_closed_form()),
            Step("The last token is never fed back, and prompt tokens need no logits but for the last.",
                 m * whole.handle, Relation.BOUND),
        ),
        m * whole.handle,
        (whole,),
    )  # fmt: skip


def generation_ratio() -> sympy.Expr:
    """C_gen over (S + T) C_f: how much of the coarse form a rollout really costs.

    Examples
    --------
    >>> sympy.limit(generation_ratio(), T, sympy.oo)
    1
    """
    whole = (m * blocks.forward(Role.POLICY).explicit).xreplace({m: S + T})
    return generation_closed_form() / sympy.expand(whole)


def _named(stem: str, role: Role) -> str:
    return stem if role is Role.POLICY else f"{stem}_{role.value}"


def _spoken(role: Role) -> str:
    return {Role.ACTOR_CRITIC: "shared actor-critic", Role.REWARD: "reward model"}.get(role, role.value)


DERIVATIONS = (
    *(forward(role) for role in _HEADS),
    _product(),
    _attention(),
    _backward_pass(),
    _training(),
    _prefill(),
    _decode(),
    _generation(),
    _generation_bound(),
)
