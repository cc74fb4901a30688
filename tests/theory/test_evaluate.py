"""Evaluation: closed forms, validation, speed."""

import fractions
import math
import time

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from rlmkb.errors import InputError
from rlmkb.notation import SYMBOLS, Kind, Role, notation, symbol
from rlmkb.theory import building_blocks as blocks
from rlmkb.theory.evaluate import evaluate
from rlmkb.theory.functions import Log2, Maximum, close_sums, expand_logs
from rlmkb.theory.values import resolve

t = sympy.Symbol("t", integer=True, positive=True)
S, T, d = symbol("S"), symbol("T"), symbol("d")


@given(st.integers(1, 10**6), st.integers(1, 400))
@settings(max_examples=60, deadline=None)
def test_sum_of_logs_is_a_log_gamma_difference(low, count):
    value = evaluate(sympy.Sum(Log2(S + t), (t, 1, T - 1)), {"S": low, "T": count})
    expected = math.fsum(math.log2(low + step) for step in range(1, count))
    assert value == pytest.approx(expected, rel=1e-14)
    array = evaluate(sympy.Sum(Log2(S + t), (t, 1, T - 1)), {"S": np.array([low]), "T": count})
    assert array[0] == pytest.approx(expected, rel=1e-13)


def test_empty_sums_are_zero():
    assert evaluate(blocks.decode().expr, {"L": 2, "d": 3, "d_ff": 4, "V": 5, "S": 6, "T": 1}) == 0
    assert close_sums(sympy.Sum(Log2(S + t), (t, 1, T - 1))).subs(T, 1) == 0


@pytest.mark.parametrize("bad", [sympy.Sum(Log2(2 * t), (t, 1, T)), sympy.Sum(Log2(t) * t, (t, 1, T))])
def test_a_sum_without_closed_form_is_refused(bad):
    with pytest.raises(ValueError, match="no closed form"):
        close_sums(bad)


def test_million_points_without_a_loop():
    formula = blocks.generation()
    rng = np.random.default_rng(1)
    at = {name: rng.integers(1, 10_000, 1_000_000) for name in ("L", "d", "d_ff", "V", "S", "T")}
    formula.evaluate({name: values[:2] for name, values in at.items()})  # compile once
    seconds = []
    for _ in range(3):  # processor time, so that a busy machine does not fail the test
        start = time.process_time()
        values = formula.evaluate(at)
        seconds.append(time.process_time() - start)
    assert values.shape == (1_000_000,)
    one = formula.evaluate({name: int(column[7]) for name, column in at.items()})
    assert values[7] == pytest.approx(one, rel=1e-12)
    assert min(seconds) < 0.5


def test_arrays_broadcast():
    value = blocks.forward(Role.POLICY).evaluate(
        L=2, d=np.array([[8], [16]]), d_ff=32, V=10, m=np.array([1, 2, 3])
    )
    assert value.shape == (2, 3)


def test_big_counts_stay_exact():
    assert evaluate(d**4, {"d": 10**20 + 1}) == (10**20 + 1) ** 4


def test_a_result_beyond_double_precision_is_refused():
    with pytest.raises(InputError, match="double precision"):
        evaluate(d**2 / S, {"d": 10**200, "S": 3})
    with pytest.raises(InputError, match="double precision"):
        evaluate(d**4, {"d": np.array([1e100, 1.0])})


HUGE = 10**400


def test_messages_and_checks_survive_numbers_beyond_double_precision():
    with pytest.raises(InputError, match=r"m is 5 but S \+ T is 2000"):
        resolve({"S": HUGE, "T": HUGE, "m": 5}, [])
    with pytest.raises(InputError, match=r"N is 1000.* but P_d is 4"):
        resolve({"N": HUGE, "P_d": 4}, [])
    with pytest.raises(InputError, match="rho is 1000"):
        resolve({"rho": HUGE}, [])
    with pytest.raises(InputError, match="d is a number of thousands of digits"):
        resolve({"d": -(10**5000)}, [])
    with pytest.raises(InputError, match="L exceeds the range of double precision"):
        resolve({"L": HUGE, "d": np.array([1, 2])}, [])
    with pytest.raises(InputError, match="d is "):
        resolve({"d": [HUGE]}, [])
    with pytest.raises(InputError, match="N is 4 but P_d x P_p is inf"):
        resolve({"N": 4, "P_d": np.array([1e200]), "P_p": 10**200}, [])
    assert resolve({"d": fractions.Fraction(HUGE)}, ["d"]) == {"d": HUGE}


def test_arrays_that_do_not_broadcast_are_named():
    with pytest.raises(InputError, match=r"L \(2,\), d \(3,\); give shapes that broadcast"):
        evaluate(symbol("L") * d, {"L": [1, 2], "d": [1, 2, 3]})


@pytest.mark.parametrize("name", [1, None, ("L",)], ids=repr)
def test_a_name_that_is_no_text_is_refused(name):
    with pytest.raises(InputError, match="unknown symbol"):
        evaluate(d, {name: 2, "d": 1})


BAD_SIZES = [2j, ["3"], np.array(["3"]), [2, True, None], [[1], [1, 2]]]
BAD_SIZES += [0, -1, 1.5, float("nan"), float("inf"), True, None, "3", [0.0], [1.5], [[float("nan")]], np.array([-2])]


@pytest.mark.parametrize("bad", BAD_SIZES, ids=repr)
def test_values_out_of_range_are_refused_by_name(bad):
    with pytest.raises(InputError, match=r"^d is .*integer of at least 1"):
        evaluate(d, {"d": bad})


def test_ranges_of_the_other_kinds():
    assert resolve({"eta": 0, "kappa": 0.25}, ["eta", "kappa"]) == {"eta": 0, "kappa": 0.25}
    wrong = {"kappa": (0, 1.1, np.array([0.5, 2])), "eta": (-1,), "rho": (0.5, float("inf"))}
    for name, bad in ((name, bad) for name, values in wrong.items() for bad in values):
        with pytest.raises(InputError, match=f"^{name} is"):
            resolve({name: bad}, [])


def test_missing_and_unknown_symbols_are_named():
    with pytest.raises(InputError, match=r"missing value for L_pi \(or L for all roles\)"):
        blocks.forward(Role.POLICY).evaluate(d=8, d_ff=8, V=10, m=3)
    with pytest.raises(InputError, match=r"unknown symbol 'dff'.*nearest first: d_ff"):
        evaluate(d, {"d": 1, "dff": 3})
    with pytest.raises(InputError, match="missing value for m"):
        evaluate(symbol("m"), {"S": 3})


def test_m_and_n_must_agree_with_what_they_are_made_of():
    assert resolve({"S": 3, "T": 4, "m": 7}, ["m"]) == {"m": 7}
    with pytest.raises(InputError, match=r"m is 8 but S \+ T is 7"):
        resolve({"S": 3, "T": 4, "m": 8}, ["m"])
    assert resolve({"N": 8, "P_d": 4, "P_t": 2}, ["N"]) == {"N": 8}
    with pytest.raises(InputError, match=r"N is 9 but P_d x P_t is 8"):
        resolve({"N": 9, "P_d": 4, "P_t": 2}, ["N"])


def test_a_role_falls_back_on_the_bare_symbol_only():
    assert resolve({"L": 3, "L_V": 5}, ["L_pi", "L_R", "L_V"]) == {"L_pi": 3, "L_R": 3, "L_V": 5}
    with pytest.raises(InputError, match="missing value for L_R"):
        resolve({"L_pi": 3}, ["L_R"])


def test_functions_print_and_evaluate_alike():
    expr = Maximum(Log2(d), S)
    assert evaluate(expr, {"d": 16, "S": 3}) == 4
    assert evaluate(expr, {"d": np.array([4, 16]), "S": 3}).tolist() == [3, 4]
    assert sympy.latex(Log2(d * S)) == r"\log \left(S d\right)"
    assert expand_logs(Log2(d**3 / S)) == 3 * Log2(d) - Log2(S)


def test_symbols_are_unique_and_of_a_known_range():
    names = [entry.name for entry in SYMBOLS]
    assert len(set(names)) == len(names)
    interface = "B K S T m L d d_ff h V E E_a d_e P_d P_p P_t P_c P_e P_z B_pairs N kappa eta"
    roles = [f"{name}_{role}" for name in ("L", "d", "d_ff", "h") for role in ("pi", "R", "V", "ac")]
    assert set(interface.split()) | set(roles) <= set(names)
    assert len({entry.latex for entry in SYMBOLS}) == len(SYMBOLS)
    assert {entry.kind for entry in SYMBOLS} == set(Kind)
    assert notation("L_ac").default == "L"
