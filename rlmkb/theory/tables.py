"""The paper's tables: I and II in words, III to IX made of formulas."""

from collections.abc import Mapping
from functools import partial

from rlmkb.errors import InputError, nearest
from rlmkb.notation import CONCEPTS, SYMBOLS, Role, Stage
from rlmkb.theory import building_blocks as blocks
from rlmkb.theory import table_nine
from rlmkb.theory.algorithms import ALGORITHMS, PPO, Algorithm
from rlmkb.theory.cells import Cell, CostTable, TextTable
from rlmkb.theory.formula import Quantity
from rlmkb.theory.iteration import TABLE_IV, stage_cost
from rlmkb.theory.models import MODELS
from rlmkb.theory.parallel_tables import PRINTED, Scope, parallel_formula
from rlmkb.theory.partition import STRATEGIES

__all__ = ["Cell", "CostTable", "TextTable", "table"]

ALL_ROLES = (Role.POLICY, Role.REFERENCE, Role.REWARD, Role.CRITIC, Role.ACTOR_CRITIC)
GENERATING = (Role.POLICY, Role.ACTOR_CRITIC)

# a pipeline need not share an actor-critic, nor shard a model
OPTIONAL_III = frozenset({"P_t", *(entry.name for entry in SYMBOLS if entry.role is Role.ACTOR_CRITIC)})

ROWS_III = (
    (blocks.forward, ALL_ROLES),
    (blocks.backward, ALL_ROLES),
    (blocks.training, ALL_ROLES),
    (blocks.prefill, GENERATING),
    (blocks.decode, GENERATING),
    (blocks.generation, GENERATING),
    (blocks.depth_forward, ALL_ROLES),
    (blocks.depth_forward_tp, ALL_ROLES),
    (blocks.depth_backward, ALL_ROLES),
    (blocks.depth_training, ALL_ROLES),
    (blocks.depth_generation, GENERATING),
    (blocks.parameter_count, ALL_ROLES),
    (blocks.activation_memory, ALL_ROLES),
    (blocks.inference_memory, ALL_ROLES),
    (blocks.cache_memory, GENERATING),
)


def _table_one() -> TextTable:
    words = {
        concept.name: {"symbol": concept.latex, "meaning": concept.meaning, "unit": "", "range": "",
                       "group": concept.group}
        for concept in CONCEPTS
    }  # fmt: skip
    numbers = {
        entry.name: {"symbol": entry.latex, "meaning": entry.meaning, "unit": entry.unit, "range": entry.range,
                     "group": entry.group}
        for entry in SYMBOLS
    }  # fmt: skip
    return TextTable("I", "Notation", ("symbol", "meaning", "unit", "range", "group"), words | numbers)


def _table_two() -> TextTable:
    rows = {
        row.id: {
            "model": row.name, "symbol": row.role.latex, "state": row.state.value,
            "used in": ", ".join(stage.value for stage in row.stages), "gives": row.output.value,
            "remark": row.remark,
        }
        for row in MODELS
    }  # fmt: skip
    return TextTable(
        "II", "Models of the pipeline", ("model", "symbol", "state", "used in", "gives", "remark"), rows
    )


def _table_three() -> CostTable:
    cells = tuple(
        Cell(formula.name, formula, model=role.suffix, optional=OPTIONAL_III)
        for block, roles in ROWS_III
        for role in roles
        for formula in (block(role),)
    )
    return CostTable("III", "Building blocks: what one model costs", cells)


def _table_four() -> CostTable:
    cells = tuple(
        Cell(algorithm.id, stage_cost(algorithm, stage, quantity, TABLE_IV), stage=stage.value)
        for algorithm in ALGORITHMS.values()
        for quantity in Quantity
        for stage in Stage
    )
    return CostTable("IV", "Work, depth and memory of one iteration", cells)


# a row is left empty where its degrees or its experts are not given
OPTIONAL_PARALLEL = frozenset({"P_d", "P_p", "P_t", "P_c", "P_e", "E", "E_a", "d_e"})


def _parallel(id: str) -> CostTable:
    printed = PRINTED[id]
    one_rank = printed.scope is Scope.PER_RANK
    cells = tuple(
        Cell(
            strategy.name, parallel_formula(strategy, printed.scope, quantity), scope=printed.scope.value,
            optional=OPTIONAL_PARALLEL,
            worst=parallel_formula(strategy.worst_rank, printed.scope, quantity) if one_rank else None,
        )
        for strategy in STRATEGIES.values()
        for quantity in Quantity
    )  # fmt: skip
    return CostTable(id, printed.title, cells, asymptotic=not printed.explicit)


# a row is left empty where its tensor-parallel degree or its shared model is not given
OPTIONAL_IX = OPTIONAL_III


def _table_nine(algorithm: Algorithm = PPO) -> CostTable:
    shares = Role.CRITIC in algorithm.roles  # without a critic there is nothing to share
    cells = tuple(
        Cell(cell.row, cell.printed, stage=cell.stage, optional=OPTIONAL_IX, honest=cell.honest)
        for cell in table_nine.cells(algorithm)
        if shares or cell.row != "ac_shared"
    )
    return CostTable("IX", f"Inter-model parallelism, one iteration of {algorithm.name}", cells)


_TABLES = {
    "I": _table_one,
    "II": _table_two,
    "III": _table_three,
    "IV": _table_four,
    **{id: partial(_parallel, id) for id in PRINTED},
    "IX": _table_nine,
}


NO_VALUES = "table {id} is a table of text and takes no values; leave --at (at=) out"


def table(
    id: str, at: Mapping[str, object] | None = None, *, algorithm: str | None = None
) -> CostTable | TextTable:
    """A table of the paper, symbolic or with values.

    Parameters
    ----------
    id : str
        Roman numeral: I to IX.
    at : mapping, optional
        From symbol name to number; cost tables only.
    algorithm : str, optional
        Table IX only: ``"ppo"``, as the paper prints it and the default, ``"grpo"`` or ``"dpo"``.

    Returns
    -------
    CostTable or TextTable
        III to IX are cost tables, I and II tables of text.

    Raises
    ------
    InputError
        If the table is unknown, is one of text but values are given, or a value is missing or out of range.

    Examples
    --------
    >>> table("IV").cell("dpo", stage="generation", quantity="work").formula.expr
    0
    """
    if not isinstance(id, str) or id not in _TABLES:
        raise InputError(f"there is no table {id!r}; available: {', '.join(_TABLES)}, X, XI")
    found = _TABLES[id]() if algorithm is None else _table_nine(_algorithm(id, algorithm))
    if at is None:
        return found
    if isinstance(found, TextTable):
        raise InputError(NO_VALUES.format(id=id))
    return found.evaluated(at)


def _algorithm(id: str, name: str) -> Algorithm:
    if id != "IX":
        raise InputError(f"table {id} is not of one algorithm; algorithm goes with table IX")
    if name not in ALGORITHMS:
        raise InputError(f"algorithm is {name!r}; allowed, nearest first: {nearest(name, ALGORITHMS)}")
    return ALGORITHMS[name]
