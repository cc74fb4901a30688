"""Table III against an independent transcription of what the paper prints."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlmkb.notation import Role
from rlmkb.theory import building_blocks as blocks
from rlmkb.theory.tables import table

ROLES = ("pi", "R", "V", "ac")


@st.composite
def points(draw):
    """A point with dimensions of its own for each role."""
    sizes = st.integers(1, 4096)
    point = {name: draw(sizes) for name in ("V", "S", "B")}
    point["T"] = draw(st.integers(1, 300))
    point["P_t"] = draw(st.sampled_from([1, 2, 4, 8]))
    for role in ROLES:
        point |= {f"{name}_{role}": draw(sizes) for name in ("L", "d", "d_ff")}
        point[f"h_{role}"] = draw(st.integers(point["P_t"], 4096))
    return point


def printed(point):
    """The paper's cells, typed from its table III and appendices B-A and B-C1, with plain Python arithmetic."""
    S, T, V, B, P_t = (point[name] for name in ("S", "T", "V", "B", "P_t"))
    m, lg = S + T, math.log2
    out = {}
    for role, source in (("pi", "pi"), ("ref", "pi"), ("R", "R"), ("V", "V"), ("ac", "ac")):
        L, d, f, h = (point[f"{name}_{source}"] for name in ("L", "d", "d_ff", "h"))
        head = {"pi": 2 * V * d, "ref": 2 * V * d, "R": 2 * d / m, "V": 2 * d, "ac": 2 * V * d + 2 * d}[role]
        forward = 2 * L * (4 * d**2 + 2 * d * f + (S + T) * d) + head
        depth = L * (4 * lg(d) + lg(f) + lg(m) - lg(h)) + lg(d)
        body = L * (4 * d**2 + 2 * d * f)
        out |= {
            ("C_f_tok", role): forward,
            ("C_b_tok", role): 2 * forward,
            ("C_tr_tok", role): 3 * forward,
            ("D_f", role): depth,
            ("D_f_tp", role): depth - 2 * L * lg(P_t) - lg(P_t),
            ("D_b", role): depth + lg(B * m),
            ("D_tr", role): 2 * depth + lg(B * m),
            ("params", role): body + V * d + (0 if role in ("pi", "ref") else d),
            ("M_Act", role): L * d,
            ("M_Inf", role): d,
        }
        if role in ("pi", "ac"):
            prefill = 2 * L * S * (4 * d**2 + 2 * d * f + S * d) + 2 * V * d
            decode = sum(2 * L * (4 * d**2 + 2 * d * f + 2 * (S + t) * d) + 2 * V * d for t in range(1, T))
            steps = [L * (4 * lg(d) + lg(f) + lg(S + t) - lg(h)) + lg(d) for t in range(T)]
            out |= {
                ("C_pf_roll", role): prefill,
                ("C_dec_roll", role): decode,
                ("C_gen_roll", role): prefill + decode,
                ("D_gen", role): math.fsum(steps),
                ("M_KV", role): 2 * m * L * d,
            }
    return out


@given(points())
@settings(max_examples=60, deadline=None)
def test_every_cell_equals_the_printed_one(point):
    cells = {(cell.row, cell.model): cell for cell in table("III", at=point).cells}
    expected = printed(point)
    assert cells.keys() == expected.keys()
    for key, value in expected.items():
        # depths may cancel to nearly nothing (log d against log h): compare on the scale of their terms
        scale = 1e-12 * point[f"L_{'pi' if key[1] == 'ref' else key[1]}"] * 20 * point["T"]
        assert cells[key].value == pytest.approx(value, rel=1e-12, abs=scale if key[0].startswith("D") else 0), key


@given(points())
@settings(max_examples=20, deadline=None)
def test_integer_cells_are_exact_integers(point):
    cells = {(cell.row, cell.model): cell.value for cell in table("III", at=point).cells}
    expected = printed(point)
    for key in (("C_gen_roll", "pi"), ("params", "R"), ("C_tr_tok", "V"), ("M_KV", "pi")):
        assert isinstance(cells[key], int)
        assert cells[key] == expected[key]


def test_hand_checked_depth_of_the_traced_model():
    at = {"L": 2, "d": 256, "d_ff": 1024, "h": 4, "m": 128}
    assert blocks.depth_forward(Role.POLICY).evaluate(at) == 2 * (4 * 8 + 10 + 7 - 2) + 8 == 102


def test_scalars_and_arrays_agree():
    rng = np.random.default_rng(0)
    arrays = {name: rng.integers(1, 2000, 50) for name in ("L", "d", "d_ff", "h", "V", "S", "T", "B")}
    arrays["P_t"] = np.minimum(arrays["h"], 8)
    whole = {(cell.row, cell.model): cell.value for cell in table("III", at=arrays).cells}
    for index in (0, 17, 49):
        one = table("III", at={name: int(values[index]) for name, values in arrays.items()})
        for cell in one.cells:
            array = np.broadcast_to(whole[cell.row, cell.model], 50)
            assert array[index] == pytest.approx(cell.value, rel=1e-9), (cell.row, cell.model)


def test_dimensions_of_one_role_do_not_move_another():
    at = {"L": 4, "d": 64, "d_ff": 256, "h": 4, "V": 1000, "S": 10, "T": 5, "B": 2, "P_t": 1}
    base = {(cell.row, cell.model): cell.value for cell in table("III", at=at).cells}
    wider = {(cell.row, cell.model): cell.value for cell in table("III", at={**at, "d_V": 128}).cells}
    moved = {model for (row, model), value in wider.items() if value != base[row, model]}
    assert moved == {"V"}


def test_optional_cells_stay_empty_and_say_why():
    at = {"V": 1000, "S": 10, "T": 5, "B": 2}
    at |= {f"{name}_{role}": 8 for name in ("L", "d", "d_ff", "h") for role in ("pi", "R", "V")}
    cells = table("III", at=at).cells
    empty = {(cell.row, cell.model) for cell in cells if cell.value is None}
    assert empty == {(cell.row, cell.model) for cell in cells if cell.model == "ac" or cell.row == "D_f_tp"}
    assert all("not given" in cell.as_dict()["note"] for cell in cells if cell.value is None)


def test_every_cell_is_documented():
    for cell in table("III").cells:
        formula = cell.formula
        assert formula.meaning
        assert formula.source.startswith("Table III")
        assert formula.assumptions
        assert formula.left
        assert formula.latex
        assert formula.unit in ("FLOP", "steps", "elements")
        assert formula.latex_asymptotic.startswith(("O", r"\Theta"))


def test_printed_latex_of_the_forward_pass():
    latex = blocks.forward(Role.CRITIC).latex
    assert latex == (
        r"2 L_{V} \left(4 d_{V}^{2} + 2 d_{V} d_{\mathrm{ff},V} + d_{V} (S+T)\right) + 2 d_{V}"
    )
