"""What a layer keeps for its backward pass, and Megatron's sequence parallelism. Beyond the paper.

The paper counts one hidden state of d elements per layer and token and lets tensor parallelism divide it. A real
layer keeps more, and tensor parallelism alone divides only a part: what stands between two layers, and what norms
read, is whole on every rank. Sequence parallelism splits that part along the tokens, over the same ranks.
"""

from dataclasses import dataclass, replace

import sympy

from rlmkb.theory.formula import Term, Terms
from rlmkb.theory.partition import TENSOR, B, E_a, L, Part, Step, Strategy, d, d_e, d_ff, h, m

#: Tensor parallelism as first published: activations of the token-wise parts are whole on every rank.
MEGATRON_TENSOR = replace(TENSOR, divides=TENSOR.divides - {Part.ACTIVATIONS}, splits="weights and products")

#: With sequence parallelism the same ranks hold pieces of the sequence in the token-wise parts. This divides
#: what table V's tensor row divides: the paper's row is the one with sequence parallelism.
SEQUENCE_TENSOR = replace(TENSOR, splits="weights and products, and the sequence between them")


@dataclass(frozen=True)
class Kept:
    """Something a layer keeps for the backward pass.

    Parameters
    ----------
    name : str
        In words.
    per_token : sympy.Expr
        Elements per token and layer.
    token_wise : bool
        It is as wide as the hidden state on every tensor-parallel rank; only sequence parallelism splits it.
    """

    name: str
    per_token: sympy.Expr
    token_wise: bool


def kept(step: Step, *, flash: bool = True) -> tuple[Kept, ...]:
    """What one layer keeps without checkpointing and dropout, after Korthikanti et al.

    Parameters
    ----------
    step : Step
        Dense, or with experts: then E_a inputs and hidden layers of width d_e in place of one feed-forward network.
    flash : bool
        Whether attention computes its shares again instead of keeping h m of them.

    Examples
    --------
    Eight hidden states and the two sides of the activation function; 2 bytes each make the 34 s b h of the
    source, which adds dropout masks.

    >>> from rlmkb.theory.partition import DENSE
    >>> sympy.Add(*(entry.per_token for entry in kept(DENSE)))
    8*d + 2*d_ff
    """
    network, inputs = (2 * E_a * d_e, E_a * d) if step.experts else (2 * d_ff, d)
    return (
        Kept("inputs of the two norms", 2 * d, True),
        Kept("input of query, key and value", d, True),
        Kept("query, key, value", 3 * d, False),
        *(() if flash else (Kept("attention shares", h * m, False),)),
        Kept("attended values", d, False),
        Kept("input of the feed-forward network", inputs, True),
        Kept("both sides of the activation function", network, False),
    )


def rank_activations(strategy: Strategy, *, flash: bool = True) -> Terms:
    """Elements that one rank keeps for the backward pass, by what they are.

    Parameters
    ----------
    strategy : Strategy
        Its tensor axis says whether the token-wise parts are divided: `MEGATRON_TENSOR` leaves them whole,
        `SEQUENCE_TENSOR` (and the paper's `TENSOR`) does not.
    flash : bool
        See `kept`.

    Returns
    -------
    Terms
        Named as in `kept`.

    Examples
    --------
    Of 16 d, with d_ff = 4 d, tensor parallelism over 8 ranks alone leaves 4 d + 12 d/8.

    >>> from rlmkb.theory.partition import DENSE
    >>> strategy = Strategy("tensor", DENSE, (MEGATRON_TENSOR.at(8),))
    >>> sympy.factor(rank_activations(strategy).total.subs(d_ff, 4 * d))
    11*B*L*d*m/2
    """
    whole = sympy.Mul(*(
        axis.degree for axis in strategy.axes
        if axis.name == TENSOR.name and Part.ACTIVATIONS not in axis.divides
    ))  # fmt: skip
    pieces = strategy.divisor(Part.ACTIVATIONS)
    # the width is divided by tensor parallelism either way
    return Terms(tuple(
        Term(entry.name, B * m * L * entry.per_token / (pieces if entry.token_wise else pieces * whole))
        for entry in kept(strategy.step, flash=flash)
    ))  # fmt: skip
