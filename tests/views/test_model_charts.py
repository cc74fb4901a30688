"""Charts of one model's cost: complete specifications that say what they need."""

import pandas as pd
import pytest

from rlmkb.errors import InputError
from rlmkb.views import charts, design, model_charts

CURVES = pd.DataFrame(
    {"stage": stage, "sequences": n, "processors": p, "speed-up": p / 2, "limit": 10.0 * n}
    for stage in ("generation", "training") for n in (1, 4, 16) for p in (1.0, 10.0)
)  # fmt: skip
PARTS = pd.DataFrame(
    {"architecture": name, "length": length, "part": part, "share": 0.25}
    for name in ("a", "b") for length in (128, 256) for part in model_charts.SHARES
)  # fmt: skip
CROSSOVERS = pd.DataFrame({"architecture": ["a", "b"], "crossover": [200.0, 150.0]})
INTENSITY = pd.DataFrame(
    {"architecture": "a", "context": c, "batch": b, "intensity": b / c} for c in (512, 2048) for b in (1, 2)
)


def spec(chart):
    charts.enable()
    return charts.bundle(charts.show(chart, caption="C.", description="D.").to_dict())[charts.MIME]


def control(made):
    (found,) = (parameter for parameter in made["params"] if "bind" in parameter)
    return found


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


@pytest.mark.parametrize(
    ("chart", "expected"),
    [
        (lambda: model_charts.speedup(CURVES), {"input": "range", "min": 0, "max": 2, "step": 1}),
        (lambda: model_charts.shares(PARTS, CROSSOVERS, "b"), {"input": "select", "options": ["a", "b"]}),
        (lambda: model_charts.intensity(INTENSITY, 2.0, "balance", "a"), {"input": "select", "options": ["a"]}),
    ],
)
def test_a_chart_has_its_control_and_only_colours_of_the_design(chart, expected):
    made = spec(chart())
    assert expected.items() <= control(made)["bind"].items()
    colours = {text.lower() for text in strings(made) if text.startswith("#")}
    assert colours
    assert colours <= set(design.names_by_light_colour())


def test_the_first_architecture_is_shown_first_and_must_be_there():
    assert control(spec(model_charts.shares(PARTS, CROSSOVERS, "b")))["value"] == "b"
    with pytest.raises(InputError, match="'c' is not among"):
        model_charts.shares(PARTS, CROSSOVERS, "c")


def test_missing_columns_are_named():
    with pytest.raises(InputError, match="lack limit"):
        model_charts.speedup(CURVES.drop(columns="limit"))
    with pytest.raises(InputError, match="lack crossover"):
        model_charts.shares(PARTS, CROSSOVERS[["architecture"]], "a")


def test_every_group_of_work_has_a_colour():
    from rlmkb.architecture.shares import GROUPS

    assert set(model_charts.SHARES) == set(GROUPS)
