"""Costs laid out by term and by model invocation: what charts stack and derivations add up."""

from functools import cache

import sympy

from rlmkb.notation import Role, symbol
from rlmkb.theory import building_blocks as blocks
from rlmkb.theory.algorithms import Algorithm, Call, Invocation
from rlmkb.theory.formula import Formula, Quantity, Term, Terms
from rlmkb.theory.functions import close_sums
from rlmkb.theory.transformer import Attention, Head, forward_work, transformer

S, T, m = (symbol(name) for name in ("S", "T", "m"))

# forward passes over its own tokens that a call is worth: a training pass is one forward and one backward of two
PASSES = {Call.GENERATE: 1, Call.FORWARD: 1, Call.TRAIN: 3, Call.VERIFY: 0}


@cache
def generation_terms(role: Role = Role.POLICY) -> Terms:
    """C_gen of one rollout as five terms: weights and attention of prefill and of decode, and logits.

    Parameters
    ----------
    role : Role
        A model with a vocabulary head.

    Returns
    -------
    Terms
        In FLOP; their sum is `building_blocks.generation`.

    Examples
    --------
    >>> terms = generation_terms()
    >>> sympy.simplify(terms.total - blocks.generation().closed)
    0
    >>> terms["logits"]
    2*T*V*d_pi
    """
    model = transformer(role)
    prompt, step = forward_work(model, S), forward_work(model, S + blocks.STEP, Attention.DENSE)

    def all_steps(cost: sympy.Expr) -> sympy.Expr:
        return close_sums(sympy.Sum(cost, (blocks.STEP, 1, T - 1)))

    return Terms(
        (
            Term("prefill, weights", S * (prompt["projections"] + prompt["ffn"])),
            Term("prefill, attention", S * prompt["attention"]),
            Term("decode, weights", (T - 1) * (step["projections"] + step["ffn"])),
            Term("decode, attention", all_steps(step["attention"])),
            Term("logits", T * step[Head.VOCABULARY]),
        )
    )


def work_of(call: Invocation) -> Formula:
    """Work of one invocation; zero for a verifier, which multiplies no matrices.

    Parameters
    ----------
    call : Invocation
        Both sequences of a preference pair count.

    Examples
    --------
    >>> from rlmkb.theory.algorithms import DPO
    >>> work_of(DPO.invocations[0]).text
    '2*B_pairs*m*C_f_tok(ref)'
    """
    blocks_of = {Call.GENERATE: blocks.generation, Call.FORWARD: blocks.forward, Call.TRAIN: blocks.training}
    parts = (blocks_of[call.call](call.role),) if call.role.has_transformer else ()
    tokens = 1 if call.call is Call.GENERATE else m
    expr = sympy.Add(*(call.repeats * call.sequences * tokens * part.handle for part in parts))
    return Formula(
        f"W_{call.stage}_{call.role.suffix}", rf"W_{{\mathrm{{{call.call}}}}}({call.role.latex})", expr,
        Quantity.WORK, f"work of the {call.role.replace('_', ' ')} in {call.stage}", "Table IV", call.role,
        where=parts,
    )  # fmt: skip


def by_invocation(algorithm: Algorithm) -> tuple[tuple[Invocation, Formula], ...]:
    """Each invocation of an algorithm with its work, in order.

    Examples
    --------
    >>> from rlmkb.theory.algorithms import GRPO
    >>> [(call.stage.value, work.text) for call, work in by_invocation(GRPO.with_verifier())][:2]
    [('generation', 'B*K*C_gen_roll(pi)'), ('assessment', 'B*K*m*C_f_tok(ref)')]
    """
    return tuple((call, work_of(call)) for call in algorithm.invocations)


def forward_passes(algorithm: Algorithm) -> sympy.Expr:
    """Forward passes over each sequence that is trained on, if all models have one shape.

    Generation counts as one pass over the whole sequence, which it falls short of by lower-order terms, and a
    training pass as three.

    Parameters
    ----------
    algorithm : Algorithm
        May be a variant.

    Returns
    -------
    sympy.Expr
        A number, or an expression in the symbols of the edits.

    Examples
    --------
    >>> from rlmkb.theory.algorithms import DPO, GRPO, PPO
    >>> [forward_passes(algorithm) for algorithm in (PPO, GRPO, DPO)]
    [10, 6, 5]
    """
    calls = algorithm.invocations
    trained = next(call.sequences for call in calls if call.call is Call.TRAIN and call.role is Role.POLICY)
    return sympy.Add(*(PASSES[call.call] * call.repeats * call.sequences / trained for call in calls))
