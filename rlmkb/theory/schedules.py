"""Pipeline schedules: idle time, live activations, copies of the weights. Beyond the paper.

Times are those of one micro-batch on one stage: forward `t_f`, backward for activations `t_b`, for weights `t_w`.
"""

from dataclasses import dataclass

import sympy

from rlmkb.notation import symbol

P_p = symbol("P_p")
n, v = sympy.symbols("n v", integer=True, positive=True)
t_f, t_b, t_w = sympy.symbols("t_f t_b t_w", positive=True)
LATEX = {n: r"n_\mu", v: "v", t_f: "t_f", t_b: "t_b", t_w: "t_w"}


@dataclass(frozen=True)
class Schedule:
    """One way to order micro-batches in a pipeline.

    Parameters
    ----------
    id, name : str
        Identifier and usual name.
    bubble : sympy.Expr
        Idle time of a stage in one step.
    live : sympy.Expr
        Micro-batches whose activations a stage holds at most.
    weight_copies : int
        Copies of a stage's weights on a rank.
    source : str
        Bibliography key of where it is described.
    note : str
        What it asks for.
    """

    id: str
    name: str
    bubble: sympy.Expr
    live: sympy.Expr
    weight_copies: int
    source: str
    note: str

    @property
    def work_time(self) -> sympy.Expr:
        """Busy time of a stage: all micro-batches, forward and backward."""
        return n * (t_f + t_b + t_w)

    @property
    def bubble_share(self) -> sympy.Expr:
        """Idle time over the whole step.

        Examples
        --------
        >>> SCHEDULES["1f1b"].bubble_share.subs({P_p: 4, n: 12, t_f: 1, t_b: 1, t_w: 1})
        1/5
        """
        return sympy.factor(self.bubble / (self.bubble + self.work_time))


SCHEDULES: dict[str, Schedule] = {
    schedule.id: schedule
    for schedule in (
        Schedule("gpipe", "GPipe", (P_p - 1) * (t_f + t_b + t_w), n, 1, "huang2019gpipe",
                 "All forward passes, then all backward passes: every micro-batch stays live."),
        Schedule("1f1b", "1F1B", (P_p - 1) * (t_f + t_b + t_w), sympy.Min(P_p, n), 1, "narayanan2019pipedream",
                 "A backward pass as soon as it can run: the bubble of GPipe, fewer live micro-batches."),
        Schedule("interleaved", "interleaved 1F1B", (P_p - 1) * (t_f + t_b + t_w) / v,
                 sympy.Min(P_p, n) * (1 + (P_p - 1) / (P_p * v)), 1, "narayanan2021megatron",
                 "v chunks of layers a stage: bubble over v, v times the messages."),
        Schedule("zb-h1", "zero bubble H1", (P_p - 1) * (t_f + t_b - t_w), sympy.Min(P_p, n), 1, "qi2024zero",
                 "Weight gradients fill the gaps, at the memory of 1F1B."),
        Schedule("zb-h2", "zero bubble H2", (P_p - 1) * (t_f + t_b - 2 * t_w), 2 * P_p - 1, 1, "qi2024zero",
                 "More warm-up micro-batches: no gap where the three times are equal."),
        Schedule("dualpipe", "DualPipe", (P_p / 2 - 1) * (t_f + 2 * t_b + 2 * t_w - 3 * t_w), P_p + 1, 2,
                 "deepseek2024v3", "From both ends at once; two copies of the weights; forward hidden in backward."),
    )
}  # fmt: skip
