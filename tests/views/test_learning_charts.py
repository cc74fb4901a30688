"""Charts of learning: every choice of a menu has its data."""

import pandas as pd

from rlmkb.views import charts
from rlmkb.views.learning_charts import trained_on


def test_ages_of_tokens_have_a_menu_and_one_axis_for_all():
    rows = [("batch", 0, 1.0), ("continuous", 0, 0.25), ("continuous", 2, 0.75)]
    frame = pd.DataFrame(rows, columns=["rollouts", "updates old", "share"])
    charts.enable()
    shown = charts.show(trained_on(frame, "rollouts", "How"), caption="C.", description="D.")
    made = charts.bundle(shown.to_dict())[charts.MIME]
    (control,) = made["params"]
    assert control["bind"] == {"input": "select", "options": ["batch", "continuous"], "name": "How"}
    assert control["value"] == "batch"
    assert made["encoding"]["x"]["scale"]["domain"] == [0, 2]
    assert made["transform"] == [{"filter": "datum['rollouts'] == way"}]
