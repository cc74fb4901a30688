"""One model at work on a batch: the work and depth of a decode step, a forward pass and a training pass.

The building blocks of table III are per token or per pass; here they are put on one footing, B sequences of m
tokens, so that passes can be compared.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import sympy

from rlmkb.notation import Role, Stage, symbol
from rlmkb.theory import building_blocks as blocks
from rlmkb.theory.evaluate import evaluate
from rlmkb.theory.formula import to_latex
from rlmkb.theory.transformer import Attention, forward_depth, forward_work, layer_chain, transformer

B, m = symbol("B"), symbol("m")


@dataclass(frozen=True)
class Pass:
    """One run of a model over B sequences.

    Parameters
    ----------
    name : str
        In words.
    stage : Stage
        Where the pipeline makes it.
    work, depth : sympy.Expr
        In FLOP and steps, for B sequences at context m.

    Examples
    --------
    >>> forward_pass().at(L=2, d=256, d_ff=1024, h=4, V=512, m=128, B=1)[1]
    102.0
    """

    name: str
    stage: Stage
    work: sympy.Expr
    depth: sympy.Expr

    def at(self, values: Mapping[str, object] | None = None, /, **symbols: object) -> tuple:
        """Work and depth at a point, or at many: arrays broadcast.

        Raises
        ------
        InputError
            If a value is missing or out of range.
        """
        point = {**(values or {}), **symbols}
        return evaluate(self.work, point), evaluate(self.depth, point)


def decode_step(role: Role = Role.POLICY) -> Pass:
    """One more token for each of B sequences that have m positions in the cache.

    Examples
    --------
    >>> decode_step().at(L=1, d=2, d_ff=8, h=1, V=10, m=4, B=3)[0]  # 3 (2 (16 + 32 + 2*4*2) + 2*10*2)
    504
    """
    model = transformer(role)
    return Pass(
        "decode step", Stage.GENERATION, B * forward_work(model, m, Attention.DENSE).total,
        forward_depth(model, m).total,
    )  # fmt: skip


def forward_pass(role: Role = Role.POLICY) -> Pass:
    """B whole sequences of m tokens, scored in parallel.

    Examples
    --------
    >>> forward_pass(Role.CRITIC).at(L=1, d=2, d_ff=8, h=1, m=4, B=3)[0]  # 3 * 4 * 116
    1392
    """
    part = blocks.forward(role)
    return Pass("forward pass", Stage.ASSESSMENT, B * m * part.explicit, blocks.depth_forward(role).explicit)


def training_pass(role: Role = Role.POLICY) -> Pass:
    """B whole sequences of m tokens, forward and backward.

    Examples
    --------
    >>> training_pass(Role.CRITIC).at(L=1, d=2, d_ff=8, h=1, m=4, B=3)[0]
    4176
    """
    part = blocks.training(role)
    return Pass("training pass", Stage.TRAINING, B * m * part.explicit, blocks.depth_training(role).explicit)


def crossover(attention: Attention = Attention.CAUSAL, role: Role = Role.POLICY) -> sympy.Expr:
    """Context, in tokens, at which scores and weighted values cost as much as all weight matrices of a layer.

    Parameters
    ----------
    attention : Attention
        Causal for whole sequences, where half of the score matrix counts; dense for a decode step, whose one
        row is complete.
    role : Role
        Whose dimensions to use.

    Returns
    -------
    sympy.Expr
        4 d + 2 d_ff if causal, half of it if dense. The vocabulary matrix is left out.

    Examples
    --------
    >>> crossover(), crossover(Attention.DENSE)
    (2*d_ff_pi + 4*d_pi, d_ff_pi + 2*d_pi)
    """
    cost = forward_work(transformer(role), m, attention)
    (length,) = sympy.solve(cost["attention"] - cost["projections"] - cost["ffn"], m)
    return sympy.expand(length)


def work_terms(values: Mapping[str, object], role: Role = Role.POLICY) -> list[dict[str, object]]:
    """The terms of a forward pass per token at a point.

    Parameters
    ----------
    values : mapping
        From symbol name to number.
    role : Role
        Whose dimensions to use.

    Returns
    -------
    list of dict
        ``term`` (its name), ``latex``, ``flops`` per token and ``share`` of their sum.

    Examples
    --------
    >>> rows = work_terms({"L": 1, "d": 2, "d_ff": 8, "V": 8, "m": 4})
    >>> [(row["term"], row["flops"]) for row in rows]
    [('projections', 32), ('ffn', 64), ('attention', 16), ('vocabulary', 32)]
    """
    cost = forward_work(transformer(role), m)
    flops = {term.name: evaluate(term.expr, values) for term in cost}
    return [
        {
            "term": term.name, "latex": to_latex(term.expr), "flops": flops[term.name],
            "share": flops[term.name] / sum(flops.values()),
        }
        for term in cost
    ]  # fmt: skip


def chain(values: Mapping[str, object], role: Role = Role.POLICY) -> list[dict[str, object]]:
    """The contractions of one layer at a point, in the order in which they wait for each other.

    Parameters
    ----------
    values : mapping
        From symbol name to number.
    role : Role
        Whose dimensions to use.

    Returns
    -------
    list of dict
        ``contraction`` (its name), ``sums over`` (numbers per result) and ``depth`` (its log2, in steps).

    Examples
    --------
    >>> chain({"d": 256, "d_ff": 1024, "h": 4, "m": 128})[1]
    {'contraction': 'scores', 'sums over': 64, 'depth': 6.0}
    """
    return [
        {
            "contraction": link.name,
            "sums over": evaluate(link.length, values) // evaluate(link.divisor, values),
            "depth": float(evaluate(link.depth, values)),
        }
        for link in layer_chain(transformer(role), m)
    ]
