"""Tables and chart of partitioned programs."""

import pytest

from rlmkb.verification.partitioned import Row
from rlmkb.views import charts, partitioned

ROWS = [
    Row("data 8", "hand", False, "work", "", 1.01e9, 1e9),
    Row("pipeline 2", "hand", False, "work", "", 1.26e9, 1e9, 1.25e9),
    Row("data 8", "compiler", False, "sent", "data: 1 all-reduce", 1.08e6, 1e6, 1e6),
    Row("expert 8", "hand", True, "sent", "expert: 8 all-to-all", 2e6, 2e6, 2e6),
    Row("tensor 8", "hand", False, "kept", "per layer", 60e3, 40e3, 50e3),
]


def test_a_ratio_beyond_a_twentieth_stands_with_its_reason():
    table = partitioned.compared(ROWS, "work", "Work")
    plain, extended = (dict(zip(table.columns, row, strict=True)) for row in table.rows)
    assert (plain["ratio"], plain["to all known"], plain["beyond 5%, because"]) == ("1.010", "", "")
    assert (extended["ratio"], extended["to all known"]) == ("1.260", "1.008")
    assert "bubble" in extended["beyond 5%, because"]


def test_without_anything_known_there_is_no_column_for_it():
    assert "to all known" not in partitioned.compared(ROWS, "sent", "Sent").columns
    assert "to all known" not in partitioned.compared(ROWS[:1], "work", "Work").columns


def test_an_unexplained_difference_is_not_shown_as_if_it_were_nothing():
    with pytest.raises(LookupError):
        partitioned.compared([Row("data 8", "hand", False, "sent", "data: 1 all-reduce", 2.0, 1.0)], "sent", "x")


def test_what_is_kept_is_told_in_hidden_states_per_token():
    table = partitioned.kept_per_token(ROWS, tokens=100, width=10)  # of 8 devices, 4 bytes: 500 bytes each
    assert table.rows[0][1:4] == (120.0, 80.0, 100.0)


def test_the_chart_has_a_dot_for_each_exchange_and_a_line_at_one():
    frame = partitioned.sent_frame(ROWS)
    assert list(frame["layout"]) == ["expert 8 with experts", "data 8"]
    assert list(frame["ratio"]) == [1.0, 1.08]
    charts.enable()
    chart = charts.show(partitioned.sent_chart(frame), caption="x", description="y", table=frame).to_dict()
    assert [layer["mark"]["type"] for layer in chart["layer"]] == ["rule", "point"]


def test_names_break_after_commas_only():
    assert partitioned.unbroken("pipeline 2, data 4").split(" ") == ["pipeline\N{NO-BREAK SPACE}2,",
                                                                   "data\N{NO-BREAK SPACE}4"]  # fmt: skip
