"""What one iteration costs for real architectures, in the paper's model; and how far that model is from them."""

from collections.abc import Mapping
from dataclasses import dataclass

from rlmkb.errors import InputError, nearest
from rlmkb.notation import Role, Stage
from rlmkb.theory import building_blocks as blocks
from rlmkb.theory.algorithms import ALGORITHMS, Algorithm
from rlmkb.theory.configurations import CONFIGURATIONS, Configuration
from rlmkb.theory.formula import Quantity
from rlmkb.theory.table_nine import cells, end_to_end


@dataclass(frozen=True)
class ModelMapping:
    """How a real architecture was mapped to the canonical model.

    Parameters
    ----------
    role : Role
        Its part in the pipeline.
    architecture : str
        Catalogue id or path.
    dimensions : mapping
        ``L d d_ff h V`` of the canonical model.
    canonical_parameters, real_parameters : int
        What the canonical formula counts, and what the real model has.
    notes : tuple of str
        What the canonical model misses.
    """

    role: Role
    architecture: str
    dimensions: Mapping[str, int]
    canonical_parameters: int
    real_parameters: int
    notes: tuple[str, ...] = ()

    @property
    def relative_error(self) -> float:
        """(canonical - real) / real."""
        return (self.canonical_parameters - self.real_parameters) / self.real_parameters

    def as_dict(self) -> dict[str, object]:
        """As plain data."""
        return {
            "role": self.role.value, "architecture": self.architecture, "dimensions": dict(self.dimensions),
            "canonical_parameters": self.canonical_parameters, "real_parameters": self.real_parameters,
            "relative_error": self.relative_error, "notes": list(self.notes),
        }  # fmt: skip


@dataclass(frozen=True)
class StageCost:
    """Work (FLOP), depth (steps) and memory (elements) of one stage, as table IX names stages.

    `honest` holds ours where the printed value is an idealisation, by quantity.
    """

    stage: str
    work: float
    depth: float
    memory: float
    honest: Mapping[str, float]

    def as_dict(self) -> dict[str, object]:
        """As plain data."""
        out = {"stage": self.stage, "work": self.work, "depth": self.depth, "memory": self.memory}
        return {**out, "honest": dict(self.honest)} if self.honest else out


@dataclass(frozen=True)
class IterationCost:
    """Cost of one iteration by stage; see `rlmkb.cost`."""

    algorithm: Algorithm
    configuration: Configuration
    models: tuple[ModelMapping, ...]
    at: Mapping[str, int]
    stages: tuple[StageCost, ...]
    work: float
    depth: float
    assumptions: tuple[str, ...]

    def as_dict(self) -> dict[str, object]:
        """As plain data: what ``rlmkb cost --json`` prints."""
        return {
            "algorithm": self.algorithm.id,
            "configuration": self.configuration.id,
            "models": [model.as_dict() for model in self.models],
            "at": dict(self.at),
            "units": {quantity.value: quantity.unit for quantity in Quantity},
            "stages": [part.as_dict() for part in self.stages],
            "total": {"work": self.work, "depth": self.depth},
            "assumptions": list(self.assumptions),
        }


def cost(
    algorithm: str, policy: str, *, critic: str | None = None, reward: str | None = None,
    B: int | None = None, K: int | None = None, S: int | None = None, T: int | None = None,
    pairs: int | None = None, tp: int | None = None, configuration: str = "baseline",
) -> IterationCost:  # fmt: skip
    """Work, depth and memory of one iteration in the paper's model, for real architectures.

    Parameters
    ----------
    algorithm : str
        ``"ppo"``, ``"grpo"`` or ``"dpo"``.
    policy, critic, reward : str
        Architecture id or path of a ``config.json``; `critic` and `reward` default to the policy's shape, and
        `reward` may be ``"verifier"``, a program that costs nothing here.
    B, K, S, T : int
        Prompts, responses per prompt, prompt and response length in tokens. DPO takes no `K`.
    pairs : int, optional
        Preference pairs of DPO; default: `B`.
    tp : int, optional
        Tensor-parallel degree P_t of the sharded stages of ``"hybrid"`` and ``"combined"``; default: 1.
    configuration : str
        A row of table IX: ``"baseline"``, ``"ac_shared"``, ``"disaggregated"``, ``"hybrid"``, ``"stage_fusion"``,
        ``"async"`` or ``"combined"``.

    Returns
    -------
    IterationCost
        Work in FLOP, depth in steps of a binary reduction, memory in elements.

    Raises
    ------
    InputError
        For an unknown algorithm, configuration or architecture, one that cannot be mapped to the canonical model,
        a model that the algorithm does not use, and missing or impossible sizes.

    Examples
    --------
    >>> result = cost("grpo", "llama-3.1-8b", reward="verifier", B=1, K=1, S=1, T=1)
    >>> result.stages[0].work == 32 * (8 * 4096**2 + 4 * 4096 * 14336 + 2 * 4096) + 2 * 128256 * 4096
    True
    """
    chosen = _choose("algorithm", algorithm, ALGORITHMS)
    row = _choose("configuration", configuration, CONFIGURATIONS)
    if reward == "verifier":
        chosen, reward = chosen.with_verifier(), None
    given = {Role.POLICY: policy, Role.CRITIC: critic, Role.REWARD: reward}
    for role, reference in given.items():
        if reference is not None and role not in chosen.roles:
            have = ", ".join(role.value for role in chosen.roles)
            raise InputError(f"{chosen.name} runs no {role} here, but {role} is {reference!r}; it runs: {have}")
    models = tuple(_mapping(role, given[role] or policy) for role in given if role in chosen.roles)
    at = _point(models, _workload(chosen, B, K, S, T, pairs) | _sharding(row, tp))
    stages, formulas = _stages(row, chosen, at)
    depth = end_to_end(row, chosen)
    assumed = dict.fromkeys(text for formula in (*formulas, depth) for text in formula.assumptions)
    notes = dict.fromkeys(note for formula in (*formulas, depth) if (note := formula.note))
    return IterationCost(
        chosen, row, models, at, stages, sum(part.work for part in stages), depth.evaluate(at),
        (*_canonical_model(models), *row.structure(chosen).edits, *_unsharded(row, tp), *assumed, *notes),
    )  # fmt: skip


def _stages(row: Configuration, algorithm: Algorithm, at: dict[str, int]) -> tuple[tuple[StageCost, ...], list]:
    mine = [cell for cell in cells(algorithm) if cell.row == row.id]
    stages = []
    for name in dict.fromkeys(cell.stage for cell in mine):
        of_stage = [cell for cell in mine if cell.stage == name]
        values = {cell.printed.quantity.value: cell.printed.evaluate(at) for cell in of_stage}
        honest = {cell.honest.quantity.value: cell.honest.evaluate(at) for cell in of_stage if cell.honest}
        stages.append(StageCost(name, values["work"], values["depth"], values["memory"], honest))
    return tuple(stages), [cell.printed for cell in mine]


def _sharding(row: Configuration, tp: int | None) -> dict[str, int]:
    if not row.sharded and tp is not None:
        sharded = ", ".join(one.id for one in CONFIGURATIONS.values() if one.sharded)
        raise InputError(f"tp is {tp}, but {row.id} shards nothing; leave it out, or choose: {sharded}")
    return {"P_t": 1 if tp is None else tp} if row.sharded else {}


def _unsharded(row: Configuration, tp: int | None) -> tuple[str, ...]:
    if not row.sharded or tp is not None:
        return ()
    stages = " and ".join(stage.value for stage in Stage if stage in row.sharded)
    return (f"no tensor parallelism in {stages}: tp, the degree, is 1 where it is not given",)


def _choose(name: str, value: str, allowed: Mapping):
    if not isinstance(value, str) or value not in allowed:
        raise InputError(f"{name} is {value!r}; allowed, nearest first: {nearest(str(value), allowed)}")
    return allowed[value]


def _mapping(role: Role, reference: str) -> ModelMapping:
    from rlmkb.architecture import canonical, canonical_notes, load, parameters

    decoder = load(reference)
    try:
        dimensions = canonical(decoder)
    except InputError as problem:
        raise InputError(f"{reference} cannot be mapped to the canonical model: {problem}") from None
    # compared as language models, with the vocabulary head: that is what was published
    counted = blocks.parameter_count(Role.POLICY).evaluate(dimensions)
    real = sum(parameters(decoder).values())
    return ModelMapping(role, reference, dimensions, counted, real, tuple(canonical_notes(decoder)))


def _workload(algorithm: Algorithm, B, K, S, T, pairs) -> dict[str, int]:
    if algorithm.online:
        needed = {"B": B, "K": K, "S": S, "T": T}
        if pairs is not None:
            raise InputError(f"pairs is {pairs}; only DPO takes pairs, {algorithm.name} takes B and K")
    else:
        needed = {"B_pairs": B if pairs is None else pairs, "S": S, "T": T}
        if needed["B_pairs"] is None:
            raise InputError("missing value for pairs (or B): preference pairs in a batch, an integer of at least 1")
    for name, value in needed.items():
        if value is None:
            raise InputError(f"missing value for {name}: {algorithm.name} needs {', '.join(needed)}")
    return needed


def _point(models: tuple[ModelMapping, ...], workload: dict[str, int]) -> dict[str, int]:
    own = {
        f"{name}_{model.role.suffix}": model.dimensions[name] for model in models for name in ("L", "d", "d_ff", "h")
    }
    # the shared actor-critic, where there is one, has the policy's shape
    shared = {f"{name}_ac": models[0].dimensions[name] for name in ("L", "d", "d_ff", "h")}
    return {**workload, **own, **shared, "V": models[0].dimensions["V"]}


def _canonical_model(models: tuple[ModelMapping, ...]) -> tuple[str, ...]:
    lines = [
        f"{model.role}: {model.architecture} as the paper's canonical model; it counts {model.canonical_parameters:,}"
        f" parameters, the real one has {model.real_parameters:,} ({model.relative_error:+.1%})"
        for model in models
    ]
    lines += dict.fromkeys(f"{model.architecture}: {note}" for model in models for note in model.notes)
    if len({model.dimensions["V"] for model in models}) > 1:
        lines.append("one vocabulary: the policy's, for all models")
    return tuple(lines)
