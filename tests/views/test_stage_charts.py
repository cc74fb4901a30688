"""Charts of bubbles, loads, layouts and costs: they draw what they are given and refuse what lacks a column."""

import pandas as pd
import pytest

from rlmkb.errors import InputError
from rlmkb.views import charts, stage_charts

BUBBLES = pd.DataFrame([
    {"schedule": name, "ranks": ranks, "micro-batches": count, "idle": (ranks - 1) / (count + ranks - 1)}
    for name in ("1F1B", "DualPipe") for ranks in (4, 8) for count in (8, 16)
])  # fmt: skip
LOADS = pd.DataFrame([{"router": "fair", "tokens": n, "busiest": 1 + 1 / n} for n in (64, 128)])
LAYOUTS = pd.DataFrame([
    {"layout": "8 x 8 x 8", "memory (GB)": 48.0, "sent across nodes (GB)": 35.0, "idle (%)": 5.0, "tensor": 8},
    {"layout": "64 x 2 x 4", "memory (GB)": 300.0, "sent across nodes (GB)": 180.0, "idle (%)": 1.0, "tensor": 4},
])  # fmt: skip
COSTS = pd.DataFrame([
    {"architecture": "a", "strategy": "data", "degree": degree, "work": 8 / degree, "depth": 2.0, "memory": 5.0,
     "sent": 1.0 - 1 / degree}
    for degree in (1, 2, 4)
])  # fmt: skip


def drawn(chart):
    return charts.portable(charts.show(chart, caption="A.", description="B.").to_dict())


def test_bubbles_choose_the_ranks():
    spec = drawn(stage_charts.bubbles(BUBBLES))
    assert spec["params"][0]["bind"]["options"] == [4, 8]
    assert spec["encoding"]["strokeDash"]["scale"]["domain"] == ["1F1B", "DualPipe"]


def test_costs_choose_one_cost_and_draw_no_zeros():
    spec = drawn(stage_charts.costs(COSTS, "a", ["data", "tensor"], cost="sent"))
    assert [param["value"] for param in spec["params"]] == ["sent", "a"]
    (rows,) = spec["datasets"].values()
    assert [row["degree"] for row in rows if row["cost"] == "sent"] == [2, 4]
    assert len(rows) == 3 * 3 + 2


def test_layouts_have_the_rule():
    spec = drawn(stage_charts.layouts(LAYOUTS, 80, "80 GB"))
    assert {"level": 80, "name": "80 GB"} in [row for rows in spec["datasets"].values() for row in rows]


@pytest.mark.parametrize(
    ("make", "frame", "column"),
    [
        (stage_charts.bubbles, BUBBLES, "idle"),
        (stage_charts.loads, LOADS, "busiest"),
        (lambda frame: stage_charts.layouts(frame, 80, "x"), LAYOUTS, "tensor"),
        (lambda frame: stage_charts.costs(frame, "a", ["data"]), COSTS, "sent"),
    ],
)
def test_a_missing_column_is_named(make, frame, column):
    assert drawn(make(frame))
    with pytest.raises(InputError, match=f"lack {column}"):
        make(frame.drop(columns=column))


def test_unknown_choices_are_refused():
    with pytest.raises(InputError, match="'b' is not among the architectures"):
        stage_charts.costs(COSTS, "b", ["data"])
    with pytest.raises(InputError, match="'time' is not among the costs"):
        stage_charts.costs(COSTS, "a", ["data"], cost="time")
