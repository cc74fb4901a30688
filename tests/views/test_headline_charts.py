"""Charts of published speed-ups: what is drawn, and what is refused."""

import pandas as pd
import pytest

from rlmkb.errors import InputError
from rlmkb.views import charts
from rlmkb.views.headline_charts import CEILING, long, ranges, splits

FRAME = pd.DataFrame(
    {
        "name": ["A", "B"], "reported_low": [1.2, 5.0], "reported_high": [1.6, 5.0], "modelled_low": [1.0, 1.1],
        "modelled_high": [1.5, 2.0], "with_own_low": [None, 1.4], "with_own_high": [None, 1.8], "ceiling": [2.0, 3.0],
    }
)  # fmt: skip


def spec(chart):
    charts.enable()
    return charts.bundle(charts.show(chart, caption="C.", description="D.").to_dict())[charts.MIME]


def test_a_range_that_is_missing_is_left_out():
    shown = long(FRAME)
    assert shown[shown["name"] == "A"]["what"].tolist() == ["reported", "modelled", CEILING]
    assert len(shown[shown["name"] == "B"]) == 4
    with pytest.raises(InputError, match="lack ceiling"):
        long(FRAME.drop(columns="ceiling"))


def test_every_system_has_a_name_and_all_layers_one_axis():
    made = spec(ranges(FRAME))
    (names,) = (layer for layer in made["layer"] if layer["mark"]["type"] == "text")
    assert [row["name"] for row in made["datasets"][names["data"]["name"]]] == ["A", "B"]
    domains = [layer["encoding"]["x"]["scale"]["domain"] for layer in made["layer"]
               if "scale" in layer["encoding"].get("x", {})]  # fmt: skip
    assert domains == [[0.5, 6.0]] * len(domains)


def test_a_split_chart_has_its_choice():
    points = pd.DataFrame({"share": [0.2, 0.4], "gain": [0.8, 1.2], "plan": ["a", "a"], "spread": [0.0, 0.4]})
    made = spec(splits(points, "plan", "spread", label="Spread", legend="Plan"))
    (choice,) = made["params"]
    assert choice["bind"] == {"input": "select", "options": [0.0, 0.4], "name": "Spread"}
    with pytest.raises(InputError, match="lack plan"):
        splits(points.drop(columns="plan"), "plan", "spread", label="Spread", legend="Plan")
