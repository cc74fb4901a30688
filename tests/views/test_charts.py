"""Charts are described, and their stored form depends on nothing but what they show."""

import json

import altair as alt
import nbformat
import numpy as np
import pandas as pd
import pytest

from rlmkb.errors import InputError
from rlmkb.views import charts, design

FRAME = pd.DataFrame({"stage": ["generation", "training"], "work": [0.1 + 0.2, 2.0]})


@pytest.fixture(autouse=True)
def book_style():
    charts.enable()


def bars(frame=FRAME):
    epochs = alt.param(value=1, bind=alt.binding_range(min=1, max=4, name="Epochs"))
    return (
        alt.Chart(frame)
        .mark_bar()
        .add_params(epochs)
        .transform_calculate(total=alt.datum.work * epochs)
        .encode(x="total:Q", y="stage", color=alt.Color("stage", scale=charts.stage_scale(["generation", "training"])))
    )


def stored(chart, **given):
    shown = charts.show(chart, **{"caption": "Work by stage.", "description": "Two bars.", **given})
    return shown._repr_mimebundle_()


def test_a_chart_is_stored_as_one_mime_type_and_its_description():
    bundle = stored(bars())
    assert set(bundle) == {charts.MIME, "text/plain"}
    assert bundle["text/plain"] == "<chart: Two bars.>"
    assert "$schema" not in bundle[charts.MIME]
    output = nbformat.v4.new_output("execute_result", data=bundle, execution_count=1)
    cell = nbformat.v4.new_code_cell("charts.show(...)", outputs=[output], execution_count=1)
    nbformat.validate(nbformat.v4.new_notebook(cells=[cell]))


def test_a_second_chart_of_the_same_session_is_stored_the_same():
    first, second = (json.dumps(stored(bars())) for _ in range(2))
    assert first == second


def test_the_last_digits_of_a_double_leave_no_trace():
    shaken = FRAME.assign(work=np.nextafter(FRAME["work"], 10))
    assert json.dumps(stored(bars())) == json.dumps(stored(bars(shaken)))


def test_keys_are_sorted():
    text = json.dumps(stored(bars())[charts.MIME])
    assert text == json.dumps(json.loads(text), sort_keys=True)


def test_rows_of_data_keep_what_they_say():
    spec = {"description": "x", "datasets": {"data-0badc0ffee0": [{"note": "param_0badc0ffee"}]}}
    assert charts.portable(spec)["datasets"] == {"rows_1": [{"note": "param_0badc0ffee"}]}


def test_generated_names_stay_distinct():
    spec = {"a": "param_111111", "b": "param_222222 + param_111111", "c": "view_111111"}
    assert charts.portable(spec) == {"a": "param_1", "b": "param_2 + param_1", "c": "view_1"}


def test_a_chart_without_a_description_is_refused():
    with pytest.raises(InputError, match="description"):
        charts.show(bars(), caption="Work.", description=" ")
    with pytest.raises(InputError, match="caption"):
        charts.show(bars(), caption="", description="Two bars.")
    with pytest.raises(InputError, match="description"):
        bars()._repr_mimebundle_()


@pytest.mark.parametrize("label", ["work", "fig-Work", "fig-a b", 'fig-"x'])
def test_a_label_that_cannot_be_referred_to_is_refused(label):
    with pytest.raises(InputError, match="label"):
        charts.show(bars(), caption="Work.", description="Two bars.", label=label)


def test_a_given_table_is_stored_as_plain_numbers():
    table = pd.DataFrame({"n": np.array([1, 2]), "share": np.array([0.25, 1e-20])})
    meta = stored(bars(), table=table)[charts.MIME]["usermeta"]
    assert meta["table"] == {"columns": ["n", "share"], "rows": [[1, 0.25], [2, 1e-20]]}


def test_scales_use_the_colours_of_the_design():
    for scale, group in ((charts.role_scale(), "role"), (charts.quantity_scale(), "quantity")):
        members = design.GROUPS[group]
        assert scale.to_dict() == {"domain": list(members), "range": [light for light, _ in members.values()]}
    with pytest.raises(InputError, match="policy"):
        charts.role_scale(["polcy"])
    with pytest.raises(InputError, match="ink"):
        charts.colour("inkk")


def test_an_axis_of_powers_names_every_power_in_reach():
    label = charts.powers_axis(title="Work").to_dict()["labelExpr"]
    assert "'10²'" not in label
    names = label[label.index("[") + 1 : label.index("]")].split(", ")
    assert (names[0], names[30], names[-1], len(names)) == ("'⁻³⁰'", "'⁰'", "'⁴⁰'", 71)
