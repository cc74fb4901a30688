"""The six insights of section II-F as statements about the formulas, with the numbers that bear them out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import sympy

from rlmkb.notation import Role, Stage, symbol
from rlmkb.theory import building_blocks as blocks
from rlmkb.theory.algorithms import DPO, GRPO, PPO
from rlmkb.theory.evaluate import evaluate
from rlmkb.theory.formula import Formula, Quantity
from rlmkb.theory.iteration import BASELINE, TABLE_IV, iteration_cost, stage_cost

B, K, T, m = (symbol(name) for name in ("B", "K", "T", "m"))
ROLLOUT_TOKENS = B * K * m


@dataclass(frozen=True)
class Measure:
    """A number that an insight rests on: an expression and what it means."""

    meaning: str
    expr: sympy.Expr


@dataclass(frozen=True)
class Insight:
    """One insight: the claim, the measures behind it, and when it is true.

    Parameters
    ----------
    id, title, claim : str
        In our words.
    measures : tuple of Measure
        Expressions in the symbols of table I.
    test : callable
        From the measures' values to whether the claim holds there.
    source : str
        Where the paper states it.
    caveat : str, optional
        Where we read it otherwise than the paper.
    """

    id: str
    title: str
    claim: str
    measures: tuple[Measure, ...]
    test: Callable[..., bool]
    source: str = "Section II-F"
    caveat: str | None = None

    def values(self, at: Mapping[str, object]) -> dict[str, float]:
        """Each measure's value at a point, by its meaning.

        Examples
        --------
        >>> point = {"L": 2, "d": 256, "d_ff": 1024, "h": 4, "V": 512, "B": 4, "K": 2, "S": 32, "T": 96}
        >>> INSIGHTS["frozen"].values(point)["numbers kept per trained parameter"]
        4
        """
        return {measure.meaning: evaluate(measure.expr, at) for measure in self.measures}

    def holds(self, at: Mapping[str, object]) -> bool:
        """Whether the claim is true at a point.

        Examples
        --------
        >>> point = {"L": 2, "d": 256, "d_ff": 1024, "h": 4, "V": 512, "B": 4, "K": 2, "S": 32, "T": 96, "B_pairs": 4}
        >>> all(insight.holds(point) for insight in INSIGHTS.values())
        True
        """
        return bool(self.test(*self.values(at).values()))


def _stage(algorithm, stage: Stage, quantity: Quantity, reading=BASELINE) -> sympy.Expr:
    return stage_cost(algorithm, stage, quantity, reading).explicit


def _total(algorithm, quantity: Quantity) -> sympy.Expr:
    return iteration_cost(algorithm, quantity).explicit


def _explicit(formula: Formula) -> sympy.Expr:
    return formula.explicit


def critic_gap() -> sympy.Expr:
    """Work of PPO less that of GRPO, per rollout token: what the critic costs.

    Examples
    --------
    >>> from rlmkb.theory.derivations import difference
    >>> critic = Role.CRITIC
    >>> difference(critic_gap(), 2 * blocks.forward(critic).explicit + blocks.backward(critic).explicit)
    0
    """
    gap = _total(PPO, Quantity.WORK) - _total(GRPO, Quantity.WORK)
    return sympy.simplify(gap / ROLLOUT_TOKENS)


def _autoregression() -> Insight:
    depth = _stage(PPO, Stage.GENERATION, Quantity.DEPTH)
    return Insight(
        "autoregression",
        "Decoding is a chain that nothing outside it can shorten",
        "The depth of generation grows with T; that of assessment and training only with its logarithm.",
        (
            Measure("generation depth over one forward pass", depth / _explicit(blocks.depth_forward(Role.POLICY))),
            Measure("generation depth over assessment and training depth", depth
                    / (_stage(PPO, Stage.ASSESSMENT, Quantity.DEPTH) + _stage(PPO, Stage.TRAINING, Quantity.DEPTH))),
            Measure("response length", T),
        ),
        lambda passes, ratio, length: passes <= length and passes > length * 0.5 and ratio > 1,
    )  # fmt: skip


def _not_the_bottleneck() -> Insight:
    work = _stage(PPO, Stage.GENERATION, Quantity.WORK) / _total(PPO, Quantity.WORK)
    depth = _stage(PPO, Stage.GENERATION, Quantity.DEPTH) / _total(PPO, Quantity.DEPTH)
    return Insight(
        "bottleneck",
        "Most of the depth is not most of the work",
        "Generation has nearly all of the depth and a small part of the work, so overlap and batching decide.",
        (Measure("generation's share of the depth", depth), Measure("generation's share of the work", work)),
        lambda depth_share, work_share: depth_share > 0.5 > work_share,
    )


def _models() -> Insight:
    forward, back = (_explicit(part(Role.CRITIC)) for part in (blocks.forward, blocks.backward))
    return Insight(
        "models",
        "The auxiliary models set the profile",
        "PPO costs the critic more than GRPO: two forward passes and a backward pass per token.",
        (
            Measure("PPO less GRPO, per token, over the critic's forward pass", critic_gap() / forward),
            Measure("the paper's C_f + C_b over the critic's forward pass", (forward + back) / forward),
            Measure("depth of GRPO over depth of DPO",
                    _total(GRPO, Quantity.DEPTH) / _total(DPO, Quantity.DEPTH)),
        ),
        lambda gap, printed, ratio: abs(gap - 4) < 1e-9 and abs(printed - 3) < 1e-9 and ratio > 1,
        caveat="The paper calls the gap precisely C_f + C_b; its own table IV gives 2 C_f + C_b.",
    )  # fmt: skip


def _frozen() -> Insight:
    trained = stage_cost(PPO, Stage.TRAINING, Quantity.MEMORY, BASELINE)
    weights = _explicit(blocks.parameter_count(Role.POLICY)) + _explicit(blocks.parameter_count(Role.CRITIC))
    activations = ROLLOUT_TOKENS * sum(_explicit(blocks.activation_memory(role)) for role in (Role.POLICY, Role.CRITIC))
    frozen = sum(_explicit(blocks.parameter_count(role)) for role in (Role.REFERENCE, Role.REWARD))
    return Insight(
        "frozen",
        "Frozen models are free to move",
        "A trained model keeps four numbers per parameter and its activations; a frozen one keeps its weights.",
        (
            Measure("numbers kept per trained parameter", sympy.simplify((trained.explicit - activations) / weights)),
            Measure("elements of training over elements of both frozen models", trained.explicit / frozen),
        ),
        lambda states, ratio: states == 4 and ratio > 1,
    )


def _granularity() -> Insight:
    steps = 8
    outcome = _stage(GRPO, Stage.ASSESSMENT, Quantity.WORK)
    process = _stage(GRPO.with_process_reward(steps), Stage.ASSESSMENT, Quantity.WORK)
    verifier = _stage(GRPO.with_verifier(), Stage.ASSESSMENT, Quantity.WORK)
    return Insight(
        "granularity",
        "Finer rewards cost more assessment",
        f"A pass per step for {steps} steps multiplies the reward model's work; a verifier has none.",
        (
            Measure(f"assessment work, {steps} scored steps over one outcome", process / outcome),
            Measure("assessment work, verifier over one outcome", verifier / outcome),
        ),
        lambda process_ratio, verifier_ratio: process_ratio > 1 > verifier_ratio,
    )


def _dpo() -> Insight:
    forward, back = (_explicit(part(Role.POLICY)) for part in (blocks.forward, blocks.backward))
    supervised = symbol("B_pairs") * m * _explicit(blocks.training(Role.POLICY))
    printed = sum(_stage(DPO, stage, Quantity.WORK, TABLE_IV) for stage in Stage)
    once = symbol("B_pairs") * m * (2 * forward + back)
    return Insight(
        "dpo",
        "DPO is like supervised fine-tuning, and dearer",
        "Per sequence it adds a reference pass; per pair there are two sequences.",
        (
            Measure("W_DPO of section II-F over one supervised pass", once / supervised),
            Measure("table IV's sum of stages over one supervised pass", printed / supervised),
            Measure("both sequences of the pair counted, over one supervised pass", 2 * once / supervised),
        ),
        lambda section, table, pair: 1 < section < table < pair,
        caveat="Table IV counts the policy's forward pass in two stages, and one sequence per pair.",
    )


INSIGHTS: dict[str, Insight] = {
    insight.id: insight
    for insight in (_autoregression(), _not_the_bottleneck(), _models(), _frozen(), _granularity(), _dpo())
}
