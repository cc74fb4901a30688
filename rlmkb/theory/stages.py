"""Appendix A as code: each stage a function with typed inputs and outputs, read off an algorithm's invocations.

An iteration is the composition theta -> Gen -> Assess -> Train -> theta'. It type-checks if every input of a stage is
an output of an earlier one or an input of the iteration: a data set, or the weights of a model.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from rlmkb.errors import InputError
from rlmkb.notation import Role, Stage
from rlmkb.theory.algorithms import Algorithm, Call, Invocation
from rlmkb.theory.tables import TextTable


@dataclass(frozen=True)
class Data:
    """A type of value that stages pass on.

    Parameters
    ----------
    name, latex : str
        In words and as appendix A writes it.
    maker : str
        What makes it, for the message when nothing does.
    """

    name: str
    latex: str
    maker: str = "an input of the iteration"


PROMPTS = Data("prompts", "X")
PREFERENCES = Data("preference pairs", r"\{(x,y^w,y^l)\}")
ROLLOUTS = Data("rollouts", r"\mathcal{B}_{\mathrm{roll}}", "the policy in generation")
SAMPLED = Data("sampled log-probabilities", r"\log\pi_\theta", "the policy in generation")
OWN = Data("policy log-probabilities", r"\log\pi_{\theta_{\mathrm{old}}}", "the policy in assessment")
REFERENCE = Data("reference log-probabilities", r"\log\pi_{\mathrm{ref}}", "the reference in assessment")
REWARDS = Data("rewards", "r", "the reward model or a verifier in assessment")
VALUES = Data("values", "v", "the critic in assessment")
COSTS = Data("costs", "c", "the cost model in assessment")
COST_VALUES = Data("cost values", "v^{C}", "the cost critic in assessment")
ADVANTAGES = Data("advantages", "A", "assessment, from rewards")
RETURNS = Data("returns", r"\hat G", "assessment, from rewards and values")
COST_RETURNS = Data("cost returns", r"\hat G^{C}", "assessment, from costs and cost values")

_SCORES = {
    Role.POLICY: OWN, Role.REFERENCE: REFERENCE, Role.REWARD: REWARDS, Role.VERIFIER: REWARDS, Role.CRITIC: VALUES,
    Role.COST_MODEL: COSTS, Role.COST_CRITIC: COST_VALUES,
}  # fmt: skip
_TARGETS = {Role.CRITIC: RETURNS, Role.COST_CRITIC: COST_RETURNS}


@cache
def weights(role: Role) -> Data:
    """The weights of a model, as an input.

    Examples
    --------
    >>> weights(Role.POLICY).latex
    '\\\\pi_\\\\theta'
    """
    return Data(role.value.replace("_", " "), role.latex)


@cache
def updated(role: Role) -> Data:
    """The weights of a model after training: of the same type as before, so iterations compose.

    Examples
    --------
    >>> updated(Role.CRITIC).name
    'next critic'
    """
    return Data(f"next {weights(role).name}", rf"{role.latex}'", maker=f"training of the {weights(role).name}")


@dataclass(frozen=True)
class Function:
    """A function from data to data: a model invocation, a computation without a model, or a stage."""

    name: str
    stage: Stage
    inputs: tuple[Data, ...]
    outputs: tuple[Data, ...]


@dataclass(frozen=True)
class Iteration:
    """One iteration as a composition of stages that type-checks; made by `compose`."""

    algorithm: Algorithm
    stages: tuple[Function, ...]
    parts: tuple[Function, ...]
    inputs: tuple[Data, ...]
    outputs: tuple[Data, ...]

    @property
    def unused(self) -> tuple[Data, ...]:
        """What a stage makes and neither a later part nor the next iteration takes."""
        taken = {data for part in self.parts for data in part.inputs} | set(self.outputs)
        return _unique(data for part in self.parts for data in part.outputs if data not in taken)


def compose(algorithm: Algorithm) -> Iteration:
    """The stages of an algorithm as functions, checked to fit each other.

    Parameters
    ----------
    algorithm : Algorithm
        Any of `rlmkb.theory.algorithms`, or an edit of one.

    Returns
    -------
    Iteration
        Stages in order, with what the whole takes and gives.

    Raises
    ------
    InputError
        If a stage needs what nothing before it makes, or no policy is trained.

    Examples
    --------
    >>> from rlmkb.theory.algorithms import GRPO
    >>> iteration = compose(GRPO)
    >>> [data.name for data in iteration.inputs]
    ['prompts', 'policy', 'reference', 'reward']
    >>> [data.name for data in iteration.outputs]
    ['next policy']
    """
    parts = tuple(part for stage in Stage for part in _parts(algorithm, stage))
    models = [role for role in algorithm.roles if role.has_transformer]
    inputs = (PROMPTS if algorithm.online else PREFERENCES, *map(weights, models))
    known = set(inputs)
    for part in parts:
        lacking = [data for data in part.inputs if data not in known]
        if lacking:
            raise InputError(
                f"{_named(algorithm)}: {part.name} in {part.stage} needs {lacking[0].name}, which nothing before"
                f" it makes; add {lacking[0].maker}"
            )
        known |= set(part.outputs)
    outputs = tuple(updated(role) for role in algorithm.trained_roles)
    if updated(Role.POLICY) not in outputs:
        raise InputError(f"{_named(algorithm)}: no invocation trains the policy; add one in training")
    stages = tuple(_whole(stage, own) for stage in Stage if (own := [part for part in parts if part.stage is stage]))
    return Iteration(algorithm, stages, parts, inputs, outputs)


def _parts(algorithm: Algorithm, stage: Stage) -> list[Function]:
    parts = [_of_call(algorithm, call) for call in algorithm.at(stage)]
    return parts + _without_model(algorithm) if stage is Stage.ASSESSMENT and algorithm.online else parts


def _of_call(algorithm: Algorithm, call: Invocation) -> Function:
    """Signature of one invocation."""
    data = ROLLOUTS if algorithm.online else PREFERENCES
    model = (weights(call.role),) if call.role.has_transformer else ()
    name = f"{call.call} of the {weights(call.role).name}"
    match call.stage, call.call:
        case Stage.GENERATION, Call.GENERATE:
            return Function(name, call.stage, (PROMPTS, *model), (ROLLOUTS, SAMPLED))
        case Stage.ASSESSMENT, Call.FORWARD | Call.VERIFY if call.role in _SCORES:
            return Function(name, call.stage, (data, *model), (_SCORES[call.role],))
        case Stage.TRAINING, Call.TRAIN if call.role in (Role.POLICY, *_TARGETS):
            return Function(name, call.stage, (data, *model, *_signals(algorithm, call.role)), (updated(call.role),))
    raise InputError(
        f"{_named(algorithm)}: appendix A has no function for {call.call} of the {weights(call.role).name} in"
        f" {call.stage}; give the invocation a stage, call and role of the pipeline"
    )


def _signals(algorithm: Algorithm, role: Role) -> tuple[Data, ...]:
    """What the loss of a trained model reads beside the sequences."""
    if role in _TARGETS:
        return (_TARGETS[role],)
    scored = {call.role for call in algorithm.at(Stage.ASSESSMENT)}
    reference = (REFERENCE,) if Role.REFERENCE in scored else ()
    own = (OWN,) if Role.POLICY in scored else (SAMPLED,) if algorithm.online else ()
    return (*((ADVANTAGES,) if algorithm.online else ()), *own, *reference)


def _without_model(algorithm: Algorithm) -> list[Function]:
    """Advantages and returns: arithmetic on what the models said."""
    scored = {call.role for call in algorithm.at(Stage.ASSESSMENT)}
    signals = {Role.CRITIC: VALUES, Role.COST_MODEL: COSTS, Role.COST_CRITIC: COST_VALUES}
    extra = tuple(data for role, data in signals.items() if role in scored)
    made = [Function("credit assignment", Stage.ASSESSMENT, (REWARDS, *extra), (ADVANTAGES,))]
    needs = {Role.CRITIC: (REWARDS, VALUES), Role.COST_CRITIC: (COSTS, COST_VALUES)}
    for role in algorithm.trained_roles:
        if role in needs:
            name = f"returns for the {weights(role).name}"
            made.append(Function(name, Stage.ASSESSMENT, needs[role], (_TARGETS[role],)))
    return made


def _whole(stage: Stage, parts: list[Function]) -> Function:
    made = {data for part in parts for data in part.outputs}
    inputs = _unique(data for part in parts for data in part.inputs if data not in made)
    return Function(stage.value, stage, inputs, _unique(data for part in parts for data in part.outputs))


def _unique(data: Iterable[Data]) -> tuple[Data, ...]:
    return tuple(dict.fromkeys(data))


def _named(algorithm: Algorithm) -> str:
    return " ".join((algorithm.name, *algorithm.edits))


def stage_table(*algorithms: Algorithm) -> TextTable:
    """The stages of algorithms as functions, in words and symbols.

    Examples
    --------
    >>> from rlmkb.theory.algorithms import GRPO
    >>> stage_table(GRPO).rows["grpo generation"]["takes"]
    'prompts $X$, policy $\\\\pi_\\\\theta$'
    """
    rows = {
        f"{algorithm.id} {function.stage}" + "".join(f", {edit}" for edit in algorithm.edits): {
            "algorithm": _named(algorithm),
            "stage": function.stage.value,
            "takes": _listed(function.inputs),
            "gives": _listed(function.outputs),
        }
        for algorithm in algorithms
        for function in compose(algorithm).stages
    }
    return TextTable("A", "Stages as functions", ("Algorithm", "Stage", "Takes", "Gives"), rows)


def _listed(data: tuple[Data, ...]) -> str:
    return ", ".join(f"{one.name} ${one.latex}$" for one in data)
