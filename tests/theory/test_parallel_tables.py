"""Tables V to VIII against the paper's printed cells, typed independently, and the laws of partitions."""

import math

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from rlmkb.errors import InputError
from rlmkb.notation import symbol
from rlmkb.theory.asymptotics import order
from rlmkb.theory.derivations import difference
from rlmkb.theory.functions import Log2
from rlmkb.theory.parallel_tables import Scope, parallel_formula
from rlmkb.theory.partition import (
    CONTEXT,
    DATA,
    DENSE,
    EXPERT_COUPLED,
    EXPERT_ISOLATED,
    MIXTURE,
    PIPELINE,
    STRATEGIES,
    TENSOR,
    Axis,
    Part,
    Strategy,
)
from rlmkb.theory.tables import table

B, m, L, d, f, h, V, E, Ea, de = (symbol(n) for n in ("B", "m", "L", "d", "d_ff", "h", "V", "E", "E_a", "d_e"))
Pd, Pp, Pt, Pc, Pe = (symbol(name) for name in ("P_d", "P_p", "P_t", "P_c", "P_e"))
core, moe = 4 * d**2 + 2 * d * f + m * d, 4 * d**2 + 2 * Ea * d * de + m * d
state, act, lg = L * (16 * d**2 + 8 * d * f), B * m * L * d, Log2
chain, moe_chain = lg(d**4 * f * m / h), lg(d**4 * de * m / h)
tp_chain, tp_moe = lg(d**4 * f * m / (Pt**2 * h)), lg(d**4 * de * m / (Pt**2 * h))
N3, N5 = Pd * Pp * Pt, Pd * Pe * Pc * Pp * Pt

# (work, depth, memory) of table VII and of table VIII
EXPLICIT = {
    "VII": {
        "none": (6 * B * m * L * core, 2 * L * chain + lg(B * m), state + 4 * V * d + act),
        "data": (6 * B * m * L * core / Pd, 2 * L * chain + lg(B * m / Pd), state + 4 * V * d + act / Pd),
        "pipeline": (6 * B * m * L * core / Pp, 2 * L / Pp * chain + lg(B * m), state / Pp + 4 * V * d + act / Pp),
        "tensor": (6 * B * m * L * core / Pt, 2 * L * tp_chain + lg(B * m), (state + 4 * V * d + act) / Pt),
        "context": (6 * B * m * L * core / Pc, 2 * L * chain + lg(B * m / Pc), state + 4 * V * d + act / Pc),
        "expert": (
            6 * B * m * L * (4 * d**2 + 2 * Ea * d * de / Pe + m * d),
            2 * L * moe_chain + lg(B * m),
            L * (16 * d**2 + 8 * E * d * de / Pe) + 4 * V * d + act,
        ),
        "3d": (
            6 * B * m * L * core / N3,
            2 * (L / Pp) * tp_chain + lg(B * m / Pd),
            state / (Pp * Pt) + 4 * V * d / Pt + act / N3,
        ),
        "5d": (
            6 * (B / (Pd * Pe)) * (m / Pc) * (L / Pp) * moe / Pt,
            2 * (L / Pp) * tp_moe + lg(B * m / (Pd * Pe * Pc)),
            16 * L * d**2 / (Pp * Pt) + 8 * L * E * d * de / (Pp * Pt * Pe) + 4 * V * d / Pt + act / N5,
        ),
    },
    "VIII": {
        **dict.fromkeys(
            ("none", "pipeline", "tensor"),
            (6 * B * m * L * core, 2 * L * chain + lg(B * m), state + 4 * V * d + act),
        ),
        "data": (6 * B * m * L * core, 2 * L * chain + lg(B * m), Pd * (state + 4 * V * d) + act),
        "context": (6 * B * m * L * core, 2 * L * chain + lg(B * m), Pc * (state + 4 * V * d) + act),
        "expert": (
            6 * B * m * L * (Pe * (4 * d**2 + m * d) + 2 * Ea * d * de),
            2 * L * moe_chain + lg(B * m),
            Pe * (16 * L * d**2 + 4 * V * d + act) + 8 * L * E * d * de,
        ),
        "3d": (6 * B * m * L * core, 2 * L * chain + lg(B * m), Pd * (state + 4 * V * d) + act),
        "5d": (
            6 * B * m * L * moe,
            2 * L * moe_chain + lg(B * m),
            Pd * Pc * Pe * (16 * L * d**2 + 4 * V * d) + 8 * Pd * Pc * L * E * d * de + act,
        ),
    },
}
o_work, o_depth, o_act = B * m * L * (d**2 + m * d), L * (lg(d) + lg(m)) + lg(B * m), B * m * L * d
ASYMPTOTIC = {
    "V": {
        "none": (o_work, o_depth, L * d**2 + V * d + o_act),
        "data": (o_work / Pd, L * (lg(d) + lg(m)) + lg(B / Pd * m), L * d**2 + V * d + o_act / Pd),
        "pipeline": (o_work / Pp, L / Pp * (lg(d) + lg(m)) + lg(B * m), L / Pp * d**2 + V * d + o_act / Pp),
        "tensor": (o_work / Pt, L * (lg(d / Pt) + lg(m)) + lg(B * m), (L * d**2 + V * d + o_act) / Pt),
        "context": (o_work / Pc, L * (lg(d) + lg(m)) + lg(B * m / Pc), L * d**2 + V * d + o_act / Pc),
        "expert": (
            B * m * L * ((d**2 + m * d) + Ea * d * de / Pe), o_depth, L * (d**2 + E * d * de / Pe) + V * d + o_act,
        ),
        "3d": (
            o_work / N3,
            L / Pp * (lg(d / Pt) + lg(m)) + lg(B * m / Pd),
            (L * d**2 + V * d) / (Pp * Pt) + o_act / N3,
        ),
        "5d": (
            B * m * L / N5 * (d**2 + m * d + Ea * d * de),
            L / Pp * (lg(d / Pt) + lg(m)) + lg(B * m / (Pd * Pe * Pc)),
            L * d**2 / (Pp * Pt) + L * E * d * de / (Pp * Pt * Pe) + V * d / Pt + o_act / N5,
        ),
    },
    "VI": {
        **dict.fromkeys(("none", "pipeline", "tensor"), (o_work, o_depth, L * d**2 + V * d + o_act)),
        "data": (o_work, o_depth, Pd * (L * d**2 + V * d) + o_act),
        "context": (o_work, o_depth, Pc * (L * d**2 + V * d) + o_act),
        "expert": (
            B * m * L * (Pe * (d**2 + m * d) + Ea * d * de), o_depth, Pe * (L * d**2 + V * d + o_act) + L * E * d * de,
        ),
        "3d": (o_work, o_depth, Pd * (L * d**2 + V * d) + o_act),
        "5d": (
            B * m * L * (d**2 + m * d + Ea * d * de),
            o_depth,
            Pd * Pc * Pe * (L * d**2 + V * d) + Pd * Pc * L * E * d * de + o_act,
        ),
    },
}  # fmt: skip
QUANTITIES = ("work", "depth", "memory")
# Where the paper contradicts itself: table V's 3D row divides V d by P_p too, against VII, B-C7 and its own 5D row.
CONTRADICTED = {("V", "3d", "memory"): V * d / Pt - V * d / (Pp * Pt)}


def cells(printed):
    return [
        pytest.param(id, row, quantity, value, id=f"{id}-{row}-{quantity}")
        for id, rows in printed.items()
        for row, values in rows.items()
        for quantity, value in zip(QUANTITIES, values, strict=True)
    ]


def test_there_are_96_printed_cells():
    assert len(cells(EXPLICIT)) + len(cells(ASYMPTOTIC)) == 96


@pytest.mark.parametrize(("id", "row", "quantity", "printed"), cells(EXPLICIT))
def test_explicit_cell_equals_the_printed_one(id, row, quantity, printed):
    assert difference(table(id).cell(row, quantity=quantity).formula.explicit, printed) == 0


@pytest.mark.parametrize(("id", "row", "quantity", "printed"), cells(ASYMPTOTIC))
def test_asymptotic_cell_equals_the_printed_one(id, row, quantity, printed):
    ours = table(id).cell(row, quantity=quantity).formula.asymptotic
    assert difference(ours, printed + CONTRADICTED.get((id, row, quantity), 0)) == 0


# sizes of a rank: in place of B, m and d, so that an order sees what a degree divides
b, c, w = sympy.symbols("b c w", positive=True)
SPLIT = {B: b * Pd * Pe, m: c * Pc, d: w * Pt}


# tables and rows where the paper contradicts itself on depth too: the explicit form shards two contractions of five
# (P_t^2), the asymptotic one has log(d/P_t) throughout
EVERY_WIDTH_SHARDED = {("V", row) for row, strategy in STRATEGIES.items() if strategy.tensor_degree != 1}


def rough(expr, quantity, sharded=False):
    """What stands inside O(.), with d for d_ff; of a depth with its degrees, which shorten a logarithm."""
    if quantity != "depth":
        return order(sympy.expand(expr.subs({f: d, h: 1})))
    # an expert's width is of the order of d in a logarithm, not in a product
    expr = expr.subs({f: d, de: d, h: 1})
    if sharded:
        expr = expr.subs(Pt, 1).subs(d, d / Pt)
    return order(sympy.expand(expr.subs(SPLIT, simultaneous=True)))


@pytest.mark.parametrize(("id", "row", "quantity", "printed"), cells(ASYMPTOTIC))
def test_asymptotic_cell_is_the_explicit_one_without_its_constants(id, row, quantity, printed):
    """Dropping constants and h and setting d_ff to d turns table VII into V, and VIII into VI."""
    explicit = table(id).cell(row, quantity=quantity).formula.explicit
    ours = rough(explicit, quantity, (id, row) in EVERY_WIDTH_SHARDED)
    assert sympy.simplify(ours - rough(printed, quantity) - CONTRADICTED.get((id, row, quantity), 0)) == 0


@st.composite
def points(draw):
    size = st.integers(1, 64)
    point = {"d": draw(size) * 8, "d_ff": draw(size) * 8, "h": 8, "V": draw(size), "E_a": draw(st.integers(1, 4))}
    degrees = {name: draw(st.sampled_from([1, 2, 4])) for name in ("P_d", "P_p", "P_t", "P_c", "P_e")}
    point |= {"B": 16 * draw(size), "L": 4 * draw(size), "m": 16 * draw(size), "E": 4 * draw(size), "d_e": draw(size)}
    return point | degrees


ALL = [
    *STRATEGIES.values(),
    Strategy("data+context", DENSE, (DATA, CONTEXT)),
    Strategy("tensor+pipeline", DENSE, (TENSOR, PIPELINE)),
    Strategy("expert+tensor", MIXTURE, (EXPERT_COUPLED, TENSOR)),
]


@pytest.mark.parametrize("strategy", ALL, ids=lambda strategy: strategy.name)
def test_ranks_sum_to_the_whole(strategy):
    """Work and memory of a rank, times the ranks that hold it, is the global cost; boundary terms sit on one."""
    single = sympy.Mul(*(axis.degree for axis in strategy.axes if axis.boundary))
    for rank, total in ((strategy.rank_work, strategy.global_work), (strategy.rank_memory, strategy.global_memory)):
        for one, all_ranks in zip(rank, total, strict=True):
            holders = strategy.devices / (single if Part(one.name) is Part.VOCABULARY_STATE else 1)
            assert sympy.simplify(one.expr * holders - all_ranks.expr) == 0


AXES = [DATA, PIPELINE, TENSOR, CONTEXT, EXPERT_ISOLATED, EXPERT_COUPLED]


@pytest.mark.parametrize("axis", AXES, ids=lambda axis: axis.splits)
def test_degree_one_is_the_identity(axis: Axis):
    step = MIXTURE if axis.name == "expert" else DENSE
    whole, cut = Strategy("none", step), Strategy("one", step, (axis.at(1),))
    assert cut.rank_work.total == whole.rank_work.total
    assert cut.rank_memory.total == whole.rank_memory.total
    assert difference(cut.rank_depth.total, whole.rank_depth.total) == 0


def test_composition_commutes():
    one = Strategy("a", DENSE, (DATA, TENSOR, PIPELINE, CONTEXT))
    other = Strategy("b", DENSE, (CONTEXT, PIPELINE, DATA, TENSOR))
    for name in ("rank_work", "rank_depth", "rank_memory", "global_work", "global_depth", "global_memory"):
        assert difference(getattr(one, name).total, getattr(other, name).total) == 0


@given(points())
@settings(max_examples=25, deadline=None)
def test_no_rank_works_less_than_its_share(point):
    for strategy in STRATEGIES.values():
        rank, whole = (
            parallel_formula(strategy, scope, "work").evaluate(point) for scope in (Scope.PER_RANK, Scope.GLOBAL)
        )
        devices = math.prod(point[axis.degree.name] for axis in strategy.axes)
        useful = sympy.lambdify(list(strategy.step.work.total.free_symbols), strategy.step.work.total)(
            *(point[s.name] for s in strategy.step.work.total.free_symbols)
        )
        assert rank >= useful / devices * (1 - 1e-12)
        assert whole >= useful * (1 - 1e-12)


@given(points(), st.sampled_from(["P_d", "P_p", "P_t", "P_c", "P_e"]))
@settings(max_examples=25, deadline=None)
def test_more_ranks_never_need_more_of_each(point, degree):
    for strategy in STRATEGIES.values():
        for quantity in QUANTITIES:
            formula = parallel_formula(strategy, Scope.PER_RANK, quantity)
            few, many = formula.evaluate({**point, degree: 1}), formula.evaluate({**point, degree: 4})
            assert many <= few * (1 + 1e-12)


def test_an_uneven_split_shows_the_worst_rank():
    at = {"B": 4, "m": 8, "L": 10, "d": 8, "d_ff": 32, "h": 2, "V": 100, "P_p": 4, "P_d": 4, "P_t": 2}
    cell = table("VII", at=at).cell("pipeline", quantity="work")
    assert cell.worst_rank_value == pytest.approx(cell.value * 3 / 2.5)
    assert table("VII", at=at).cell("data", quantity="work").worst_rank_value is None
    assert "worst_rank_value" not in table("VIII", at=at).cell("pipeline", quantity="work").as_dict()


def test_rows_without_their_degrees_stay_empty():
    at = {"B": 4, "m": 8, "L": 10, "d": 8, "d_ff": 32, "h": 2, "V": 100, "P_t": 2}
    have = {cell.row for cell in table("VII", at=at).cells if cell.value is not None}
    assert have == {"none", "tensor"}


FIVE = {"E": 8, "E_a": 2, "d_e": 8, "P_p": 1, "P_t": 1, "P_c": 1}


def test_more_ranks_than_sequences_leave_some_idle_and_the_busiest_has_one():
    """Printed is a fraction of a sequence; whoever has work has a whole one."""
    at = {"B": 4, "m": 8, "L": 10, "d": 8, "d_ff": 32, "h": 2, "V": 100, **FIVE, "E_a": 8, "P_d": 4, "P_e": 8}
    cell = table("VII", at=at).cell("5d", quantity="work")
    one = table("VII", at={**at, "B": 1, "P_d": 1, "P_e": 1}).cell("5d", quantity="work")
    assert cell.value == pytest.approx(one.value / 8)
    experts = 6 * at["L"] * at["m"] * at["E_a"] * 2 * at["d"] * at["d_e"]  # of one sequence, shared by all ranks
    assert cell.as_dict()["worst_rank_value"] == pytest.approx(one.value - experts + experts / 8)


@pytest.mark.parametrize(
    ("extra", "told"),
    [
        ({"P_p": 11}, "P_p is 11 but L is 10"),
        ({"P_t": 3}, "P_t is 3 but h is 2"),
        ({"P_d": 5}, "P_d is 5 but B is 4"),
        ({"P_c": 9}, "P_c is 9 but m is 8"),
        ({"P_e": 3, "E": 2}, "P_e is 3 but E is 2"),
        ({"E_a": 3, "E": 2}, "E_a is 3 but E is 2"),
        ({"h_pi": 1, "P_t": 2}, "P_t is 2 but h_pi is 1"),
        ({"L_V": 3, "P_p": 4}, "P_p is 4 but L_V is 3"),
        ({"P_t": 1.5}, "P_t is 1.5"),
        ({"P_t": 0}, "P_t is 0"),
        ({"P_d": 2, "P_t": 2, "N": 8}, "N is 8 but P_d x P_t is 4"),
    ],
)
def test_impossible_degrees_are_refused(extra, told):
    at = {"B": 4, "m": 8, "L": 10, "d": 8, "d_ff": 32, "h": 2, "V": 100, **extra}
    with pytest.raises(InputError, match=told):
        table("VII", at=at)
