"""PPO, GRPO and DPO: one list each of model invocations by stage.

Work, depth and memory (table IV), the drawings and the catalogue's entries all follow from these lists. A variant is
an edit of a list, not a new table.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

import sympy

from rlmkb.errors import InputError
from rlmkb.notation import Role, Stage, symbol

ROLLOUTS = symbol("B") * symbol("K")
PAIRS = symbol("B_pairs")
ONE = sympy.S.One


class Call(StrEnum):
    """How a model is invoked."""

    GENERATE = "generate"
    FORWARD = "forward"
    TRAIN = "train"
    VERIFY = "verify"


@dataclass(frozen=True)
class Invocation:
    """One model run over one batch.

    Parameters
    ----------
    role, stage, call
        Who runs, when, and how.
    examples : sympy.Expr
        Rollouts (B K) or preference pairs.
    sequences_per_example : int
        Two for a preference pair (preferred and dispreferred response), else one.
    repeats : sympy.Expr
        How often it runs in one iteration: epochs, which follow each other, or steps scored, which need not.
    keeps_activations : bool
        A forward pass whose activations wait for a backward pass in a later stage.
    purpose : str
        What the result is used for.
    """

    role: Role
    stage: Stage
    call: Call
    examples: sympy.Expr = ROLLOUTS
    sequences_per_example: int = 1
    repeats: sympy.Expr = ONE
    keeps_activations: bool = False
    purpose: str = ""

    @property
    def sequences(self) -> sympy.Expr:
        """Sequences of one run."""
        return self.examples * self.sequences_per_example


@dataclass(frozen=True)
class Algorithm:
    """An algorithm as its list of invocations; edits return a new one.

    Examples
    --------
    >>> [call.role.value for call in GRPO.at(Stage.ASSESSMENT)]
    ['reference', 'reward']
    >>> PPO.without(Role.CRITIC).invocations == GRPO.invocations
    True
    """

    id: str
    name: str
    invocations: tuple[Invocation, ...]
    online: bool = True
    edits: tuple[str, ...] = ()

    def at(self, stage: Stage) -> tuple[Invocation, ...]:
        """The invocations of a stage, in order."""
        return tuple(call for call in self.invocations if call.stage is stage)

    @property
    def roles(self) -> tuple[Role, ...]:
        """The models that take part, in order of first use."""
        return tuple(dict.fromkeys(call.role for call in self.invocations))

    @property
    def trained_roles(self) -> tuple[Role, ...]:
        """The models whose weights change."""
        trained = (call.role for call in self.invocations if call.call is Call.TRAIN)
        return tuple(dict.fromkeys(trained))

    def without(self, role: Role) -> "Algorithm":
        """Leave a model out, for example the critic or the reference.

        Raises
        ------
        InputError
            If the algorithm does not use it, or it is the policy.
        """
        self._require(role)
        if role is Role.POLICY:
            raise InputError("the policy cannot be left out: it is what is trained")
        kept = tuple(call for call in self.invocations if call.role is not role)
        return self._edited(f"without {role.value.replace('_', ' ')}", kept)

    def with_frozen(self, role: Role, purpose: str = "") -> "Algorithm":
        """Add a frozen model's forward pass to assessment, for example a cost model.

        Examples
        --------
        >>> [role.value for role in PPO.with_frozen(Role.COST_MODEL).roles][-1]
        'cost_model'
        """
        added = self._like_assessment(role, purpose)
        return self._edited(f"with {role.value.replace('_', ' ')}", (*self.invocations, added))

    def with_trained(self, role: Role, purpose: str = "") -> "Algorithm":
        """Add a second critic: a forward pass in assessment, and its own training.

        Examples
        --------
        >>> [role.value for role in PPO.with_trained(Role.COST_CRITIC).trained_roles]
        ['policy', 'critic', 'cost_critic']
        """
        forward = self._like_assessment(role, purpose)
        train = replace(forward, stage=Stage.TRAINING, call=Call.TRAIN)
        return self._edited(f"with {role.value.replace('_', ' ')}", (*self.invocations, forward, train))

    def with_epochs(self, epochs: int | sympy.Expr) -> "Algorithm":
        """Train several times on the same batch.

        Examples
        --------
        >>> PPO.with_epochs(4).at(Stage.TRAINING)[0].repeats
        4
        """
        count = _count("epochs", epochs)
        return self._map(
            f"{count} epochs", lambda call: call.stage is Stage.TRAINING, lambda call: {"repeats": call.repeats * count}
        )

    def with_verifier(self) -> "Algorithm":
        """A program in place of the reward model: no matrix product, no weights.

        Examples
        --------
        >>> [call.call.value for call in GRPO.with_verifier().at(Stage.ASSESSMENT)]
        ['forward', 'verify']
        """
        self._require(Role.REWARD)
        return self._map(
            "verifier in place of the reward model",
            lambda call: call.role is Role.REWARD,
            lambda call: {"role": Role.VERIFIER, "call": Call.VERIFY},
        )

    def with_process_reward(self, steps: int | sympy.Expr) -> "Algorithm":
        """A process reward model that runs once per reasoning step, over the whole sequence each time.

        One pass that scores all steps at once is `steps` of one. Passes over growing prefixes cost less, by about
        half for many equal steps.
        """
        self._require(Role.REWARD)
        count = _count("steps", steps)
        return self._map(
            f"process reward model scoring {count} steps",
            lambda call: call.role is Role.REWARD,
            lambda call: {"repeats": call.repeats * count},
        )

    def with_recomputed_log_probs(self) -> "Algorithm":
        """The policy scores its own rollouts again in assessment, instead of trusting the sampler's numbers.

        Examples
        --------
        >>> [call.role.value for call in GRPO.with_recomputed_log_probs().at(Stage.ASSESSMENT)]
        ['reference', 'reward', 'policy']
        """
        added = self._like_assessment(Role.POLICY, "log-probabilities under the old policy")
        return self._edited("with recomputed log-probabilities", (*self.invocations, added))

    def with_extra_rollouts(self, factor: int | sympy.Expr) -> "Algorithm":
        """Generate and assess `factor` times the rollouts that are trained on, for example to filter them.

        Examples
        --------
        >>> GRPO.with_extra_rollouts(2).at(Stage.GENERATION)[0].examples
        2*B*K
        """
        factor = sympy.sympify(factor)
        if factor.is_number and not factor >= 1:
            raise InputError(f"factor is {factor}; give a number of at least 1")
        return self._map(
            f"{factor} times the rollouts before filtering",
            lambda call: call.stage is not Stage.TRAINING,
            lambda call: {"examples": factor * call.examples},
        )

    def with_sequences_per_example(self, count: int) -> "Algorithm":
        """Sequences per training example, for example one labelled response (KTO) in place of a pair.

        Examples
        --------
        >>> DPO.with_sequences_per_example(1).invocations[0].sequences
        B_pairs
        """
        return self._map(
            f"{_count('sequences', count)} sequence{'s' if count > 1 else ''} per example",
            lambda call: True,
            lambda call: {"sequences_per_example": int(count)},
        )

    def _require(self, role: Role) -> None:
        if role not in self.roles:
            have = ", ".join(used.value for used in self.roles)
            raise InputError(f"{self.name} does not use the {role.value}; it uses: {have}")

    def _like_assessment(self, role: Role, purpose: str) -> Invocation:
        like = next(iter(self.at(Stage.ASSESSMENT)), self.invocations[0])
        return replace(
            like, role=role, stage=Stage.ASSESSMENT, call=Call.FORWARD, repeats=ONE, keeps_activations=False,
            purpose=purpose,
        )  # fmt: skip

    def _map(self, edit: str, chosen: Callable[[Invocation], bool], change: Callable) -> "Algorithm":
        calls = tuple(replace(call, **change(call)) if chosen(call) else call for call in self.invocations)
        return self._edited(edit, calls)

    def _edited(self, edit: str, invocations: tuple[Invocation, ...]) -> "Algorithm":
        return replace(self, invocations=invocations, edits=(*self.edits, edit))


def _count(name: str, value: int | sympy.Expr) -> sympy.Expr:
    value = sympy.sympify(value)
    if value.is_number and not (value.is_Integer and value >= 1):
        raise InputError(f"{name} is {value}; give an integer of at least 1, or a symbol")
    return value


_ASSESSMENT_OF_ROLLOUTS = (
    Invocation(Role.REFERENCE, Stage.ASSESSMENT, Call.FORWARD, purpose="log-probabilities for the KL term"),
    Invocation(Role.REWARD, Stage.ASSESSMENT, Call.FORWARD, purpose="one reward per rollout"),
)
_GENERATE = Invocation(Role.POLICY, Stage.GENERATION, Call.GENERATE, purpose="rollouts and their log-probabilities")
_TRAIN_POLICY = Invocation(Role.POLICY, Stage.TRAINING, Call.TRAIN, purpose="policy update")

PPO = Algorithm(
    "ppo",
    "PPO",
    (
        _GENERATE,
        *_ASSESSMENT_OF_ROLLOUTS,
        Invocation(Role.CRITIC, Stage.ASSESSMENT, Call.FORWARD, purpose="a value per token, for advantages"),
        _TRAIN_POLICY,
        Invocation(Role.CRITIC, Stage.TRAINING, Call.TRAIN, purpose="value regression"),
    ),
)
GRPO = Algorithm("grpo", "GRPO", (_GENERATE, *_ASSESSMENT_OF_ROLLOUTS, _TRAIN_POLICY))
DPO = Algorithm(
    "dpo",
    "DPO",
    (
        Invocation(Role.REFERENCE, Stage.ASSESSMENT, Call.FORWARD, PAIRS, 2, purpose="reference log-ratios"),
        # table IV prints this forward pass here and inside C_tr; the paper's own W_DPO counts it once
        Invocation(Role.POLICY, Stage.ASSESSMENT, Call.FORWARD, PAIRS, 2, keeps_activations=True,
                   purpose="policy log-ratios"),
        Invocation(Role.POLICY, Stage.TRAINING, Call.TRAIN, PAIRS, 2, purpose="policy update"),
    ),
    online=False,
)  # fmt: skip

ALGORITHMS: dict[str, Algorithm] = {algorithm.id: algorithm for algorithm in (PPO, GRPO, DPO)}
