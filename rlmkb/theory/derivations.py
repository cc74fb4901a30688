"""Appendices B-A and B-B, step by step; sympy checks that each line follows from the one before.

A step is either an identity, which must hold exactly, or an approximation, whose error is kept beside it.
"""

from dataclasses import dataclass
from functools import cached_property

import sympy

from rlmkb.notation import Role, symbol
from rlmkb.theory import building_blocks as blocks
from rlmkb.theory.formula import to_latex
from rlmkb.theory.functions import Log2, close_sums, expand_logs
from rlmkb.theory.transformer import layer_chain, transformer

POLICY = transformer(Role.POLICY)
L, d, d_ff, h, V = POLICY.L, POLICY.d, POLICY.d_ff, POLICY.h, POLICY.V
S, T, m, B, K = (symbol(name) for name in ("S", "T", "m", "B", "K"))
i = sympy.Symbol("i", integer=True, positive=True)


def difference(left: sympy.Expr, right: sympy.Expr) -> sympy.Expr:
    """left - right, simplified with logarithms expanded and sums closed.

    Examples
    --------
    >>> difference(Log2(d * m), Log2(d) + Log2(m))
    0
    """
    return sympy.simplify(sympy.expand(expand_logs(close_sums(left - right))))


@dataclass(frozen=True)
class Step:
    """One line: an expression, and why it follows from the line before.

    `approximate` marks a line that leaves something out of the one before.
    """

    reason: str
    expr: sympy.Expr
    approximate: bool = False

    @property
    def latex(self) -> str:
        """LaTeX of the expression."""
        return to_latex(self.expr)


@dataclass(frozen=True)
class Derivation:
    """A chain of steps that ends at a formula of the theory.

    Examples
    --------
    >>> DERIVATIONS["forward"].holds
    True
    """

    id: str
    title: str
    left: str
    source: str
    steps: tuple[Step, ...]
    result: sympy.Expr

    @cached_property
    def errors(self) -> tuple[sympy.Expr, ...]:
        """What each step changes against the one before; zero for an identity."""
        pairs = zip(self.steps, self.steps[1:], strict=False)
        return (sympy.Integer(0), *(difference(after.expr, before.expr) for before, after in pairs))

    @property
    def broken(self) -> tuple[Step, ...]:
        """Steps that claim to be identities and are not; empty where all hold."""
        pairs = zip(self.steps, self.errors, strict=True)
        return tuple(step for step, error in pairs if error != 0 and not step.approximate)

    @property
    def reaches_result(self) -> bool:
        """Whether the last line is the formula that the rest of the project uses."""
        return difference(self.steps[-1].expr, self.result) == 0

    @property
    def holds(self) -> bool:
        """Whether all identities hold and the result is reached."""
        return not self.broken and self.reaches_result

    @property
    def latex(self) -> str:
        """The chain as one aligned equation."""
        signs = ["=", *(r"\approx" if step.approximate else "=" for step in self.steps[1:])]
        lines = [f"&{sign} {step.latex}" for sign, step in zip(signs, self.steps, strict=True)]
        return rf"\begin{{aligned}}{self.left} " + r" \\ ".join(lines) + r"\end{aligned}"

    def _repr_latex_(self) -> str:
        return f"$$ {self.latex} $$"


def matrices() -> dict[str, tuple[sympy.Expr, sympy.Expr]]:
    """The weight matrices of one layer and their shapes.

    Examples
    --------
    >>> len(matrices())
    6
    """
    square = dict.fromkeys(("query", "key", "value", "output"), (d, d))
    return {**square, "up": (d, d_ff), "down": (d_ff, d)}


def _per_weight(factor: int) -> sympy.Expr:
    return factor * sympy.Add(*(rows * columns for rows, columns in matrices().values()))


def _forward() -> Derivation:
    # the i-th token sees i positions; scores and weighted values cost 2 d each per position
    mean_attention = sympy.Sum(4 * i * d, (i, 1, m)) / m
    return Derivation(
        "forward", "Forward pass per token", r"C_f^{\mathrm{tok}}(\pi_\theta)", "Appendix B-A1",
        (
            Step("Two FLOPs per weight and token, the mean over causal positions for attention, and the logits.",
                 L * (_per_weight(2) + mean_attention) + 2 * V * d),
            Step("The mean of i over a sequence is (m + 1)/2.",
                 L * (_per_weight(2) + 2 * (m + 1) * d) + 2 * V * d),
            Step("A token's attention to itself is dropped: m + 1 becomes m.",
                 L * (_per_weight(2) + 2 * m * d) + 2 * V * d, approximate=True),
            Step("Collect the layer.", blocks.forward(Role.POLICY).expr),
        ),
        blocks.forward(Role.POLICY).explicit,
    )  # fmt: skip


def _backward() -> Derivation:
    n, a, b = sympy.symbols("n a b", integer=True, positive=True)
    to_activations, to_weights = 2 * n * b * a, 2 * a * n * b
    return Derivation(
        "backward", "Backward pass of one product Y = X W", r"C_b", "Appendix B-A2",
        (
            Step("X is n x a, W is a x b: one product for the gradient of X, one for that of W.",
                 sympy.Add(to_activations, to_weights, evaluate=False)),
            Step("Each is as large as the forward product.", 2 * (2 * n * a * b)),
        ),
        2 * (2 * n * a * b),
    )  # fmt: skip


def _prefill() -> Derivation:
    return Derivation(
        "prefill", "Prefill of one prompt", r"C_{\mathrm{pf}}^{\mathrm{roll}}(\pi_\theta)", "Appendix B-A3",
        (
            Step("S tokens through all weights, causal attention token by token, logits of the last token only.",
                 L * (S * _per_weight(2) + sympy.Sum(4 * i * d, (i, 1, S))) + 2 * V * d),
            Step("Sum over positions.", L * (S * _per_weight(2) + 2 * S * (S + 1) * d) + 2 * V * d),
            Step("S + 1 becomes S.", L * (S * _per_weight(2) + 2 * S**2 * d) + 2 * V * d, approximate=True),
            Step("Collect.", blocks.prefill().expr),
        ),
        blocks.prefill().explicit,
    )  # fmt: skip


def decode_closed_form() -> sympy.Expr:
    """The appendix's closed form of the decode sum.

    Examples
    --------
    >>> difference(decode_closed_form(), blocks.decode().explicit)
    0
    """
    context = (T - 1) * S + (T - 1) * T / 2
    return 2 * (T - 1) * L * (4 * d**2 + 2 * d * d_ff) + 4 * L * d * context + 2 * (T - 1) * V * d


def _decode() -> Derivation:
    return Derivation(
        "decode", "Decode of one rollout", r"C_{\mathrm{dec}}^{\mathrm{roll}}(\pi_\theta)", "Appendix B-A3",
        (
            Step("T - 1 steps; step t attends to S + t cached positions, nothing to halve.",
                 blocks.decode().expr),
            Step("Split the sum.",
                 (T - 1) * (2 * L * (4 * d**2 + 2 * d * d_ff) + 2 * V * d)
                 + 4 * L * d * sympy.Sum(S + blocks.STEP, (blocks.STEP, 1, T - 1))),
            Step("The sum of S + t is (T - 1) S + (T - 1) T / 2.", decode_closed_form()),
        ),
        blocks.decode().explicit,
    )  # fmt: skip


def _depth() -> Derivation:
    return Derivation(
        "depth", "Depth of a forward pass", r"D_f(\pi_\theta)", "Appendices B-A4 and B-C1",
        (
            Step("Six contractions wait for each other in a layer; the head adds one.",
                 L * sympy.Add(*(Log2(link.length / link.divisor) for link in layer_chain(POLICY, m))) + Log2(d)),
            Step("Split the logarithm of d/h and collect.", blocks.depth_forward(Role.POLICY).expr),
        ),
        blocks.depth_forward(Role.POLICY).explicit,
    )  # fmt: skip


def _depth_generation() -> Derivation:
    step = L * (4 * Log2(d) + Log2(d_ff) - Log2(h)) + Log2(d)
    return Derivation(
        "depth_generation", "Depth of one rollout", r"D_{\mathrm{gen}}(\pi_\theta)", "Appendix B-A4",
        (
            Step("A prefill, then T - 1 decode steps in a row.", blocks.depth_generation().expr),
            Step("Only the reduction over the context changes from step to step.",
                 T * step + L * (Log2(S) + sympy.Sum(Log2(S + blocks.STEP), (blocks.STEP, 1, T - 1)))),
            Step("The sum of logarithms is a log-gamma difference.",
                 close_sums(T * step + L * (Log2(S) + sympy.Sum(Log2(S + blocks.STEP), (blocks.STEP, 1, T - 1))))),
        ),
        blocks.depth_generation().explicit,
    )  # fmt: skip


def _parameters() -> Derivation:
    return Derivation(
        "parameters", "Parameters of the policy", r"|\pi_\theta|", "Appendix B-A5",
        (
            Step("The matrices of all layers and one vocabulary matrix.", L * _per_weight(1) + V * d),
        ),
        blocks.parameter_count(Role.POLICY).explicit,
    )  # fmt: skip


DERIVATIONS: dict[str, Derivation] = {
    derivation.id: derivation
    for derivation in (
        _forward(), _backward(), _prefill(), _decode(), _depth(), _depth_generation(), _parameters(),
    )
}  # fmt: skip


@dataclass(frozen=True)
class Induction:
    """Proof of a closed form of a sum over t from 1 to T - 1, by induction over T."""

    total: sympy.Sum
    closed: sympy.Expr

    @property
    def base(self) -> sympy.Expr:
        """The closed form at T = 1, where the sum is empty: must be zero."""
        return sympy.simplify(self.closed.subs(T, 1))

    @property
    def step(self) -> sympy.Expr:
        """closed(T + 1) - closed(T) less the summand at t = T: must be zero."""
        growth = self.closed.subs(T, T + 1) - self.closed
        return sympy.simplify(growth - self.total.function.subs(blocks.STEP, T))

    @property
    def holds(self) -> bool:
        """Whether base and step are both zero.

        Examples
        --------
        >>> Induction(blocks.decode().expr, decode_closed_form()).holds
        True
        """
        return self.base == 0 and self.step == 0

