"""Strategies as rows and curves: what notebooks show is what the theory says."""

import pytest

import rlmkb
from rlmkb.errors import InputError
from rlmkb.notation import Stage
from rlmkb.theory.evaluate import evaluate
from rlmkb.theory.partition import STRATEGIES
from rlmkb.theory.traffic import messages, traffic_formula
from rlmkb.views import strategies

POINT = {"L": 4, "d": 64, "d_ff": 256, "h": 8, "V": 1000, "B": 16, "m": 32, "P_d": 4, "P_t": 4, "P_c": 4, "P_p": 4}
CUT = ("data", "tensor", "context", "pipeline")


def test_rows_are_those_of_the_table_with_its_values_and_view():
    whole = rlmkb.table("VII", at=POINT)
    some = strategies.rows(whole, "tensor")
    assert [cell.row for cell in some.cells] == ["tensor"] * 3
    assert set(some.cells) <= set(whole.cells)
    assert "<table>" in some._repr_html_()
    with pytest.raises(InputError, match="has no row 'tensors'; it has: tensor"):
        strategies.rows(whole, "tensors")


@pytest.mark.parametrize("name", CUT)
def test_what_is_sent_adds_up_to_the_traffic(name):
    shown = strategies.sent(messages(STRATEGIES[name]), POINT, "Sent")
    total = sum(row[shown.columns.index("sent (GB)")] for row in shown.rows)
    assert total == pytest.approx(2 * evaluate(traffic_formula(STRATEGIES[name]).expr, POINT) / 1e9)


@pytest.mark.parametrize("name", CUT)
def test_stages_end_with_the_training_step_of_the_tables(name):
    rows = strategies.stage_rows(STRATEGIES[name], POINT)
    assert [row["stage"] for row in rows] == [stage.value for stage in Stage]
    printed = rlmkb.table("VII", at=POINT)
    assert rows[-1]["FLOP"] == pytest.approx(printed.cell(name, quantity="work").value)
    assert rows[-1]["elements held"] == pytest.approx(printed.cell(name, quantity="memory").value)
    assert [row["per weight"] for row in rows] == [1, 1, 4]


def test_curves_agree_with_the_tables_and_leave_out_what_does_not_divide():
    frame = strategies.curves({"a": POINT | {"h": 6}}, ["tensor", "data"], [1, 2, 4])
    assert list(frame[frame["strategy"] == "tensor"]["degree"]) == [1, 2]  # six heads
    assert list(frame[frame["strategy"] == "data"]["degree"]) == [1, 2, 4]
    at = POINT | {"h": 6, "P_d": 4}
    for quantity in ("work", "depth", "memory"):
        cell = rlmkb.table("VII", at={**at, "P_t": 1}).cell("data", quantity=quantity)
        assert frame[frame["strategy"] == "data"][quantity].iloc[-1] == pytest.approx(cell.value)
    assert list(frame[frame["degree"] == 1]["sent"]) == [0, 0]


def test_rates_are_the_catalogues_in_base_units():
    from rlmkb.catalogue import entry

    device, rates = entry("hardware", "mi300x"), strategies.rates("mi300x", "fp8")
    assert rates.flops == device.dense_peak.fp8 * 1e12
    assert rates.memory == device.memory_bandwidth_gb_per_s * 1e9
    with pytest.raises(InputError, match="mi300x: no figure for flops in fp4"):
        strategies.rates("mi300x", "fp4")
    with pytest.raises(InputError, match="'mi300' is not in data/hardware"):
        strategies.rates("mi300")
