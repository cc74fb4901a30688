"""Traced programs beside the formulas of the theory, as rows with a ratio.

The formulas come from `rlmkb.theory`; here they are only put on the footing of the program: attention dense, since
a masked product is computed and thrown away, and whole batches instead of single tokens.
"""

from collections.abc import Callable
from dataclasses import dataclass

import sympy

from rlmkb.errors import InputError
from rlmkb.notation import Role, symbol
from rlmkb.theory import building_blocks as blocks
from rlmkb.theory.evaluate import evaluate
from rlmkb.theory.formula import Formula, Quantity
from rlmkb.theory.functions import Log2, Maximum
from rlmkb.theory.transformer import (
    LAYER_TERMS,
    Attention,
    Head,
    forward_depth,
    forward_work,
    kv_cache,
    layer_chain,
    transformer,
)
from rlmkb.verification import programs
from rlmkb.verification.transformer import HEADS, Shape

B, m, S, T = (symbol(name) for name in "BmST")

#: `training_chain`, which is an equality as every claim but those below.
D_TR_FOLLOWED = r"D_{\mathrm{tr}}\ \mathrm{followed}"
#: Claims that hold in order of magnitude, or up to one token.
D_TR_PRINTED = r"D_{\mathrm{tr}}\ \mathrm{printed}"
M_ACT = r"M_{\mathrm{Act}} = L d"
M_KV = r"M_{\mathrm{KV}} = 2 (S+T) L d"
LOOSE = (D_TR_PRINTED, M_ACT, M_KV)

#: Which term of the theory a product of the program belongs to.
TERMS = {
    "query": "projections", "key": "projections", "value": "projections", "output": "projections",
    "up": "ffn", "down": "ffn", "scores": "attention", "mix": "attention", "head": "head",
}  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One quantity of one program: as traced, and as the formula says."""

    role: Role
    program: str
    quantity: Quantity
    traced: int | float
    formula: int | float
    claim: str  #: LaTeX: which formula of table III

    @property
    def ratio(self) -> float:
        """Traced over formula."""
        return self.traced / self.formula


def at(shape: Shape, **sizes: int) -> dict[str, int]:
    """The shape's sizes as values for the theory's symbols, with B, m, S, T as given.

    Examples
    --------
    >>> at(Shape(), m=128)
    {'L': 2, 'd': 256, 'd_ff': 1024, 'h': 4, 'V': 512, 'm': 128}
    """
    return {"L": shape.L, "d": shape.d, "d_ff": shape.d_ff, "h": shape.h, "V": shape.V, **sizes}


def dense_forward_terms(role: Role) -> dict[str, sympy.Expr]:
    """FLOPs of a forward pass over B sequences of m tokens, attention dense, by term of the theory.

    Examples
    --------
    >>> dense_forward_terms(Role.CRITIC)["attention"]
    4*B*L_V*d_V*m**2
    """
    cost = forward_work(transformer(role), m, Attention.DENSE)
    terms = {name: sympy.expand(B * m * cost[name]) for name in LAYER_TERMS}
    heads = sympy.Add(*(term.expr for term in cost if term.name not in LAYER_TERMS))
    return {**terms, "head": sympy.expand(B * m * heads)}


def dense_forward(role: Role) -> sympy.Expr:
    """C_f^tok of table III with the causal half put back, over B sequences of m tokens."""
    return sympy.Add(*dense_forward_terms(role).values())


def dense_prefill(role: Role) -> sympy.Expr:
    """C_pf^roll with the causal half put back, for B prompts of S tokens."""
    cost = forward_work(transformer(role), S, Attention.DENSE)
    body = sympy.Add(*(cost[name] for name in LAYER_TERMS))
    return sympy.expand(B * (S * body + cost[Head.VOCABULARY]))


def dense_generation(role: Role) -> sympy.Expr:
    """C_gen^roll with the prefill dense, for B rollouts; a decode step has one row and nothing to halve."""
    return dense_prefill(role) + B * blocks.decode(role).closed


def last_step(role: Role) -> sympy.Expr:
    """FLOPs of decode step T - 1, the last one, for B rollouts."""
    return B * blocks.decode_step(role).expr.subs(blocks.STEP, T - 1)


def training_chain(role: Role) -> sympy.Expr:
    """Depth of the traced training step: what D_tr comes to when the chain is followed link by link.

    Forward through layers and head; back through the head, which now sums over its outputs (V logits, or one
    scalar), and through the layers in reverse. The chain ends in the first layer, in the gradient of its input
    (a sum over d) or of its query weights (a sum over all tokens), whichever is longer: not one after the other.

    Examples
    --------
    >>> evaluate(training_chain(Role.CRITIC), at(Shape(), B=2, m=128))  # 102 + 2 47, and B m = d
    196.0
    """
    model = transformer(role)
    forward = forward_depth(model, m)
    back_through_head = Log2(model.V) if Head.VOCABULARY in model.heads else sympy.Integer(0)
    end = Maximum(Log2(model.d), Log2(B * m)) - Log2(model.d)
    return forward.total + back_through_head + forward["layers"] + end


def compare(shape: Shape, B: int, S: int, T: int) -> list[Row]:
    """Every program of a role beside its formula, on B sequences of S prompt and T response tokens.

    Parameters
    ----------
    shape : Shape
        Sizes and role.
    B, S, T : int
        Sequences, prompt tokens, response tokens; T is at least 2 so that there is a decode step.

    Returns
    -------
    list of Row
        Forward, backward and training; for roles with a vocabulary head also prefill, decode and the cache.

    Examples
    --------
    >>> rows = compare(Shape(L=1, d=8, d_ff=16, h=2, V=32), B=2, S=3, T=2)
    >>> rows[0].program, rows[0].quantity.value, rows[0].ratio
    ('forward', 'work', 1.0)
    """
    if T < 2:
        raise InputError(f"T is {T}; give at least 2: the first token comes from prefill, the second from a step")
    rows = _whole_sequences(shape, B, S + T)
    return rows + _rollouts(shape, B, S, T) if "logits" in HEADS[shape.role] else rows


def _whole_sequences(shape: Shape, B: int, m: int) -> list[Row]:
    role, values = shape.role, at(shape, B=B, m=m)
    forward, training = programs.forward(shape, B, m).count(), programs.training(shape, B, m).count()
    work = evaluate(dense_forward(role), values)
    kept = sum(programs.saved_activations(shape, B, m).values())
    weights = programs.parameter_elements(shape)["weights"]
    found = (
        ("forward", "work", forward.work, work, "C_f"),
        ("forward", "depth", forward.depth, blocks.depth_forward(role).evaluate(values), "D_f"),
        ("backward", "work", training.backward_work, work * _passes(blocks.backward, role), r"C_b = 2\,C_f"),
        ("training", "work", training.work, work * _passes(blocks.training, role), r"C_{\mathrm{tr}} = 3\,C_f"),
        ("training", "depth", training.depth, evaluate(training_chain(role), values), D_TR_FOLLOWED),
        ("training", "depth", training.depth, blocks.depth_training(role).evaluate(values), D_TR_PRINTED),
        ("activations", "memory", kept, B * m * blocks.activation_memory(role).evaluate(values), M_ACT),
        ("parameters", "memory", weights, blocks.parameter_count(role).evaluate(values), "|M|"),
    )
    return [Row(role, program, Quantity(quantity), *rest) for program, quantity, *rest in found]


def _passes(formula: Callable[[Role], Formula], role: Role) -> int:
    """How many forward passes the theory counts for a backward or training pass."""
    return int(sympy.cancel(formula(role).explicit / blocks.forward(role).explicit))


def _rollouts(shape: Shape, B: int, S: int, T: int) -> list[Row]:
    role, values = shape.role, at(shape, B=B, S=S, T=T)
    context = S + T - 1  # of the last step: the last token is never fed back
    prefill, step, generation = (
        program.count()
        for program in (
            programs.prefill(shape, B, S),
            programs.decode_step(shape, B, context),
            programs.generation(shape, B, S, T),
        )
    )
    before, after = (programs.cache_elements(shape, B, slots) for slots in (S, context))
    of_prompt = B * evaluate(kv_cache(transformer(role), symbol("S")), values)

    def depth(length: int) -> float:
        return blocks.depth_forward(role).evaluate(at(shape, m=length))

    found = (
        ("prefill", "work", prefill.work, evaluate(dense_prefill(role), values), r"C_{\mathrm{pf}}"),
        ("prefill", "depth", prefill.depth, depth(S), "D_f(S)"),
        ("last decode step", "work", step.work, evaluate(last_step(role), values), r"C_{\mathrm{dec}}^{T-1}"),
        ("last decode step", "depth", step.depth, depth(context), "D_f(S+T-1)"),
        ("generation", "work", generation.work, evaluate(dense_generation(role), values), r"C_{\mathrm{gen}}"),
        ("generation", "depth", generation.depth, blocks.depth_generation(role).evaluate(values), r"D_{\mathrm{gen}}"),
        ("cache after prefill", "memory", before, of_prompt, "2 S L d"),
        ("cache at the end", "memory", after, B * blocks.cache_memory(role).evaluate(values), M_KV),
    )
    return [Row(role, program, Quantity(quantity), *rest) for program, quantity, *rest in found]


def layer_lengths(shape: Shape, context: int) -> list[int]:
    """Lengths of the contractions along one layer, as the theory orders them."""
    values = at(shape, m=context)
    chain = layer_chain(transformer(shape.role), m)
    return [evaluate(link.length, values) // evaluate(link.divisor, values) for link in chain]
