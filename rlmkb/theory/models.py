"""Table II: the roles of the pipeline as typed facts."""

from dataclasses import dataclass
from enum import StrEnum

from rlmkb.notation import Role, Stage


class State(StrEnum):
    """Whether an iteration changes the weights."""

    TRAINABLE = "trainable"
    FROZEN = "frozen"


class Output(StrEnum):
    """What one pass of the model gives."""

    TOKEN_DISTRIBUTION = "a distribution over the vocabulary per token"
    SCALAR_PER_SEQUENCE = "one scalar per sequence"
    SCALAR_PER_STEP = "one scalar per reasoning step"
    SCALAR_PER_TOKEN = "one scalar per token"


@dataclass(frozen=True)
class ModelFacts:
    """One row of table II.

    Parameters
    ----------
    id, name : str
        Row id and name in words.
    role : Role
        The role whose dimensions and colours it has.
    state : State
        Trainable or frozen.
    stages : tuple of Stage
        Where the paper's table uses it.
    output : Output
        What a pass gives.
    remark : str
        What matters for the system.
    source : str
        Where it is said.
    """

    id: str
    name: str
    role: Role
    state: State
    stages: tuple[Stage, ...]
    output: Output
    remark: str
    source: str = "Table II"

    @property
    def states_per_parameter(self) -> int:
        """Numbers kept per parameter: weight, gradient and Adam's two moments, or the weight alone.

        Examples
        --------
        >>> facts("reference").states_per_parameter
        1
        """
        return 4 if self.state is State.TRAINABLE else 1


MODELS: tuple[ModelFacts, ...] = (
    ModelFacts(
        "policy", "Policy (actor)", Role.POLICY, State.TRAINABLE, (Stage.GENERATION, Stage.TRAINING),
        Output.TOKEN_DISTRIBUTION, "Decodes token after token: its decoding usually sets the wall-clock time.",
    ),
    ModelFacts(
        "reward", "Reward model (outcome)", Role.REWARD, State.FROZEN, (Stage.ASSESSMENT,),
        Output.SCALAR_PER_SEQUENCE, "One parallel forward pass over whole sequences; easy to offload.",
    ),
    ModelFacts(
        "process_reward", "Reward model (process)", Role.REWARD, State.FROZEN, (Stage.ASSESSMENT,),
        Output.SCALAR_PER_STEP, "Scores steps; with search (such as tree search) it decodes or runs many passes.",
    ),
    ModelFacts(
        "critic", "Critic (value function)", Role.CRITIC, State.TRAINABLE, (Stage.ASSESSMENT, Stage.TRAINING),
        Output.SCALAR_PER_TOKEN, "A second model to train: twice the training work, gradients and moments too.",
    ),
    ModelFacts(
        "reference", "Reference", Role.REFERENCE, State.FROZEN, (Stage.ASSESSMENT,), Output.TOKEN_DISTRIBUTION,
        "Needed for the KL term and for DPO; forward only, so often quantised.",
    ),
)  # fmt: skip


def facts(id: str) -> ModelFacts:
    """The row of a model.

    Examples
    --------
    >>> facts("critic").state.value
    'trainable'
    """
    return next(row for row in MODELS if row.id == id)
