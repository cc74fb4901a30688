"""Measurements that chapters use: complete, and with a source."""

import pandas as pd
import pytest

from rlmkb.data import data_path
from rlmkb.errors import InputError
from rlmkb.measurements import measurements

NAMES = [path.stem for path in sorted(data_path("measurements").glob("*.csv"))]


@pytest.mark.parametrize("name", NAMES)
def test_every_row_can_be_told_apart_and_says_where_it_stands(name):
    rows = pd.read_csv(data_path("measurements", f"{name}.csv"), dtype=str)
    assert not rows.duplicated(["run", "step"] if "run" in rows else ["id"]).any()
    source = "silicon_data_source" if "silicon_data_source" in rows else "source_repo"
    assert rows[source].str.len().gt(0).all()
    if "commit" in rows:  # rows from papers, issues and pages have none
        assert rows["commit"].fillna("").str.fullmatch(r"([0-9a-f]{7,40})?").all()
        assert rows["path"].str.len().gt(0).all()


def test_phase_times_are_pinned():
    rows = measurements("rl_phase_times")
    assert rows["source_repo"].str.fullmatch(r"[\w.-]+/[\w.-]+").all()
    assert rows["commit"].str.fullmatch(r"[0-9a-f]{40}").all()


def test_phases_add_up_to_the_step():
    rows = measurements("rl_phase_times")
    phases = [name for name in rows if name.endswith("_s") and name != "step_s"]
    assert (rows[phases].sum(axis=1) / rows["step_s"]).between(0.99, 1).all()
    assert rows.loc[rows["algorithm"] == "GRPO", ["values_s", "critic_training_s"]].isna().all(axis=None)


def test_an_unknown_name_is_refused():
    with pytest.raises(InputError, match="no measurements 'rl_phase'; available, nearest first: rl_phase_times"):
        measurements("rl_phase")
