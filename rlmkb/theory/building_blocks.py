"""Table III: what one model costs, per token, per rollout or per pass.

Each function returns the `Formula` of one cell for one role. Where the paper prints only Big-O, the explicit form
is derived from the contraction chain (appendices B-A4 and B-C1) and the Big-O form stands beside it.
"""

from functools import cache

import sympy

from rlmkb.notation import Role, symbol
from rlmkb.theory.formula import Formula, Quantity
from rlmkb.theory.functions import Log2
from rlmkb.theory.transformer import (
    Attention,
    activations,
    body,
    forward_depth,
    forward_work,
    heads,
    inference_buffer,
    kv_cache,
    parameters,
    transformer,
)

m, S, T, B, P_t = (symbol(name) for name in ("m", "S", "T", "B", "P_t"))
STEP = sympy.Symbol("t", integer=True, positive=True)

FLOPS = "an addition and a multiplication are two FLOPs"
CANONICAL = "multi-head attention with four d x d projections, feed-forward network with two"
CAUSAL = "causal attention: half of the dense score matrix"
ADDED = "Not printed in the paper: the same derivation, for this model."
DERIVED_DEPTH = "The paper prints Big-O; the constants are those of the contraction chain (appendix B-C1)."


def _note(role: Role, text: str | None = None) -> str | None:
    added = ADDED if role in (Role.ACTOR_CRITIC, Role.COST_MODEL, Role.COST_CRITIC) else None
    return " ".join(part for part in (text, added) if part) or None


@cache
def forward(role: Role) -> Formula:
    """C_f^tok: FLOPs of a forward pass per token.

    Examples
    --------
    >>> forward(Role.CRITIC).evaluate(L=1, d=2, d_ff=8, m=4)  # 2 (4*4 + 2*2*8 + 4*2) + 2*2
    116
    """
    model = transformer(role)
    work = forward_work(model, m)
    return Formula(
        "C_f_tok", rf"C_f^{{\mathrm{{tok}}}}({role.latex})", body(model, work) + heads(work),
        Quantity.WORK, "FLOPs of a forward pass per token, at context S + T", "Table III", role, "token",
        assumptions=(FLOPS, CANONICAL, CAUSAL), note=_note(role),
    )  # fmt: skip


@cache
def backward(role: Role) -> Formula:
    """C_b^tok: FLOPs of a backward pass per token, twice the forward.

    Examples
    --------
    >>> backward(Role.CRITIC).evaluate(L=1, d=2, d_ff=8, m=4)
    232
    """
    part = forward(role)
    return Formula(
        "C_b_tok", rf"C_b^{{\mathrm{{tok}}}}({role.latex})", 2 * part.handle, Quantity.WORK,
        "FLOPs of a backward pass per token: one product for the activations, one for the weights", "Table III",
        role, "token", where=(part,), assumptions=(*part.assumptions, "backward is twice forward"),
        note=_note(role),
    )  # fmt: skip


@cache
def training(role: Role) -> Formula:
    """C_tr^tok: forward plus backward per token.

    Examples
    --------
    >>> training(Role.CRITIC).evaluate(L=1, d=2, d_ff=8, m=4)
    348
    """
    parts = (forward(role), backward(role))
    return Formula(
        "C_tr_tok", rf"C_{{\mathrm{{tr}}}}^{{\mathrm{{tok}}}}({role.latex})",
        sympy.Add(*(part.handle for part in parts)), Quantity.WORK, "FLOPs of a training pass per token",
        "Table III", role, "token", where=parts, assumptions=parts[1].assumptions, note=_note(role),
    )  # fmt: skip


@cache
def prefill(role: Role = Role.POLICY) -> Formula:
    """C_pf^roll: FLOPs of reading the prompt once; logits for its last token only.

    Examples
    --------
    >>> prefill().evaluate(L=1, d=2, d_ff=8, V=10, S=3)  # 2*3*(16 + 32 + 6) + 2*10*2
    364
    """
    model = transformer(role)
    work = forward_work(model, S)
    return Formula(
        "C_pf_roll", rf"C_{{\mathrm{{pf}}}}^{{\mathrm{{roll}}}}({role.latex})",
        S * body(model, work) + work["vocabulary"],
        Quantity.WORK, "FLOPs of prefill per rollout: the prompt once, logits of its last token", "Table III",
        role, "rollout", assumptions=(FLOPS, CANONICAL, CAUSAL, "softmax O(S^2) and norms O(S d) left out"),
        note=_note(role),
    )  # fmt: skip


@cache
def decode_step(role: Role = Role.POLICY) -> Formula:
    """FLOPs of decode step t: one token that attends to S + t positions of the cache.

    Examples
    --------
    >>> decode_step().expr.subs(STEP, 1).has(STEP)
    False
    """
    model = transformer(role)
    work = forward_work(model, S + STEP, Attention.DENSE)
    return Formula(
        "C_dec_step", rf"C_{{\mathrm{{dec}}}}^{{t}}({role.latex})", body(model, work) + work["vocabulary"],
        Quantity.WORK,
        "FLOPs of decode step t per rollout", "Table III", role, "token",
        assumptions=(FLOPS, CANONICAL, "one query row: nothing to halve"), note=_note(role),
    )  # fmt: skip


@cache
def decode(role: Role = Role.POLICY) -> Formula:
    """C_dec^roll: FLOPs of the T - 1 decode steps of a rollout.

    Examples
    --------
    >>> decode().evaluate(L=1, d=2, d_ff=8, V=10, S=3, T=2)  # 2 (16 + 32 + 2*4*2) + 40
    168
    """
    step = decode_step(role)
    return Formula(
        "C_dec_roll", rf"C_{{\mathrm{{dec}}}}^{{\mathrm{{roll}}}}({role.latex})",
        sympy.Sum(step.expr, (STEP, 1, T - 1)), Quantity.WORK,
        "FLOPs of decode per rollout: T - 1 tokens, one after the other, with a KV cache", "Table III", role,
        "rollout", assumptions=step.assumptions, note=_note(role),
    )  # fmt: skip


@cache
def generation(role: Role = Role.POLICY) -> Formula:
    """C_gen^roll: prefill plus decode of one rollout.

    Examples
    --------
    >>> generation().evaluate(L=1, d=2, d_ff=8, V=10, S=3, T=2)
    532
    """
    parts = (prefill(role), decode(role))
    return Formula(
        "C_gen_roll", rf"C_{{\mathrm{{gen}}}}^{{\mathrm{{roll}}}}({role.latex})",
        sympy.Add(*(part.handle for part in parts)), Quantity.WORK, "FLOPs of generating one rollout",
        "Table III", role, "rollout", asymptotic=m * forward(role).handle,
        where=(*parts, forward(role)), assumptions=parts[1].assumptions, note=_note(role),
    )  # fmt: skip


@cache
def depth_forward(role: Role, context: sympy.Expr = m) -> Formula:
    """D_f: depth of a forward pass, L (4 log d + log d_ff + log(S+T) - log h) + log d.

    Examples
    --------
    >>> depth_forward(Role.POLICY).evaluate(L=2, d=256, d_ff=1024, h=4, m=128)
    102.0
    """
    model = transformer(role)
    return Formula(
        "D_f", rf"D_f({role.latex})", forward_depth(model, context).total, Quantity.DEPTH,
        "critical path of a forward pass, unbounded parallelism", "Table III; constants from appendix B-C1",
        role, "pass", asymptotic=model.L * (Log2(model.d) + Log2(context)) + Log2(model.d),
        assumptions=("reductions of matrix products only: no softmax, norm or collective",),
        note=_note(role, DERIVED_DEPTH),
    )  # fmt: skip


@cache
def depth_forward_tp(role: Role, context: sympy.Expr = m) -> Formula:
    """D_f^TP: depth of a forward pass under tensor parallelism of degree P_t.

    Examples
    --------
    >>> depth_forward_tp(Role.POLICY).evaluate(L=2, d=256, d_ff=1024, h=4, m=128, P_t=4)  # 102 - 2*4 - 2
    92.0
    """
    model = transformer(role)
    shard = Log2(model.d / P_t)
    return Formula(
        "D_f_tp", rf"D_f^{{\mathrm{{TP}}}}({role.latex})", forward_depth(model, context, P_t).total,
        Quantity.DEPTH, "critical path of a forward pass, tensor-parallel degree P_t",
        "Table III; constants from appendix B-C4", role, "pass",
        asymptotic=model.L * (shard + Log2(context)) + shard,
        assumptions=("collectives left out", "only the two row-parallel products of a layer reduce less"),
        note=_note(role, "The Big-O form divides every d by P_t; the constants show that two of six shrink."),
    )  # fmt: skip


@cache
def depth_backward(role: Role, sequences: sympy.Expr = B) -> Formula:
    """D_b: depth of a backward pass, D_f plus the weight gradient's sum over all tokens.

    Parameters
    ----------
    role : Role
        The model.
    sequences : sympy.Expr
        Sequences of the batch over which the gradient is summed.

    Examples
    --------
    >>> depth_backward(Role.POLICY).evaluate(L=2, d=256, d_ff=1024, h=4, m=128, B=8)  # 102 + log2(1024)
    112.0
    """
    part = depth_forward(role)
    return Formula(
        "D_b", _over_batch("b", role, sequences), part.handle + Log2(sequences * m), Quantity.DEPTH,
        "critical path of a backward pass", "Table III", role, "pass",
        asymptotic=part.handle + Log2(sequences * m), where=(part,),
        assumptions=(*part.assumptions, "the branch to the weights counted after the one to the activations"),
        note=_note(role),
    )  # fmt: skip


@cache
def depth_training(role: Role, sequences: sympy.Expr = B) -> Formula:
    """D_tr: forward then backward.

    Examples
    --------
    >>> depth_training(Role.POLICY).evaluate(L=2, d=256, d_ff=1024, h=4, m=128, B=8)
    214.0
    """
    parts = (depth_forward(role), depth_backward(role, sequences))
    return Formula(
        "D_tr", _over_batch(r"{\mathrm{tr}}", role, sequences), sympy.Add(*(part.handle for part in parts)),
        Quantity.DEPTH, "critical path of a training pass", "Table III", role, "pass", where=parts,
        asymptotic=parts[1].handle,
        assumptions=parts[1].assumptions, note=_note(role),
    )  # fmt: skip


def _over_batch(mark: str, role: Role, sequences: sympy.Expr) -> str:
    # the batch is part of the name: D_b over B sequences and over B K are two quantities
    batch = "" if sequences == B else rf";\,{sympy.latex(sequences, symbol_names=_BATCH_NAMES)}"
    return rf"D_{mark}({role.latex}{batch})"


_BATCH_NAMES = {symbol("B_pairs"): r"B_{\mathrm{pairs}}"}


@cache
def depth_generation(role: Role = Role.POLICY) -> Formula:
    """D_gen: depth of generating one rollout, a prefill and T - 1 decode steps in a row.

    Examples
    --------
    >>> depth_generation().evaluate(L=2, d=256, d_ff=1024, h=4, S=128, T=1)
    102.0
    """
    first, step = (forward_depth(transformer(role), context).total for context in (S, S + STEP))
    return Formula(
        "D_gen", rf"D_{{\mathrm{{gen}}}}({role.latex})", first + sympy.Sum(step, (STEP, 1, T - 1)),
        Quantity.DEPTH, "critical path of one rollout: tokens wait for each other", "Table III", role,
        "rollout", asymptotic=T * depth_forward(role).handle, where=(depth_forward(role),),
        assumptions=depth_forward(role).assumptions, note=_note(role, DERIVED_DEPTH),
    )  # fmt: skip


@cache
def depth_generation_tp(role: Role = Role.POLICY) -> Formula:
    """D_gen^TP: depth of generating one rollout under tensor parallelism of degree P_t.

    Examples
    --------
    >>> depth_generation_tp().evaluate(L=2, d=256, d_ff=1024, h=4, S=128, T=1, P_t=4)
    92.0
    """
    first, step = (forward_depth(transformer(role), context, P_t).total for context in (S, S + STEP))
    return Formula(
        "D_gen_tp", rf"D_{{\mathrm{{gen}}}}^{{\mathrm{{TP}}}}({role.latex})",
        first + sympy.Sum(step, (STEP, 1, T - 1)), Quantity.DEPTH,
        "critical path of one rollout, tensor-parallel degree P_t", "Table IX; constants from appendix B-C4", role,
        "rollout", asymptotic=T * depth_forward_tp(role).handle, where=(depth_forward_tp(role),),
        assumptions=depth_forward_tp(role).assumptions, note=_note(role, DERIVED_DEPTH),
    )  # fmt: skip


@cache
def parameter_count(role: Role) -> Formula:
    """|M|: parameters of a model.

    Examples
    --------
    >>> parameter_count(Role.REWARD).evaluate(L=1, d=2, d_ff=8, V=10)  # 16 + 32 + 20 + 2
    70
    """
    model = transformer(role)
    counts = parameters(model)
    return Formula(
        "params", rf"|{role.latex}|", body(model, counts) + heads(counts), Quantity.MEMORY,
        "parameters: projections, vocabulary matrix (once), scalar head", "Table III", role, "model",
        assumptions=(CANONICAL, "no biases, norms or positions; one vocabulary matrix"),
        note=ADDED if role in (Role.COST_MODEL, Role.COST_CRITIC) else None,
    )  # fmt: skip


@cache
def activation_memory(role: Role) -> Formula:
    """M_Act: elements kept per token for the backward pass, Theta(L d) with a constant of one.

    Examples
    --------
    >>> activation_memory(Role.POLICY).evaluate(L=32, d=4096)
    131072
    """
    kept = activations(transformer(role))
    return Formula(
        "M_Act", rf"M_{{\mathrm{{Act}}}}({role.latex})", kept, Quantity.MEMORY,
        "activations kept per token in training", "Table III", role, "token", asymptotic=kept, landau="Theta",
        assumptions=("one hidden state per layer and token: a constant of one", "no activation checkpointing"),
        note=_note(role),
    )  # fmt: skip


@cache
def inference_memory(role: Role) -> Formula:
    """M_Inf: elements of the forward-only buffer per token, Theta(d) with a constant of one.

    Examples
    --------
    >>> inference_memory(Role.REWARD).evaluate(d=4096)
    4096
    """
    kept = inference_buffer(transformer(role))
    return Formula(
        "M_Inf", rf"M_{{\mathrm{{Inf}}}}({role.latex})", kept, Quantity.MEMORY,
        "buffer of a forward-only pass per token", "Table III", role, "token", asymptotic=kept, landau="Theta",
        assumptions=("layers reuse one buffer: a constant of one", "the score matrix is never stored whole"),
        note=_note(role),
    )  # fmt: skip


@cache
def cache_memory(role: Role = Role.POLICY) -> Formula:
    """M_KV: elements of keys and values of one rollout.

    Examples
    --------
    >>> cache_memory().evaluate(L=32, d=4096, S=1, T=1)
    524288
    """
    return Formula(
        "M_KV", rf"M_{{\mathrm{{KV}}}}({role.latex})", kv_cache(transformer(role), m), Quantity.MEMORY,
        "keys and values of one rollout of S + T tokens", "Table III", role, "rollout",
        assumptions=("multi-head attention: as many key as query heads",), note=_note(role),
    )  # fmt: skip
