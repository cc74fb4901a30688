"""Pipeline schedules: idle time, live activations, copies of the weights. Beyond the paper.

Times are those of one micro-batch on one stage: forward `t_f`, backward for activations `t_b`, for weights `t_w`.
The orders behind the formulas, and a simulation that plays them, are in `rlmkb.theory.timeline`.
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
        Idle time of the stage that waits most, between its first and its last piece of work in a step.
    live : sympy.Expr
        Micro-batches of which a stage holds activations at most, until their weight gradients are done; pieces of
        a stage count as parts.
    weight_copies : int
        Copies of a stage's weights on a rank.
    source : str
        Bibliography key of where it is described.
    note : str
        What it asks for, and where the formulas hold.
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


_FILL = (P_p - 1) * (t_f + t_b + t_w)

SCHEDULES: dict[str, Schedule] = {
    schedule.id: schedule
    for schedule in (
        Schedule("gpipe", "GPipe", _FILL, n, 1, "huang2019gpipe",
                 "All forward passes, then all backward passes: every micro-batch stays live."),
        Schedule("1f1b", "1F1B", _FILL, sympy.Min(P_p, n), 1, "narayanan2021memory",
                 "A backward pass as soon as it can run: the bubble of GPipe, fewer live micro-batches. With a flush "
                 "at the end of the step; PipeDream, without one, stashes a copy of the weights per live micro-batch."),
        Schedule("interleaved", "interleaved 1F1B", _FILL / v, sympy.Min(n, P_p + (P_p - 1) / v), 1,
                 "narayanan2021efficient",
                 "v chunks of layers a stage, at least 2: bubble over v, about v times the messages. n is a multiple "
                 "of P_p."),
        Schedule("zb-h1", "zero bubble H1", (P_p - 1) * (t_f + t_b - t_w), sympy.Min(P_p, n), 1, "qi2024zero",
                 "Weight gradients fill gaps at the memory of 1F1B: a third of its bubble where the three times are "
                 "equal, n at least 2 P_p - 1."),
        Schedule("zb-h2", "zero bubble H2", (P_p - 1) * (t_f + t_b - 2 * t_w), sympy.Min(2 * P_p - 1, n), 1,
                 "qi2024zero", "More warm-up micro-batches: no gap where the three times are equal, n at least "
                 "2 P_p - 1. A stage then starts and ends later than the one before it."),
        # of the source's F&B, a forward and a backward pass hidden in each other, we gain nothing: F + B
        Schedule("dualpipe", "DualPipe", (P_p / 2 - 1) * (t_f + 2 * t_b - t_w), P_p + 1, 2, "liu2024deepseekv3",
                 "From both ends at once, P_p even, n even and at least 2 P_p: two copies of the weights; what it is "
                 "made for, hiding communication, is not in the formula. It is exact where the three times are equal."),
    )
}  # fmt: skip
