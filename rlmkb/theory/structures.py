"""Model structure: which of the models are one network, and which invocations that removes.

A structure is an edit of an algorithm's invocations. A critic of another size is no edit: it has symbols of its own,
such as ``L_V``. Models without a critic are `Algorithm.without`.
"""

from collections.abc import Mapping
from dataclasses import replace

from rlmkb.errors import InputError
from rlmkb.notation import Role, Stage
from rlmkb.theory import building_blocks as blocks
from rlmkb.theory.algorithms import Algorithm, Call, Invocation
from rlmkb.theory.formula import Quantity
from rlmkb.theory.iteration import BASELINE, iteration_cost

ACTOR_AND_CRITIC = (Role.POLICY, Role.CRITIC)


def shared_actor_critic(algorithm: Algorithm) -> Algorithm:
    """Policy and critic as one model with two heads: it generates, estimates values and is trained once.

    An algorithm without a critic stays as it is.

    Examples
    --------
    >>> from rlmkb.theory.algorithms import PPO
    >>> [role.value for role in shared_actor_critic(PPO).roles]
    ['actor_critic', 'reference', 'reward']
    """
    if Role.CRITIC not in algorithm.roles:
        return algorithm
    return _joined(algorithm, tuple(Stage), "shared actor-critic")


def partly_shared_actor_critic(algorithm: Algorithm) -> Algorithm:
    """Policy and critic share their lower layers: two models when they are applied, one network when trained.

    Generation runs the policy's path and assessment the critic's, each through the shared layers. Training runs these
    once, and both upper parts; `joint_layers` gives ``L_ac``, the layers of the network that is trained.

    Examples
    --------
    >>> from rlmkb.theory.algorithms import PPO
    >>> [(call.role.value, call.call.value) for call in partly_shared_actor_critic(PPO).invocations][-2:]
    [('critic', 'forward'), ('actor_critic', 'train')]
    """
    return _joined(_with_critic(algorithm), (Stage.TRAINING,), "partly shared actor-critic")


def joint_layers(policy: int, critic: int, shared: int) -> int:
    """Layers of policy and critic together, the shared ones counted once.

    Parameters
    ----------
    policy, critic : int
        Layers that each model's path has, the shared ones included.
    shared : int
        Those that both go through.

    Examples
    --------
    >>> joint_layers(policy=32, critic=32, shared=24)
    40
    """
    if not 0 <= shared <= min(policy, critic):
        raise InputError(f"shared is {shared}; give 0 to {min(policy, critic)}, the layers of the smaller model")
    return policy + critic - shared


def merged_critic_reward(algorithm: Algorithm, *, trained: bool = True) -> Algorithm:
    """Critic and reward model as one network with two scalar heads: one pass gives values and scores.

    Parameters
    ----------
    algorithm : Algorithm
        With a critic and a reward model.
    trained : bool
        Whether the network is trained as the critic was. Then the reward moves with it, unless its head is corrected.
        Otherwise the network is frozen and the value head alone learns, which counts as nothing.

    Examples
    --------
    >>> from rlmkb.theory.algorithms import PPO
    >>> [role.value for role in merged_critic_reward(PPO).roles]
    ['policy', 'reference', 'critic']
    >>> len(merged_critic_reward(PPO, trained=False).at(Stage.TRAINING))
    1
    """
    merged = _with_critic(algorithm).without(Role.REWARD)
    kept = tuple(call for call in merged.invocations if trained or call.role is not Role.CRITIC
                 or call.call is not Call.TRAIN)  # fmt: skip
    name = "critic and reward merged" + ("" if trained else ", frozen")
    return replace(algorithm, invocations=kept, edits=(*algorithm.edits, name))


def sharing_break_even(algorithm: Algorithm, at: Mapping[str, object]) -> float:
    """The critic's forward pass over the policy's at which a shared backbone does the work of separate models.

    Below it sharing costs more.

    Parameters
    ----------
    algorithm : Algorithm
        With a critic.
    at : mapping
        From symbol name to number; the critic's size does not matter.

    Examples
    --------
    >>> from rlmkb.theory.algorithms import PPO
    >>> point = {"L": 2, "d": 256, "d_ff": 1024, "h": 4, "V": 512, "B": 1, "K": 1, "S": 64, "T": 64}
    >>> round(sharing_break_even(PPO, point), 2)  # one pass and an update, four forward passes, against one
    0.25
    """
    kinds = (_with_critic(algorithm), shared_actor_critic(algorithm), algorithm.without(Role.CRITIC))
    shapes = {**at, **{f"{name}_ac": at.get(f"{name}_pi", at.get(name)) for name in ("L", "d", "d_ff", "h")}}
    separate, shared, without = (float(iteration_cost(one, Quantity.WORK, BASELINE).evaluate(shapes)) for one in kinds)
    critic, policy = (float(blocks.forward(role).evaluate(shapes)) for role in (Role.CRITIC, Role.POLICY))
    return critic / policy * (shared - without) / (separate - without)


def _joined(algorithm: Algorithm, stages: tuple[Stage, ...], edit: str) -> Algorithm:
    """Policy and critic as one model in some stages; two calls of the same kind become one."""
    merged: set[tuple[Stage, Call]] = set()
    kept: list[Invocation] = []
    for call in algorithm.invocations:
        if call.role in ACTOR_AND_CRITIC and call.stage in stages:
            if (call.stage, call.call) in merged:  # one pass serves both losses
                continue
            merged.add((call.stage, call.call))
            call = replace(call, role=Role.ACTOR_CRITIC)
        kept.append(call)
    return replace(algorithm, invocations=tuple(kept), edits=(*algorithm.edits, edit))


def _with_critic(algorithm: Algorithm) -> Algorithm:
    if Role.CRITIC not in algorithm.roles:
        raise InputError(f"{algorithm.name} has no critic to share; structures are of algorithms with one, such as PPO")
    return algorithm
