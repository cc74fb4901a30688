"""What old rollouts do: PPO and GRPO trained on samples of the policy some updates ago.

    python -m rlmkb.algorithms.staleness --out data/experiments/staleness.json

makes the stored result. At staleness s an iteration samples with the policy as it was s iterations before. `coupled`
is the algorithm as printed, whose clipping stays centred on the policy that sampled; `decoupled` centres it on the
current policy and corrects for the sampling with a weight.
"""

import argparse
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp

from rlmkb.algorithms import grpo, learning, ppo
from rlmkb.algorithms.experiments import document, write
from rlmkb.algorithms.grpo import kl_estimate
from rlmkb.algorithms.rollout import Rollouts, log_probabilities, sample
from rlmkb.algorithms.updates import token_mean
from rlmkb.errors import InputError

STALENESS = (0, 1, 4, 16)
ALGORITHMS = {
    "ppo": (ppo.iteration, learning.PPO, learning.ppo_models),
    "grpo": (grpo.iteration, learning.GRPO, learning.grpo_models),
}
OBJECTIVES = {"coupled": False, "decoupled": True}
MEASURES = {
    "reward": "mean reward of fresh samples of the current policy",
    "reward_shift": "the same less the mean reward of the samples trained on",
    "ratio_variance": "variance over tokens of current over sampling probability, before the update",
    "effective_sample_size": "(sum w)^2 / (n sum w^2) for the ratios w of whole responses, before the update",
    "token_kl": "estimate k3 of KL(sampling || current) per token, before the update",
    "advantage_shift": "mean over tokens of (ratio - 1) times the advantage, before the update",
    "clip_fraction": "share of tokens that the update leaves outside the clip range around its centre",
}


def run(algorithm: str, objective: str, staleness: int, seed: int, iterations: int, every: int) -> Iterator[dict]:
    """Train once, and measure every so many iterations.

    Parameters
    ----------
    algorithm, objective : str
        Keys of `ALGORITHMS` and `OBJECTIVES`.
    staleness : int
        Updates between the policy that samples and the one that is trained; fewer at the start.
    seed, iterations, every : int
        Seed, length of the run, iterations between two measurements.

    Yields
    ------
    dict
        The arguments, the iteration, and the `MEASURES`.
    """
    if staleness < 0:
        raise InputError(f"staleness is {staleness}; give an integer of at least 0")
    iterate, setting, start = ALGORITHMS[algorithm]
    setting = replace(setting, decoupled=OBJECTIVES[objective])
    with jax.enable_x64(True):
        models = start(setting, seed)
        kept = deque(maxlen=staleness + 1)
        for iteration, key in enumerate(jax.random.split(jax.random.key(seed), iterations)):
            asking, running, testing = jax.random.split(key, 3)
            prompts = setting.task.prompts(asking, setting.prompts)
            kept.append(models.policy.parameters)
            before = models
            models, batch = iterate(setting, models, prompts, running, behaviour=kept[0])
            if iteration % every == every - 1:
                fresh = sample(
                    setting.policy, setting.task, before.policy.parameters,
                    testing, jnp.repeat(prompts, setting.candidates, axis=0),
                )  # fmt: skip
                policies = kept[0], before.policy.parameters, models.policy.parameters
                measured = measure(setting, *policies, batch.rollouts, batch.advantages, fresh)
                yield {
                    "algorithm": algorithm, "objective": objective, "staleness": staleness, "seed": seed,
                    "iteration": iteration + 1, **{name: float(measured[name]) for name in MEASURES},
                }  # fmt: skip


@partial(jax.jit, static_argnums=0)
def measure(setting, sampler: dict, before: dict, after: dict, rollouts: Rollouts, advantages, fresh: Rollouts) -> dict:
    """The `MEASURES` of one update, from the three policies, what was trained on, and fresh samples."""
    policies = sampler, before, after
    sampling, current, updated = (log_probabilities(setting.policy, policy, rollouts) for policy in policies)
    ratios = jnp.exp(current - sampling)
    weights = jnp.exp(jnp.sum(current - sampling, axis=1))
    if setting.decoupled:  # they came back with the weight in them
        advantages = advantages / ratios
    moved = jnp.exp(updated - rollouts.log_probs)
    mask, score = rollouts.mask, setting.task.score
    reward = jnp.mean(score(fresh.tokens, fresh.mask))
    return {
        "reward": reward,
        "reward_shift": reward - jnp.mean(score(rollouts.tokens, mask)),
        "ratio_variance": token_mean((ratios - token_mean(ratios, mask)) ** 2, mask),
        "effective_sample_size": jnp.mean(weights) ** 2 / jnp.mean(weights**2),
        "token_kl": token_mean(kl_estimate(current, sampling), mask),
        "advantage_shift": token_mean((ratios - 1) * advantages, mask),
        "clip_fraction": token_mean(jnp.abs(moved - 1) > setting.clip_range, mask),
    }


def experiment(seeds: int, iterations: int, every: int) -> dict:
    """All runs, as the document that is stored."""
    rows = [
        row
        for algorithm in ALGORITHMS
        for objective in OBJECTIVES
        for staleness in STALENESS
        for seed in range(seeds)
        for row in run(algorithm, objective, staleness, seed, iterations, every)
    ]
    command = f"python -m rlmkb.algorithms.staleness --seeds {seeds} --iterations {iterations} --every {every}"
    settings = {name: repr(setting) for name, (_, setting, _) in ALGORITHMS.items()}
    return document(command, {"seeds": list(range(seeds)), "settings": settings, "measures": MEASURES}, rows)


def main(arguments: list[str] | None = None) -> int:
    """Write the result to a file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="file to write, JSON")
    parser.add_argument("--seeds", type=int, default=3, help="runs of each kind (default 3)")
    parser.add_argument("--iterations", type=int, default=400, help="length of a run (default 400)")
    parser.add_argument("--every", type=int, default=20, help="iterations between measurements (default 20)")
    options = parser.parse_args(arguments)
    write(options.out, experiment(options.seeds, options.iterations, options.every))
    return 0


if __name__ == "__main__":
    sys.exit(main())
