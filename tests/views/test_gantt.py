"""Gantt charts: complete specifications with a control, in the colours of the stages."""

import pandas as pd
import pytest

from rlmkb.errors import InputError
from rlmkb.views import charts, design
from rlmkb.views.gantt import gantt

ROWS = [
    ("all", "policy/generation", "generation", 1, 0.0, 2.0, 1.0),
    ("all", "policy/training", "training", 1, 2.0, 3.0, 1.0),
]
BARS = pd.DataFrame(ROWS, columns=["group", "node", "stage", "iteration", "start", "end", "load"])


def spec(chart):
    charts.enable()
    return charts.bundle(charts.show(chart, caption="C.", description="D.").to_dict())[charts.MIME]


def data(made, column):
    """The rows of the data that have a column."""
    (rows,) = (rows for rows in made["datasets"].values() if column in rows[0])
    return rows


def both(name, values):
    return pd.concat([BARS.assign(**{name: value}) for value in values])


@pytest.mark.parametrize(
    ("name", "values", "bind"),
    [
        ("eta", [0, 1, 2], {"input": "range", "min": 0, "max": 2, "step": 1, "name": "eta"}),
        ("spread", [0.0, 0.25, 0.5], {"input": "range", "min": 0.0, "max": 0.5, "step": 0.25, "name": "spread"}),
        ("eta", [0, 1, 4], {"input": "select", "options": [0, 1, 4], "name": "eta"}),
        (
            "placement",
            ["apart", "together"],
            {"input": "select", "options": ["apart", "together"], "name": "placement"},
        ),
    ],
)
def test_the_control_fits_what_is_compared(name, values, bind):
    made = spec(gantt(both(name, values), name))
    (control,) = made["params"]
    assert control["bind"] == bind
    assert control["value"] == values[0]


def test_colours_are_those_of_the_stages():
    made = spec(gantt(BARS))
    assert "params" not in made
    (bars,) = (layer for layer in made["layer"] if layer["mark"]["type"] == "rect")
    colours = [design.tokens("light")[stage] for stage in ("generation", "training")]
    assert bars["encoding"]["color"]["scale"] == {"domain": ["generation", "training"], "range": colours}


def test_each_choice_has_its_own_rows():
    one, two = BARS.assign(eta=0), BARS.assign(eta=1, group=["a", "b"])
    made = spec(gantt(pd.concat([one, two]), "eta"))
    assert [(row["eta"], row["group"], row["row"]) for row in data(made, "load")] == [
        (0, "all", 0),
        (0, "all", 0),
        (1, "a", 0),
        (1, "b", 1),
    ]


def test_a_bar_is_as_high_as_its_group_is_loaded():
    made = spec(gantt(BARS))
    (bars,) = (layer for layer in made["layer"] if layer["mark"]["type"] == "rect")
    edges = {one["as"]: one["calculate"] for one in bars["transform"]}
    assert edges == {"top": "datum.row + 0.5 - 0.4 * datum.load", "bottom": "datum.row + 0.5 + 0.4 * datum.load"}
    assert (bars["encoding"]["y"]["field"], bars["encoding"]["y2"]["field"]) == ("top", "bottom")


def test_missing_columns_are_named():
    with pytest.raises(InputError, match="lack load, eta"):
        gantt(BARS.drop(columns="load"), "eta")


def test_each_row_numbers_its_own_iterations():
    made = spec(gantt(pd.concat([BARS.assign(group="a"), BARS.assign(group="b", start=BARS["start"] + 0.5)])))
    numbers = [(row["start"], row["middle"]) for row in data(made, "middle")]
    assert numbers == [(0, 0.5), (2, 0.5), (0.5, 1.5), (2.5, 1.5)]


def test_slices_of_one_generation_have_one_number_and_thin_or_short_bars_none():
    slices = BARS.assign(stage="generation", node="policy/generation")
    assert [row["start"] for row in data(spec(gantt(slices)), "middle")] == [0]
    for change in ({"load": [0.4, 1.0]}, {"start": [2.97, 0.0], "end": [3.0, 2.0]}):
        assert len(data(spec(gantt(BARS.assign(**change))), "middle")) == 1


def test_the_margin_holds_the_names_of_every_choice():
    one, two = BARS.assign(eta=0), BARS.assign(eta=1, group="a long name")
    made = spec(gantt(pd.concat([one, two]), "eta"))
    (unseen,) = (layer for layer in made["layer"] if layer["mark"].get("opacity") == 0)
    assert "filter" not in str(unseen["transform"])
    assert unseen["encoding"]["text"]["field"] == "group"
    assert unseen["mark"]["aria"] is False


@pytest.mark.parametrize(("scale", "start"), [(1.0, 0.3333), (1e4, 3333), (1e-3, 0.0003333)])
def test_times_have_no_more_digits_than_one_sees(scale, start):
    made = spec(gantt(BARS.assign(start=[scale / 3, scale], end=[scale, 3 * scale])))
    rows = data(made, "load")
    assert rows[0]["start"] == pytest.approx(start, rel=1e-9)
