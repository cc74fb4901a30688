"""Table I of the paper as code: every symbol once, with its LaTeX, meaning, unit and range.

Names are those that the command line takes in ``--at``; bare ``L d d_ff h`` are the default of every role.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property

import sympy

from rlmkb.errors import InputError, nearest


class Role(StrEnum):
    """A model's part in the pipeline."""

    POLICY = "policy"
    REFERENCE = "reference"
    REWARD = "reward"
    CRITIC = "critic"
    ACTOR_CRITIC = "actor_critic"
    COST_MODEL = "cost_model"
    COST_CRITIC = "cost_critic"
    VERIFIER = "verifier"

    @property
    def suffix(self) -> str:
        """Ending of the role's symbols, for example ``V`` in ``L_V``; also its name in tables."""
        return _ROLES[self][0]

    @property
    def latex(self) -> str:
        """LaTeX of the model, for example ``\\pi_\\theta``."""
        return _ROLES[self][1]

    @property
    def has_transformer(self) -> bool:
        """False for a verifier, which is a program and not a language model."""
        return self is not Role.VERIFIER

    @property
    def shape_role(self) -> "Role":
        """The role whose dimensions this model has: the reference is a frozen policy."""
        return Role.POLICY if self is Role.REFERENCE else self


_ROLES = {
    Role.POLICY: ("pi", r"\pi_\theta"),
    Role.REFERENCE: ("ref", r"\pi_{\mathrm{ref}}"),
    Role.REWARD: ("R", r"R_\phi"),
    Role.CRITIC: ("V", r"V_\psi"),
    Role.ACTOR_CRITIC: ("ac", r"\pi_{\mathrm{ac}}"),
    Role.COST_MODEL: ("C", r"C_\chi"),
    Role.COST_CRITIC: ("VC", r"V^{C}_\omega"),
    Role.VERIFIER: ("verifier", r"\mathrm{verifier}"),
}


class Stage(StrEnum):
    """A stage of one iteration of the pipeline."""

    GENERATION = "generation"
    ASSESSMENT = "assessment"
    TRAINING = "training"


class Kind(StrEnum):
    """What a symbol counts, which fixes its range."""

    SIZE = "size"
    LENGTH = "length"
    DEGREE = "degree"
    COUNT = "count"
    FRACTION = "fraction"
    RATIO = "ratio"
    STALENESS = "staleness"


_RANGES = {
    Kind.FRACTION: "a number above 0 and at most 1",
    Kind.RATIO: "a number of at least 1",
    Kind.STALENESS: "an integer of at least 0",
}
WHOLE = "an integer of at least 1"


@dataclass(frozen=True)
class Notation:
    """One symbol of the cost model.

    Parameters
    ----------
    name : str
        As typed in ``--at`` and as a keyword, for example ``d_ff``.
    latex : str
        For example ``d_{\\mathrm{ff}}``.
    meaning, unit : str
        In words; the unit is what one counts ("tokens", "layers", ...).
    kind : Kind
        Fixes the range.
    group : str
        Heading in table I.
    role : Role, optional
        The model whose dimension it is.
    default : str, optional
        Name of the bare symbol that stands in for it.
    in_paper : bool
        False for a symbol that we add.
    """

    name: str
    latex: str
    meaning: str
    unit: str
    kind: Kind
    group: str
    role: Role | None = None
    default: str | None = None
    in_paper: bool = True

    @property
    def range(self) -> str:
        """The allowed values, in words.

        Examples
        --------
        >>> notation("kappa").range
        'a number above 0 and at most 1'
        """
        return _RANGES.get(self.kind, WHOLE)

    @cached_property
    def symbol(self) -> sympy.Symbol:
        """The sympy symbol; its assumptions follow from the range."""
        if self.kind in (Kind.FRACTION, Kind.RATIO):
            return sympy.Symbol(self.name, positive=True)
        if self.kind is Kind.STALENESS:
            return sympy.Symbol(self.name, integer=True, nonnegative=True)
        return sympy.Symbol(self.name, integer=True, positive=True)


@dataclass(frozen=True)
class Concept:
    """A row of table I that is not a number: a model, a signal, a set."""

    name: str
    latex: str
    meaning: str
    group: str


MODELS, DATA, SYSTEM, PARALLEL, OURS = (
    "Models and training signals",
    "Data and dimensions",
    "Model and system",
    "Parallelism degrees and schedule",
    "Ours",
)

CONCEPTS = (
    Concept("pi_theta", r"\pi_\theta", "policy (actor): the language model being trained", MODELS),
    Concept("pi_ref", r"\pi_{\mathrm{ref}}", "reference: a frozen copy of the policy, usually as it was after"
            " supervised fine-tuning", MODELS),
    Concept("R_phi", r"R_\phi", "reward model: maps a prompt and a response to a scalar", MODELS),
    Concept("V_psi", r"V_\psi", "critic (value function): estimates the return still to come at each token",
            MODELS),
    Concept("r", r"r_b^{(i)}", "reward of the i-th candidate of prompt b", MODELS),
    Concept("A", r"A_{b,t}^{(i)}", "advantage at token t", MODELS),
    Concept("G", r"\hat{G}_{b,t}^{(i)}", "estimated discounted return at token t", MODELS),
    Concept("XY", r"\mathcal{X}, \mathcal{Y}", "the space of prompts, the space of token sequences", DATA),
    Concept("X", r"X=\{x_1,\dots,x_B\}", "one batch of prompts", DATA),
    Concept("y", r"y=(y_1,\dots,y_T)", "one response, a sequence of tokens", DATA),
    Concept("d_k", r"d_k=d/h", "width of one attention head", SYSTEM),
)  # fmt: skip


def _base() -> tuple[Notation, ...]:
    size, length, degree, count = Kind.SIZE, Kind.LENGTH, Kind.DEGREE, Kind.COUNT
    return (
        Notation("B", "B", "prompts in a batch", "prompts", count, DATA),
        Notation("K", "K", "candidate responses per prompt", "responses", count, DATA),
        Notation("B_pairs", r"B_{\mathrm{pairs}}", "preference pairs in a batch (DPO)", "pairs", count, DATA),
        Notation("S", "S", "average prompt length", "tokens", length, DATA),
        Notation("T", "T", "average response length", "tokens", length, DATA),
        Notation("m", "m", "sequence length, S + T", "tokens", length, DATA),
        Notation("N", "N", "devices working in parallel", "devices", count, SYSTEM),
        Notation("L", "L", "layers (decoder blocks)", "layers", size, SYSTEM),
        Notation("d", "d", "hidden width", "elements", size, SYSTEM),
        Notation("d_ff", r"d_{\mathrm{ff}}", "width of the feed-forward network", "elements", size, SYSTEM),
        Notation("h", "h", "attention heads", "heads", size, SYSTEM),
        Notation("V", "V", "vocabulary", "tokens", size, SYSTEM),
        Notation("E", "E", "experts per layer", "experts", size, SYSTEM),
        Notation("E_a", "E_a", "experts active per token", "experts", size, SYSTEM),
        Notation("d_e", "d_e", "width of one expert", "elements", size, SYSTEM),
        Notation("P_d", "P_d", "data-parallel degree", "ranks", degree, PARALLEL),
        Notation("P_p", "P_p", "pipeline-parallel degree", "ranks", degree, PARALLEL),
        Notation("P_t", "P_t", "tensor-parallel degree", "ranks", degree, PARALLEL),
        Notation("P_c", "P_c", "context-parallel degree", "ranks", degree, PARALLEL),
        Notation("P_e", "P_e", "expert-parallel degree", "ranks", degree, PARALLEL),
        Notation("P_z", "P_z", "ZeRO sharding degree", "ranks", degree, PARALLEL),
        Notation("kappa", r"\kappa", "share of activations kept under checkpointing", "1", Kind.FRACTION,
                 PARALLEL),
        Notation("eta", r"\eta", "bound on staleness", "policy versions", Kind.STALENESS, PARALLEL),
        Notation("n_epochs", r"n_{\mathrm{ep}}", "passes over each batch in training", "epochs", count, OURS,
                 in_paper=False),
        Notation("n_steps", r"n_{\mathrm{st}}", "reasoning steps that a process reward model scores", "steps",
                 count, OURS, in_paper=False),
        Notation("rho", r"\rho", "rollouts generated for each one that is trained on", "1", Kind.RATIO, OURS,
                 in_paper=False),
    )  # fmt: skip


_DIMENSIONS = ("L", "d", "d_ff", "h")
_OWN_SHAPE = (
    Role.POLICY, Role.REWARD, Role.CRITIC, Role.ACTOR_CRITIC, Role.COST_MODEL, Role.COST_CRITIC,
)  # fmt: skip
_SUBSCRIPTS = {Role.POLICY: r"\pi", Role.ACTOR_CRITIC: r"\mathrm{ac}", Role.COST_CRITIC: "V^C"}


def _of_roles(base: tuple[Notation, ...]) -> tuple[Notation, ...]:
    bare = {entry.name: entry for entry in base}
    added = {Role.COST_MODEL, Role.COST_CRITIC}
    out = []
    for role in _OWN_SHAPE:
        subscript = _SUBSCRIPTS.get(role, role.suffix)
        for name in _DIMENSIONS:
            entry = bare[name]
            latex = rf"d_{{\mathrm{{ff}},{subscript}}}" if name == "d_ff" else f"{entry.latex}_{{{subscript}}}"
            out.append(
                Notation(f"{name}_{role.suffix}", latex, f"{entry.meaning} of the {role.replace('_', ' ')}",
                         entry.unit, entry.kind, SYSTEM if role not in added else OURS, role, name,
                         role not in added)
            )  # fmt: skip
    return tuple(out)


SYMBOLS: tuple[Notation, ...] = (lambda base: base + _of_roles(base))(_base())
_BY_NAME = {entry.name: entry for entry in SYMBOLS}


def notation(name: str) -> Notation:
    """The entry of a symbol.

    Parameters
    ----------
    name : str
        For example ``"d_ff"`` or ``"L_pi"``.

    Raises
    ------
    InputError
        If there is no such symbol; the nearest names are given.

    Examples
    --------
    >>> notation("V").meaning
    'vocabulary'
    """
    if name not in _BY_NAME:
        raise InputError(f"unknown symbol {name!r}; allowed, nearest first: {nearest(str(name), _BY_NAME)}")
    return _BY_NAME[name]


def symbol(name: str) -> sympy.Symbol:
    """The sympy symbol of a name, with the assumptions of its range.

    Examples
    --------
    >>> symbol("d").is_positive
    True
    """
    return notation(name).symbol


@cache
def latex_names() -> dict[sympy.Symbol, str]:
    """LaTeX of every symbol, for `sympy.latex(..., symbol_names=...)`."""
    return {entry.symbol: entry.latex for entry in SYMBOLS}
