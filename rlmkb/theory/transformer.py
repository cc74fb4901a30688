"""The canonical decoder: its matrix products, contraction chain and parameters, as named terms.

One layer has four d x d attention projections and two feed-forward projections; the head depends on the role.
Everything else in this package is made of these lists.
"""

from dataclasses import dataclass
from enum import StrEnum

import sympy

from rlmkb.notation import Role, symbol
from rlmkb.theory.formula import Term, Terms
from rlmkb.theory.functions import Log2


class Head(StrEnum):
    """What turns the last hidden state into an output."""

    VOCABULARY = "vocabulary"
    SCALAR_PER_TOKEN = "scalar_per_token"
    SCALAR_PER_SEQUENCE = "scalar_per_sequence"


class Attention(StrEnum):
    """How the score matrix is counted: in full, or the half below the diagonal."""

    CAUSAL = "causal"
    DENSE = "dense"


LAYER_TERMS = ("projections", "ffn", "attention")

HEADS = {
    Role.POLICY: (Head.VOCABULARY,),
    Role.REFERENCE: (Head.VOCABULARY,),
    Role.REWARD: (Head.SCALAR_PER_SEQUENCE,),
    Role.CRITIC: (Head.SCALAR_PER_TOKEN,),
    Role.ACTOR_CRITIC: (Head.VOCABULARY, Head.SCALAR_PER_TOKEN),
    Role.COST_MODEL: (Head.SCALAR_PER_SEQUENCE,),
    Role.COST_CRITIC: (Head.SCALAR_PER_TOKEN,),
}


@dataclass(frozen=True)
class Transformer:
    """Symbolic dimensions of one role's model; see `transformer`."""

    role: Role
    L: sympy.Symbol
    d: sympy.Symbol
    d_ff: sympy.Symbol
    h: sympy.Symbol
    V: sympy.Symbol

    @property
    def heads(self) -> tuple[Head, ...]:
        """The output heads of the role."""
        return HEADS[self.role]


def transformer(role: Role) -> Transformer:
    """The model of a role, in that role's symbols.

    Parameters
    ----------
    role : Role
        Any role but the verifier, which is no Transformer.

    Examples
    --------
    >>> transformer(Role.CRITIC).d
    d_V
    """
    suffix = role.shape_role.suffix
    return Transformer(role, *(symbol(f"{name}_{suffix}") for name in ("L", "d", "d_ff", "h")), symbol("V"))


def forward_work(model: Transformer, context: sympy.Expr, attention: Attention = Attention.CAUSAL) -> Terms:
    """FLOPs of a forward pass per token of a sequence.

    Parameters
    ----------
    model : Transformer
        Whose dimensions to use.
    context : sympy.Expr
        Length of the sequence, in tokens.
    attention : Attention
        A causal score matrix counts half of the dense one.

    Returns
    -------
    Terms
        ``projections``, ``ffn``, ``attention`` and one term a head, in FLOP per token. A multiply and an add are
        two FLOPs; norms, softmax, rotary embedding and the look-up are left out.

    Examples
    --------
    >>> policy = transformer(Role.POLICY)
    >>> forward_work(policy, symbol("m"))["attention"]
    2*L_pi*d_pi*m
    """
    L, d, d_ff = model.L, model.d, model.d_ff
    score_and_value = 2 * (2 * context * d)
    if attention is Attention.CAUSAL:
        score_and_value = score_and_value / 2
    return Terms(
        (
            Term("projections", L * 2 * (4 * d**2)),
            Term("ffn", L * 2 * (2 * d * d_ff)),
            Term("attention", L * score_and_value),
            *(Term(head.value, _head_work(model, head, context)) for head in model.heads),
        )
    )


def body(model: Transformer, cost: Terms) -> sympy.Expr:
    """The layers' share of a cost, written as the paper does: layers times the cost of one layer.

    Examples
    --------
    >>> policy = transformer(Role.POLICY)
    >>> body(policy, parameters(policy))
    L_pi*(2*d_ff_pi*d_pi + 4*d_pi**2)
    """
    # two FLOPs per multiply-add stand before the bracket; counts of parameters have no such factor
    factor = 2 * model.L if "attention" in cost.names else model.L
    return factor * sympy.Add(*(term.expr / factor for term in cost if term.name in LAYER_TERMS))


def heads(cost: Terms) -> sympy.Expr:
    """The rest of a cost: vocabulary matrix and output heads.

    Examples
    --------
    >>> heads(parameters(transformer(Role.REWARD)))
    V*d_R + d_R
    """
    return sympy.Add(*(term.expr for term in cost if term.name not in LAYER_TERMS))


def _head_work(model: Transformer, head: Head, context: sympy.Expr) -> sympy.Expr:
    if head is Head.VOCABULARY:
        return 2 * model.V * model.d
    return 2 * model.d / context if head is Head.SCALAR_PER_SEQUENCE else 2 * model.d


def parameters(model: Transformer) -> Terms:
    """Parameter counts; biases and norms are left out, the vocabulary matrix is counted once.

    Examples
    --------
    >>> parameters(transformer(Role.REWARD))["scalar_per_sequence"]
    d_R
    """
    L, d, d_ff, V = model.L, model.d, model.d_ff, model.V
    return Terms(
        (
            Term("projections", L * 4 * d**2),
            Term("ffn", L * 2 * d * d_ff),
            Term("vocabulary", V * d),
            *(Term(head.value, d) for head in model.heads if head is not Head.VOCABULARY),
        )
    )


@dataclass(frozen=True)
class Contraction:
    """One link of the critical path: a reduction over `length` numbers.

    `divisor` is the tensor-parallel degree where the reduced dimension is the sharded one.
    """

    name: str
    length: sympy.Expr
    divisor: sympy.Expr = sympy.S.One

    @property
    def depth(self) -> sympy.Expr:
        """log2 of the length that one rank reduces."""
        return Log2(self.length) - Log2(self.divisor)


def layer_chain(model: Transformer, context: sympy.Expr, tp: sympy.Expr = sympy.S.One) -> tuple[Contraction, ...]:
    """The contractions of one layer, in the order in which they wait for each other.

    Query, key and value projections run side by side, so they count once. Under tensor parallelism only the two
    row-parallel products (attention output, feed-forward down) reduce over a sharded dimension.

    Examples
    --------
    >>> [link.name for link in layer_chain(transformer(Role.POLICY), symbol("m"))]
    ['query, key, value', 'scores', 'values', 'output', 'up', 'down']
    """
    d, d_ff, h = model.d, model.d_ff, model.h
    return (
        Contraction("query, key, value", d),
        Contraction("scores", d, h),
        Contraction("values", context),
        Contraction("output", d, tp),
        Contraction("up", d),
        Contraction("down", d_ff, tp),
    )


def forward_depth(model: Transformer, context: sympy.Expr, tp: sympy.Expr = sympy.S.One) -> Terms:
    """Depth of a forward pass: the chain of a layer, times the layers, plus the head.

    Parameters
    ----------
    model : Transformer
        Whose dimensions to use.
    context : sympy.Expr
        Length of the sequence, in tokens.
    tp : sympy.Expr
        Tensor-parallel degree. The head's reduction is divided by it too, as the paper writes it.

    Returns
    -------
    Terms
        ``layers`` and ``head``, in steps of a binary reduction.

    Examples
    --------
    >>> forward_depth(transformer(Role.POLICY), symbol("m"))["head"]
    log2(d_pi)
    """
    layer = sympy.Add(*(link.depth for link in layer_chain(model, context, tp)))
    return Terms((Term("layers", model.L * layer), Term("head", Contraction("head", model.d, tp).depth)))


def activations(model: Transformer) -> sympy.Expr:
    """Elements kept per token for the backward pass, one hidden state a layer: L d.

    Examples
    --------
    >>> activations(transformer(Role.POLICY))
    L_pi*d_pi
    """
    return model.L * model.d


def inference_buffer(model: Transformer) -> sympy.Expr:
    """Elements per token of a forward pass that keeps nothing: d.

    Examples
    --------
    >>> inference_buffer(transformer(Role.REWARD))
    d_R
    """
    return model.d


def kv_cache(model: Transformer, length: sympy.Expr) -> sympy.Expr:
    """Elements of keys and values of one sequence: 2 L d per token.

    Examples
    --------
    >>> kv_cache(transformer(Role.POLICY), symbol("m"))
    2*L_pi*d_pi*m
    """
    return 2 * length * model.L * model.d
