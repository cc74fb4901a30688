"""Charts of one model over many ranks: complete specifications that say what they need."""

import pandas as pd
import pytest

from rlmkb.errors import InputError
from rlmkb.views import charts, design, parallel_charts

CURVES = pd.DataFrame(
    {"architecture": name, "strategy": cut, "degree": degree, "work": 8.0 / degree, "depth": 4.0, "memory": 6.0}
    for name in ("a", "b") for cut in ("data", "tensor") for degree in (1, 2, 4)
)  # fmt: skip
LINES = pd.DataFrame(
    {"architecture": name, "degree": degree, "kind": kind, "sent": 30.0 / degree}
    for name in ("a", "b") for kind in ("ring", "exchange") for degree in (2, 4)
)  # fmt: skip
BARS = pd.DataFrame(
    {"architecture": "a", "degree": 2, "layout": layout, "part": part, "elements": 1.0}
    for layout in ("alone", "both") for part in ("inner", "outer")
)  # fmt: skip
COLOURS = {"outer": "memory", "inner": "line"}


def spec(chart):
    charts.enable()
    return charts.bundle(charts.show(chart, caption="C.", description="D.").to_dict())[charts.MIME]


def controls(made):
    return {parameter["name"]: parameter for parameter in made.get("params", []) if "bind" in parameter}


def strings(value):
    if isinstance(value, dict):
        for key, item in value.items():
            if key not in ("datasets", "values"):
                yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif isinstance(value, str):
        yield value


CHARTS = {
    "shares": lambda: parallel_charts.shares(CURVES, "b", "tensor"),
    "against": lambda: parallel_charts.against(LINES, "degree", "sent", "kind", rules={"limit": 20}, pick="a"),
    "stack": lambda: parallel_charts.stack(BARS, "elements", colours=COLOURS, pick="a", layout="layout"),
}


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_takes_its_colours_from_the_design(name):
    colours = {text.lower() for text in strings(spec(CHARTS[name]())) if text.startswith("#")}
    assert colours
    assert colours <= set(design.names_by_light_colour())


def test_shares_are_of_one_device_and_have_two_choices():
    made = spec(CHARTS["shares"]())
    assert {name: control["value"] for name, control in controls(made).items()} == {
        "architecture": "b", "strategy": "tensor",
    }  # fmt: skip
    (rows,) = made["datasets"].values()
    work = {row["degree"]: row["share"] for row in rows if row["quantity"] == "work"}
    assert work == {1: 1, 2: 0.5, 4: 0.25}
    assert {row["share"] for row in rows if row["quantity"] != "work"} == {1}


def test_without_one_device_there_are_no_shares():
    with pytest.raises(InputError, match="lack degree 1"):
        parallel_charts.shares(CURVES[CURVES["degree"] > 1], "a", "data")


def test_lines_have_rules_only_where_given_and_a_choice_only_if_asked():
    with_rules, plain = spec(CHARTS["against"]()), spec(parallel_charts.against(LINES, "degree", "sent", "kind"))
    assert list(controls(with_rules)) == ["architecture"]
    assert not controls(plain)
    marks = [[layer["mark"]["type"] for layer in made["layer"]] for made in (with_rules, plain)]
    assert marks == [["line", "rule", "text", "text"], ["line"]]


def test_ticks_of_a_logarithmic_axis_are_round_and_few():
    assert parallel_charts._round_numbers([3, 40]) == [1, 2, 5, 10, 20, 50, 100, 200, 500]
    assert parallel_charts._round_numbers([3, 4e6]) == [10.0**power for power in range(8)]


@pytest.mark.parametrize(
    ("draw", "told"),
    [
        (lambda: parallel_charts.shares(CURVES, "c", "data"), "'c' is not among the values of architecture: a, b"),
        (lambda: parallel_charts.shares(CURVES.drop(columns="depth"), "a", "data"), "lack depth"),
        (lambda: parallel_charts.against(LINES, "degree", "sent", "way"), "lack way"),
        (lambda: parallel_charts.stack(BARS, "bytes", colours=COLOURS, pick="a"), "lack bytes"),
    ],
)
def test_what_is_missing_is_named(draw, told):
    with pytest.raises(InputError, match=told):
        draw()
