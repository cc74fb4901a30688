"""The fullest rank of an uneven split, against a grid of ranks to which every piece is dealt out."""

from itertools import product
from math import log2

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rlmkb.theory.evaluate import evaluate
from rlmkb.theory.partition import DATA, PIPELINE, STRATEGIES, TENSOR, Part
from rlmkb.theory.tables import table
from rlmkb.theory.transforms import Recompute, Transformed, Zero
from rlmkb.theory.values import LIMITS

SIZES, DEGREES = ("B", "m", "L", "d", "d_ff", "h", "V", "E", "E_a", "d_e"), ("P_d", "P_p", "P_t", "P_c", "P_e")
ONE = dict.fromkeys((*SIZES, *DEGREES), 1)
QUANTITIES = ("work", "depth", "memory")


def dealt(count, ranks):
    """How many of `count` things each rank gets."""
    return [len(part) for part in np.array_split(np.arange(count), ranks)]


def fullest(row, at):
    """Work, depth and memory of the rank with most of each, counted rank by rank."""
    B, m, L, d, d_ff, h, V, E, E_a, d_e = ({**ONE, **at}[name] for name in SIZES)
    used = {axis.degree.name for axis in STRATEGIES[row].axes}
    P = {name: at.get(name, 1) if name in used else 1 for name in DEGREES}
    routed = STRATEGIES[row].step.experts
    found = []
    for i_d, i_p, i_t, i_c, i_e in product(*(range(P[name]) for name in DEGREES)):
        group = dealt(B, P["P_d"])[i_d]  # sequences of the ranks that share one set of experts
        sequences = dealt(group, P["P_e"])[i_e] if row == "5d" else group
        tokens, layers = dealt(m, P["P_c"])[i_c], dealt(L, P["P_p"])[i_p]
        between = dealt(tokens, P["P_t"])[i_t]  # between its layers, a tensor rank has a piece of the sequence
        heads, words, experts = dealt(h, P["P_t"])[i_t], dealt(V, P["P_t"])[i_t], dealt(E, P["P_e"])[i_e]
        columns = dealt(d_e if routed else d_ff, P["P_t"])[i_t]
        passes = group * tokens * E_a * experts / E if routed else sequences * tokens
        attention = sequences * tokens * heads / h * (4 * d**2 + m * d)
        weights = layers * (4 * d**2 * heads / h + 2 * d * columns * (experts if routed else 1)) + words * d
        chain = log2(d**3 * m / h) + log2(max(d * heads / h, 1)) + log2(max(columns, 1))
        found.append((
            6 * layers * (attention + passes * 2 * d * columns),
            2 * layers * chain + log2(max(sequences * tokens, 1)),
            4 * weights + sequences * between * layers * d,
        ))  # fmt: skip
    return dict(zip(QUANTITIES, map(max, zip(*found, strict=True)), strict=True))


def held(row, at):
    """The same as table VII says it: the worst rank where there is one, else the printed value."""
    cells = {quantity: table("VII", at={**ONE, **at}).cell(row, quantity=quantity) for quantity in QUANTITIES}
    return {
        name: cell.value if cell.worst_rank_value is None else cell.worst_rank_value for name, cell in cells.items()
    }


UNEVEN = [
    ("5d", {"L": 8, "h": 8, "d": 8, "E": 8, "B": 12, "P_d": 1, "P_e": 8}),
    ("5d", {"B": 10, "E": 10, "P_d": 3, "P_e": 3}),
    ("5d", {"B": 9, "E": 10, "P_d": 1, "P_e": 3}),
    ("5d", {"B": 7, "m": 11, "L": 5, "h": 6, "d": 48, "d_e": 30, "E": 5,
            "P_d": 2, "P_e": 3, "P_c": 2, "P_t": 4, "P_p": 2}),
    ("tensor", {"h": 6, "d": 48, "d_ff": 192, "V": 1000, "m": 8, "P_t": 4}),
    ("3d", {"B": 5, "m": 6, "L": 7, "h": 6, "d": 12, "d_ff": 22, "V": 9, "P_d": 2, "P_p": 3, "P_t": 4}),
    ("context", {"m": 7, "P_c": 2}),
    ("expert", {"B": 3, "E": 7, "P_e": 3}),
]  # fmt: skip


@pytest.mark.parametrize(("row", "at"), UNEVEN, ids=lambda value: value if isinstance(value, str) else "")
def test_the_fullest_rank_is_the_one_that_dealing_out_finds(row, at):
    assert held(row, at) == pytest.approx(fullest(row, at), rel=1e-12)


@given(st.data())
@settings(max_examples=8, deadline=None)
def test_the_fullest_rank_of_any_split(data):
    row = data.draw(st.sampled_from([name for name in STRATEGIES if name != "none"]))
    at = {name: data.draw(st.integers(1, 12)) for name in SIZES} | {"d": 24, "h": data.draw(st.sampled_from([4, 6, 8]))}
    at |= {name: data.draw(st.integers(1, 3)) for name in DEGREES} | {"E_a": 1}
    assume(all(at[limit.part] <= at[limit.whole] for limit in LIMITS))
    assert held(row, at) == pytest.approx(fullest(row, at), rel=1e-12)


def test_only_what_is_uneven_is_scaled():
    """Six heads on four ranks: attention is uneven; a network of 192 and a vocabulary of 1,000 are not."""
    at = {"h": 6, "d": 48, "d_ff": 192, "V": 1000, "L": 1, "B": 1, "m": 4, "P_t": 4}
    even, worst = STRATEGIES["tensor"].rank_memory, STRATEGIES["tensor"].worst_rank.rank_memory
    ratio = {part: evaluate(worst[part], at) / evaluate(even[part], at) for part in even.names}
    assert ratio == {
        Part.PROJECTION_STATE: pytest.approx(4 / 3), Part.FFN_STATE: 1, Part.VOCABULARY_STATE: 1, Part.ACTIVATIONS: 1,
    }  # fmt: skip


def test_two_of_twelve_sequences_though_neither_degree_is_uneven_alone():
    at = {**ONE, "L": 8, "h": 8, "d": 8, "E": 8, "B": 12, "P_d": 1, "P_e": 8}
    worst = STRATEGIES["5d"].worst_rank
    assert evaluate(worst.rank_tokens, at) == 2
    assert evaluate(STRATEGIES["5d"].rank_tokens, at) == 1.5
    assert table("VII", at=at).cell("5d", quantity="memory").worst_rank_value is not None


def test_a_split_that_is_even_has_no_worst_rank():
    at = {**dict.fromkeys(SIZES, 24), **dict.fromkeys(DEGREES, 2), "E_a": 1}
    assert all(cell.worst_rank_value is None for cell in table("VII", at=at).cells)


def test_changes_to_a_strategy_see_the_fullest_rank_too():
    at = {**ONE, "L": 10, "d": 4, "d_ff": 8, "m": 4, "P_p": 4}
    worst = Transformed(STRATEGIES["pipeline"].worst_rank, zero=Zero.PARAMETERS, recompute=Recompute.SELECTIVE)
    even = Transformed(STRATEGIES["pipeline"], zero=Zero.PARAMETERS, recompute=Recompute.SELECTIVE)
    assert evaluate(worst.gathered, at) == evaluate(even.gathered, at)  # one layer, however many a rank has
    layers = [evaluate(changed.rank_depth["layers"], at) for changed in (worst, even)]
    assert layers[0] / layers[1] == pytest.approx(3 / 2.5)


def test_a_strategy_stays_the_fullest_rank_with_an_axis_more():
    worst = STRATEGIES["data"].worst_rank.with_axis(PIPELINE)
    assert worst == STRATEGIES["data"].with_axis(PIPELINE).worst_rank
    assert STRATEGIES["data"].with_axis(TENSOR, "both").name == "both"
    assert DATA.unit_of(Part.ACTIVATIONS) == DATA.unit
