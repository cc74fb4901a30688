"""Placements by groups that one names: models or stages that share devices, any mapping between the extremes."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from rlmkb.errors import InputError
from rlmkb.notation import Role, Stage
from rlmkb.theory.algorithms import Algorithm
from rlmkb.theory.graph import Placement


def grouped(algorithm: Algorithm, groups: Mapping[str, Iterable[Role | Stage]]) -> Placement:
    """A placement from the models, or the stages, that each group runs.

    Parameters
    ----------
    algorithm : Algorithm
        Whose invocations are placed.
    groups : mapping
        From the group's name to roles, stages or both; an invocation goes to the first group that names its role or
        its stage.

    Raises
    ------
    InputError
        If no group names an invocation, or a group gets none.

    Examples
    --------
    >>> from rlmkb.theory.algorithms import PPO
    >>> frozen = (Role.REFERENCE, Role.REWARD)
    >>> placement = grouped(PPO, {"trained": (Role.POLICY, Role.CRITIC), "frozen": frozen})
    >>> placement[Role.CRITIC, Stage.ASSESSMENT]
    'trained'
    """
    members = {name: frozenset(named) for name, named in groups.items()}
    placed = {}
    for call in algorithm.invocations:
        found = next((name for name, named in members.items() if {call.role, call.stage} & named), None)
        if found is None:
            raise InputError(f"no group runs the {call.role} in {call.stage}; name its role or its stage in one")
        placed[call.role, call.stage] = found
    idle = [name for name in members if name not in placed.values()]
    if idle:
        raise InputError(f"group {idle[0]!r} runs nothing; leave it out, or name it before the others")
    return MappingProxyType(placed)
