"""What entries say against what follows from them: roles from edits, counts from shapes.

Theory and architecture lie above the catalogue, so its check is given these rules by whoever calls it.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from rlmkb.architecture import checkpoint_values, from_entry
from rlmkb.catalogue.algorithms import applied
from rlmkb.catalogue.checking import Found
from rlmkb.errors import InputError
from rlmkb.notation import Stage
from rlmkb.theory.algorithms import ALGORITHMS


def algorithm_faults(entry: Any, known: Mapping[str, Any]) -> Iterator[Found]:
    """Where an algorithm is unlike its list of calls; `known` has what it builds on.

    Examples
    --------
    >>> from rlmkb.catalogue import entries
    >>> known = entries("algorithms")
    >>> wrong = known["grpo"].model_copy(update={"setting": "offline"})
    >>> next(algorithm_faults(wrong, known))[2]
    'setting is offline, but the list of calls generates; allowed: online'
    """
    if entry.based_on is not None and entry.based_on not in known:
        return  # told as a name that is not there
    try:
        algorithm = applied(entry.id, {**known, entry.id: entry}, ALGORITHMS)
    except InputError as error:
        yield ("based_on",), "R304", f"no list of calls can be made: {error}"
        return
    if set(entry.models) != set(algorithm.roles):
        theirs, ours = (", ".join(role.value for role in roles) for roles in (entry.models, algorithm.roles))
        yield ("models",), "R304", f"models are {theirs}; allowed: those that its list of calls runs, {ours}"
    generates = bool(algorithm.at(Stage.GENERATION))
    if generates != (entry.setting == "online"):
        told, allowed = ("generates", "online") if generates else ("does not generate", "offline, iterative")
        yield ("setting",), "R304", f"setting is {entry.setting}, but the list of calls {told}; allowed: {allowed}"


def architecture_faults(entry: Any, known: Mapping[str, Any]) -> Iterator[Found]:
    """Where the published number of values is not that of the shape.

    Examples
    --------
    >>> from rlmkb.catalogue import entry
    >>> list(architecture_faults(entry("architectures", "llama-3.1-8b"), {}))
    []
    """
    if entry.published.exact is None:
        return
    try:
        counted = checkpoint_values(from_entry(entry))
    except InputError as error:
        yield ("published", "exact"), "R305", f"no count can be made of the shape: {error}"
        return
    if counted != entry.published.exact:
        told = f"published.exact is {entry.published.exact:,}; the shape with checkpoint_extra has {counted:,}"
        yield ("published", "exact"), "R305", told


RULES = {"algorithms": algorithm_faults, "architectures": architecture_faults}
