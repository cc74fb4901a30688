"""Small runs that learn a task, with their curves.

    python -m rlmkb.algorithms.learning --out data/experiments/learning.json

makes the stored curves of several seeds.

Everything is computed in double precision: then the rounding of a processor does not decide which token is sampled,
and one seed gives one curve.
"""

import argparse
import sys
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from rlmkb.algorithms import dpo, grpo, ppo, updates
from rlmkb.algorithms.experiments import document, write
from rlmkb.algorithms.invocations import Run, rehearsed
from rlmkb.algorithms.rewards import Verifier
from rlmkb.algorithms.rollout import Rollouts, sample
from rlmkb.algorithms.tasks import Task
from rlmkb.notation import Role
from rlmkb.verification import transformer
from rlmkb.verification.transformer import Shape

TASK = Task("sort", length=3, digits=6)
POLICY = Shape(L=1, d=32, d_ff=64, h=2, V=TASK.vocabulary)
PPO = ppo.Setting(TASK, POLICY, POLICY.with_role(Role.CRITIC), prompts=128, candidates=1, entropy_coefficient=0.03)
GRPO = grpo.Setting(TASK, POLICY, prompts=16, candidates=8)
DPO = dpo.Setting(POLICY, minibatches=64)


@dataclass(frozen=True, eq=False)
class Curve:
    """What a run learned.

    Attributes
    ----------
    step : int array
        Iterations (PPO, GRPO) or passes over the pairs (DPO) before each measurement.
    reward, solved : float arrays
        Mean reward of sampled responses, and the share that is right in every position.
    seconds : float
        Wall time of the whole run, compilation included.
    """

    step: np.ndarray
    reward: np.ndarray
    solved: np.ndarray
    seconds: float


def learn_ppo(setting: ppo.Setting = PPO, iterations: int = 400, seed: int = 0) -> Curve:
    """Train a policy and a critic from random weights with PPO and a verifier; the reference is the start."""
    with jax.enable_x64(True):
        return _online(ppo.iteration, setting, ppo_models(setting, seed), iterations, seed)


def learn_grpo(setting: grpo.Setting = GRPO, iterations: int = 400, seed: int = 0) -> Curve:
    """Train a policy from random weights with GRPO and a verifier; the reference is the start."""
    with jax.enable_x64(True):
        return _online(grpo.iteration, setting, grpo_models(setting, seed), iterations, seed)


def ppo_models(setting: ppo.Setting, seed: int) -> ppo.Models:
    """Random weights before training; the reference is a copy of the policy, the reward the task's verifier."""
    policy, critic = transformer.initialise(setting.policy, seed), transformer.initialise(setting.critic, seed + 1)
    trained = updates.start(policy, setting.policy_rate), updates.start(critic, setting.critic_rate)
    return ppo.Models(*trained, policy, Verifier(setting.task))


def grpo_models(setting: grpo.Setting, seed: int) -> grpo.Models:
    """The same without a critic."""
    policy = transformer.initialise(setting.policy, seed)
    return grpo.Models(updates.start(policy, setting.policy_rate), policy, Verifier(setting.task))


def _online(iteration, setting, models, iterations: int, seed: int) -> Curve:
    started, measured = time.perf_counter(), []
    for key in jax.random.split(jax.random.key(seed), iterations):
        asking, running = jax.random.split(key)
        models, batch = iteration(setting, models, setting.task.prompts(asking, setting.prompts), running)
        measured.append(mean_rewards(setting.task, batch.rollouts))
    return _curve(range(iterations), measured, started)


def learn_dpo(
    setting: dpo.Setting = DPO, task: Task = TASK, pairs: int = 8192, passes: int = 10, seed: int = 0
) -> Curve:
    """Train a policy with DPO on pairs of a right and a spoiled answer; measured by sampling after each pass."""
    with jax.enable_x64(True):
        started = time.perf_counter()
        asking, ordering, testing = jax.random.split(jax.random.key(seed), 3)
        policy = transformer.initialise(setting.policy, seed)
        models = dpo.Models(updates.start(policy, setting.policy_rate), policy)
        data = preference_pairs(task, pairs, asking)
        prompts = task.prompts(testing, 512)
        measured = []
        for key in jax.random.split(ordering, passes + 1):
            training, sampling = jax.random.split(key)
            if measured:
                models = dpo.train(setting, models, data, training)
            tested = sample(setting.policy, task, models.policy.parameters, sampling, prompts)
            measured.append(mean_rewards(task, tested))
        return _curve(range(passes + 1), measured, started)


@partial(jax.jit, static_argnums=(0, 1))
def preference_pairs(task: Task, count: int, key: jax.Array) -> dpo.Pairs:
    """The right answer to each prompt, preferred to one with a wrong token in one place."""
    asking, placing, spoiling = jax.random.split(key, 3)
    prompts = task.prompts(asking, count)
    right = task.answers(prompts)
    place = jax.random.randint(placing, (count, 1), 0, task.response_length) == jnp.arange(task.response_length)
    shift = jax.random.randint(spoiling, (count, 1), 1, task.vocabulary)
    wrong = jnp.where(place, (right + shift) % task.vocabulary, right)
    return dpo.Pairs(*(_given(task, prompts, responses) for responses in (right, wrong)))


def _given(task: Task, prompts: jax.Array, responses: jax.Array) -> Rollouts:
    """Responses [n, T] that nobody sampled, as rollouts; what follows an end token does not count."""
    ends = responses == task.end
    mask = jnp.cumsum(ends, axis=1) - ends == 0
    tokens = jnp.concatenate([prompts, jnp.where(mask, responses, task.end)], axis=1)
    return Rollouts(tokens, mask, jnp.zeros(mask.shape))


@partial(jax.jit, static_argnums=0)
def mean_rewards(task: Task, rollouts: Rollouts) -> tuple[jax.Array, jax.Array]:
    """Mean reward, and share of responses right in every position."""
    reward = jnp.mean(task.score(rollouts.tokens, rollouts.mask))
    return reward, jnp.mean(task.solved(rollouts.tokens, rollouts.mask))


def _curve(steps, measured, started: float) -> Curve:
    reward, solved = np.array(measured, dtype=float).T
    return Curve(np.array(steps), reward, solved, time.perf_counter() - started)


LEARN = {"ppo": learn_ppo, "grpo": learn_grpo, "dpo": learn_dpo}


def rehearsal(name: str) -> list[Run]:
    """The invocations of one iteration of a small run (DPO: of one pass over 64 pairs); nothing is computed.

    Examples
    --------
    >>> [run.invoked.role.value for run in rehearsal("dpo")]
    ['policy', 'reference', 'policy']
    """
    key = jax.random.key(0)
    if name == "dpo":
        setting, policy = replace(DPO, minibatches=1), transformer.initialise(POLICY)
        pairs = preference_pairs(TASK, 64, key)
        models = dpo.Models(updates.start(policy, setting.policy_rate), policy)
        return rehearsed(partial(dpo.train, setting), models, pairs, key)
    module, setting, start = {"ppo": (ppo, PPO, ppo_models), "grpo": (grpo, GRPO, grpo_models)}[name]
    *models, reward = start(setting, 0)

    def once(arrays, prompts, key):
        return module.iteration(setting, module.Models(*arrays, reward), prompts, key)

    return rehearsed(once, models, TASK.prompts(key, setting.prompts), key)


def experiment(seeds: int) -> dict:
    """Curves of all three algorithms, as the document that is stored; of PPO and GRPO every fifth iteration."""
    rows = [
        {"algorithm": name, "seed": seed, "step": int(step), "reward": float(reward), "solved": float(solved)}
        for name, learn in LEARN.items()
        for seed in range(seeds)
        for step, reward, solved in _thinned(learn(seed=seed))
    ]
    settings = {"ppo": repr(PPO), "grpo": repr(GRPO), "dpo": repr(DPO)}
    return document("python -m rlmkb.algorithms.learning", {"seeds": list(range(seeds)), "settings": settings}, rows)


def _thinned(curve: Curve) -> list[tuple]:
    points = list(zip(curve.step, curve.reward, curve.solved, strict=True))
    return points[:: 5 if len(points) > 100 else 1]


def main(arguments: list[str] | None = None) -> int:
    """Write the curves to a file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="file to write, JSON")
    parser.add_argument("--seeds", type=int, default=3, help="runs of each algorithm (default 3)")
    options = parser.parse_args(arguments)
    write(options.out, experiment(options.seeds))
    return 0


if __name__ == "__main__":
    sys.exit(main())
