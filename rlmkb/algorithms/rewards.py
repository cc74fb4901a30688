"""Where a rollout's reward comes from: a reward model, or a program that checks the answer."""

from dataclasses import dataclass
from functools import partial

import jax

from rlmkb.algorithms.invocations import Invoked, invoke
from rlmkb.algorithms.rollout import Rollouts
from rlmkb.algorithms.tasks import Task
from rlmkb.notation import Role, Stage
from rlmkb.theory.algorithms import Call
from rlmkb.verification import transformer
from rlmkb.verification.transformer import Shape

VERIFY = Invoked(Role.VERIFIER, Stage.ASSESSMENT, Call.VERIFY)
SCORE = Invoked(Role.REWARD, Stage.ASSESSMENT, Call.FORWARD)


@dataclass(frozen=True)
class Verifier:
    """A program in place of the reward model; it multiplies no matrices."""

    task: Task

    def scores(self, rollouts: Rollouts) -> jax.Array:
        """One reward per rollout [n]."""
        tokens, mask, _ = rollouts
        return invoke(VERIFY, self.task.score, tokens, mask)


@dataclass(frozen=True, eq=False)
class RewardModel:
    """A frozen Transformer with a scalar head on the last token."""

    shape: Shape
    parameters: dict

    def scores(self, rollouts: Rollouts) -> jax.Array:
        """One reward per rollout [n]."""
        return invoke(SCORE, partial(_last_score, self.shape), self.parameters, rollouts.tokens)


@partial(jax.jit, static_argnums=0)
def _last_score(shape: Shape, parameters: dict, tokens: jax.Array) -> jax.Array:
    return transformer.forward(shape, parameters, tokens)["score"]


Reward = Verifier | RewardModel
