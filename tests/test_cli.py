"""The command line as a user meets it: output, JSON, exit codes, one line for every wrong call."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

import rlmkb
from rlmkb.cli import main
from rlmkb.errors import InputError
from rlmkb.theory.tables import table

POINT = {"L": 32, "d": 4096, "d_ff": 14336, "h": 32, "V": 128256, "S": 1024, "T": 512, "B": 8, "K": 4, "P_t": 8,
         "B_pairs": 16}  # fmt: skip


@pytest.fixture
def point_file(tmp_path):
    path = tmp_path / "point.json"
    path.write_text(json.dumps(POINT))
    return str(path)


def run(capsys, *arguments):
    code = main(list(arguments))
    out, err = capsys.readouterr()
    return code, out, err


def wrong(capsys, *arguments):
    """The single line that a wrong call prints; checks that there is no more."""
    try:
        code = main(list(arguments))
    except SystemExit as stopped:  # argparse's way out
        code = stopped.code
    out, err = capsys.readouterr()
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
    assert "Traceback" not in err
    return err


@pytest.mark.parametrize("id", ["III", "IV"])
def test_table_json_with_values(capsys, point_file, id):
    code, out, err = run(capsys, "table", id, "--at", point_file, "--json")
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert document["table"] == id
    expected = table(id, at=POINT)
    assert [row["value"] for row in document["rows"]] == [cell.value for cell in expected.cells]
    needed = {"row", "scope", "stage", "model", "quantity", "latex", "value", "unit", "source"}
    assert all(needed <= row.keys() for row in document["rows"])
    assert {row["unit"] for row in document["rows"]} == {"FLOP", "steps", "elements"}


def test_table_json_is_never_rounded(capsys, point_file):
    _, out, _ = run(capsys, "table", "III", "--at", point_file, "--json")
    rows = {(row["row"], row["model"]): row["value"] for row in json.loads(out)["rows"]}
    assert rows["params", "pi"] == 32 * (4 * 4096**2 + 2 * 4096 * 14336) + 128256 * 4096


def test_symbolic_table_has_no_values(capsys):
    _, out, _ = run(capsys, "table", "III", "--json")
    assert all("value" not in row for row in json.loads(out)["rows"])


@pytest.mark.parametrize("id", ["I", "II", "X", "XI"])
def test_tables_of_text(capsys, id):
    _, out, _ = run(capsys, "table", id, "--json")
    rows = json.loads(out)["rows"]
    assert all(row.keys() == {"row", "cells"} for row in rows)


def test_latex_has_one_equation_a_cell(capsys):
    _, out, _ = run(capsys, "table", "III", "--latex")
    assert len(out.splitlines()) == len(table("III").cells)
    assert all(" = " in line and " % " in line for line in out.splitlines())


def test_table_nine_is_of_the_algorithm_that_is_asked_for(capsys):
    def rows(*algorithm):
        return json.loads(run(capsys, "table", "IX", *algorithm, "--json")[1])["rows"]

    assert {row["row"] for row in rows()} - {row["row"] for row in rows("--algorithm", "grpo")} == {"ac_shared"}


def test_text_shows_values(capsys, point_file):
    _, out, _ = run(capsys, "table", "IV", "--at", point_file)
    assert "Table IV" in out
    assert "ppo" in out


def test_point_from_standard_input(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(POINT)))
    code, out, _ = run(capsys, "table", "III", "--at", "-", "--json")
    assert code == 0
    assert json.loads(out)["at"]["L"] == 32


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"L": 0}', "L is 0"),
        ('{"L": -1}', "L is -1"),
        ('{"L": 1.5}', "L is 1.5"),
        ('{"L": NaN}', "L is nan"),
        ('{"L": Infinity}', "L is inf"),
        ('{"L": 1e999}', "L is inf"),
        ('{"L": "3"}', 'L is "3"'),
        ('{"L": true}', "L is true"),
        ('{"L": null}', "L is null"),
        ('{"L": [1]}', "L is [1]"),
        ('{"Lambda": 3}', "unknown symbol 'Lambda'"),
        ('{"L": 1, "L": 2}', "given twice"),
        ('{"L": 3}', "missing value for"),
        ('{"S": 3, "T": 4, "m": 8}', "m is 8 but S + T is 7"),
        ("[1, 2]", "holds a list"),
        ("3", "holds a int"),
        ("{", ":1: not JSON"),
        ("", "not JSON"),
        ('{"L": ' + "9" * 5000 + "}", "not a plain JSON object"),
        ("[" * 100_000, "not a plain JSON object"),
    ],
    ids=lambda text: text[:24],
)
def test_wrong_points_are_told_in_one_line(capsys, tmp_path, text, told):
    path = tmp_path / "p.json"
    path.write_text(text)
    assert told in wrong(capsys, "table", "III", "--at", str(path))


def test_unreadable_points(capsys, tmp_path):
    assert "No such file" in wrong(capsys, "table", "III", "--at", str(tmp_path / "none.json"))
    assert "directory" in wrong(capsys, "table", "III", "--at", str(tmp_path))
    binary = tmp_path / "b.json"
    binary.write_bytes(b"\xff\xfe\x00")
    assert "not text" in wrong(capsys, "table", "III", "--at", str(binary))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "required: COMMAND"),
        (["tabel"], "invalid choice"),
        (["table"], "required: ID"),
        (["table", "XIX"], "there is no table 'XIX'"),
        (["table", "III", "--json", "--latex"], "not allowed with"),
        (["table", "III", "--algorithm", "ppo"], "algorithm goes with table IX"),
        (["table", "IX", "--algorithm", "pp0"], "'pp0'; allowed, nearest first: ppo"),
        (["cost"], "required"),
        (["cost", "--algorithm", "pp0", "--policy", "llama-3.1-8b"], "'pp0'; allowed, nearest first: ppo"),
        (["architecture", "llama-3.1-8"], "llama-3.1-8b"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_calls_are_told_in_one_line(capsys, arguments, told):
    assert told in wrong(capsys, *arguments)


@pytest.mark.parametrize("id", ["II", "XI"])
def test_values_for_a_table_of_text_are_refused(capsys, point_file, id):
    assert "takes no values" in wrong(capsys, "table", id, "--at", point_file)


def test_tables_of_the_catalogue_hold_what_it_holds(capsys):
    _, out, _ = run(capsys, "table", "XI", "--json")
    rows = {row["row"]: row["cells"] for row in json.loads(out)["rows"]}
    assert rows["verl"]["DP"] == rlmkb.catalogue.entry("frameworks", "verl").features["DP"].state
    _, out, _ = run(capsys, "table", "X", "--json")
    assert len(json.loads(out)["rows"]) == len(rlmkb.catalogue.entries("models"))


COST = ["cost", "--algorithm", "ppo", "--policy", "llama-3.1-8b", "-B", "8", "-K", "4", "-S", "1024", "-T", "512"]


def test_cost_adds_up_and_says_how_far_the_model_is(capsys):
    code, out, _ = run(capsys, *COST, "--json")
    document = json.loads(out)
    assert code == 0
    assert [stage["stage"] for stage in document["stages"]] == ["generation", "assessment", "training"]
    assert document["total"]["work"] == pytest.approx(sum(stage["work"] for stage in document["stages"]))
    assert document["total"]["depth"] == pytest.approx(sum(stage["depth"] for stage in document["stages"]))
    policy = document["models"][0]
    assert policy["real_parameters"] == 8_030_261_248
    assert policy["canonical_parameters"] == 6_430_916_608
    assert any("canonical" in text and "-19.9%" in text for text in document["assumptions"])


def test_cost_equals_the_tables(capsys):
    _, out, _ = run(capsys, *COST, "--json")
    stages = {stage["stage"]: stage for stage in json.loads(out)["stages"]}
    for stage in stages:
        expected = table("IV", at=POINT).cell("ppo", stage=stage, quantity="work").value
        assert stages[stage]["work"] == pytest.approx(expected, rel=1e-12)


def test_cost_of_a_disaggregated_layout_is_less_deep(capsys):
    _, out, _ = run(capsys, *COST, "--json")
    _, other, _ = run(capsys, *COST, "--configuration", "disaggregated", "--json")
    together, apart = json.loads(out), json.loads(other)
    assert apart["total"]["work"] == together["total"]["work"]
    assert apart["total"]["depth"] < together["total"]["depth"]


def test_cost_of_a_verifier_and_of_dpo(capsys):
    _, out, _ = run(capsys, *COST, "--reward", "verifier", "--json")
    assert [model["role"] for model in json.loads(out)["models"]] == ["policy", "critic"]
    dpo = ["cost", "--algorithm", "dpo", "--policy", "llama-3.1-8b", "-S", "1024", "-T", "512"]
    _, by_pairs, _ = run(capsys, *dpo, "--pairs", "16", "--json")
    _, by_prompts, _ = run(capsys, *dpo, "-B", "16", "--json")
    assert json.loads(by_pairs) == json.loads(by_prompts)
    assert json.loads(by_pairs)["stages"][0]["work"] == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--critic", "llama-3.2-1b", "--algorithm", "grpo"], "GRPO runs no critic"),
        (["--algorithm", "dpo", "--reward", "llama-3.2-1b"], "DPO runs no reward"),
        (["--pairs", "3"], "only DPO takes pairs"),
        (["-B", "0"], "B is 0"),
        (["-S", "1.5"], "S is 1.5"),
        (["-T", "long"], "T is 'long'"),
        (["-K", "nan"], "K is nan"),
        (["--configuration", "baselin"], "nearest first: baseline"),
        (["--policy", "nemotron-h-8b"], "nemotron-h-8b"),
    ],
    ids=" ".join,
)
def test_impossible_costs_are_told_in_one_line(capsys, arguments, told):
    assert told in wrong(capsys, *COST, *arguments)


def test_cost_text_shows_assumptions(capsys):
    _, out, _ = run(capsys, *COST)
    assert "generation" in out
    assert "canonical" in out


def test_architecture_json(capsys):
    code, out, _ = run(capsys, "architecture", "llama-3.1-8b", "--length", "2048", "--json")
    document = json.loads(out)
    assert code == 0
    assert document["params"]["total"] == 8_030_261_248
    assert document["forward_flops_per_token"]["length"] == 2048


@pytest.mark.parametrize("name", [7, None, ["VII"], {}], ids=repr)
def test_names_of_another_type_are_refused(name):
    with pytest.raises(InputError, match="there is no table"):
        rlmkb.table(name)
    with pytest.raises(InputError, match="allowed, nearest first"):
        rlmkb.cost(name, "llama-3.1-8b")


def test_the_package_offers_what_the_command_line_does():
    assert rlmkb.table("IV", at=POINT).cell("dpo", stage="training", quantity="work").value > 0
    assert rlmkb.cost("grpo", "llama-3.1-8b", B=1, K=1, S=1, T=1).work > 0
    assert set(rlmkb.__all__) <= set(dir(rlmkb))
    with pytest.raises(AttributeError, match="no attribute 'tables'"):
        rlmkb.tables  # noqa: B018


@pytest.mark.parametrize(("row", "sharded"), [("hybrid", "generation and assessment"), ("combined", "generation")])
def test_no_degree_is_a_degree_of_one_and_is_said(capsys, row, sharded):
    _, out, _ = run(capsys, *COST, "--configuration", row, "--json")
    _, one, _ = run(capsys, *COST, "--configuration", row, "--tp", "1", "--json")
    without, given = json.loads(out), json.loads(one)
    assert without["stages"] == given["stages"]
    told = f"no tensor parallelism in {sharded}: tp, the degree, is 1 where it is not given"
    assert [text for text in without["assumptions"] if text not in given["assumptions"]] == [told]
    assert without["at"]["P_t"] == 1


def test_more_ranks_than_heads_are_refused(capsys):
    assert "P_t is 64 but h_pi is 32" in wrong(capsys, *COST, "--configuration", "hybrid", "--tp", "64")


UNEVEN = {"L": 8, "P_p": 3, "d": 64, "d_ff": 256, "h": 8, "V": 1000, "B": 4, "m": 32}


def lines(capsys, tmp_path, id, at, *flags):
    path = tmp_path / "point.json"
    path.write_text(json.dumps(at))
    return run(capsys, "table", id, "--at", str(path), *flags)[1].splitlines()


def test_text_shows_orders_where_the_paper_prints_orders(capsys, tmp_path):
    for id in ("V", "VI"):
        body = run(capsys, "table", id)[1].split("\n\n")[1].splitlines()
        assert all(line.split("  ")[-1].strip().startswith("O(") for line in body[1:])
        _, latex, _ = run(capsys, "table", id, "--latex")
        assert all(r" = O\left(" in line for line in latex.splitlines())
    assert "Values are those of the explicit form." in lines(capsys, tmp_path, "V", UNEVEN)
    assert " O(" not in run(capsys, "table", "VII")[1]


def test_text_shows_the_worst_rank(capsys, tmp_path):
    found = lines(capsys, tmp_path, "VII", UNEVEN)
    work = next(line.split() for line in found if line.startswith("pipeline") and " work " in line)
    assert float(work[4]) / float(work[3]) == pytest.approx(3 / (8 / 3), rel=1e-3)
    assert "worst rank" in found[2]
    assert "worst rank" not in lines(capsys, tmp_path, "VII", {**UNEVEN, "P_p": 4})[2]


def test_text_shows_honest_readings_and_notes(capsys, tmp_path):
    found = lines(capsys, tmp_path, "IX", POINT)
    cell = table("IX", at=POINT).cell("async", quantity="depth")
    row = next(line.split() for line in found if line.startswith("async") and " depth " in line)
    assert float(row[3]) == pytest.approx(cell.value, rel=1e-3)
    assert float(row[4]) == pytest.approx(cell.honest_value, rel=1e-3)
    mark = row[6]
    assert f"{mark} {cell.note}" in found
    assert any(line.startswith("- async aggregate depth: D_gen(pi) + max(") for line in found)
    assert not any("$" in line for line in found)


def test_cost_text_shows_honest_values(capsys):
    _, out, _ = run(capsys, *COST, "--configuration", "stage_fusion")
    _, document, _ = run(capsys, *COST, "--configuration", "stage_fusion", "--json")
    honest = json.loads(document)["stages"][0]["honest"]
    shown = {line.split()[1]: float(line.split()[2]) for line in out.splitlines() if line.startswith("inter ")
             and len(line.split()) == 3}  # fmt: skip
    assert shown == {name: pytest.approx(value, rel=1e-3) for name, value in honest.items()}
    assert set(shown) == {"depth", "memory"}


def test_numbers_beyond_double_precision_are_shown_or_told(capsys, tmp_path):
    huge = {**UNEVEN, "d": 10**200, "L": 10**200}
    del huge["P_p"]  # a quotient is a double
    assert any("e+601" in line for line in lines(capsys, tmp_path, "VII", huge))
    (tmp_path / "point.json").write_text(json.dumps({**huge, "d": 10**2500}))
    assert "thousands of digits" in wrong(capsys, "table", "VIII", "--at", str(tmp_path / "point.json"), "--json")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device without space")
def test_no_space_for_the_output_is_told_in_one_line():
    command = f"{sys.executable} -m rlmkb table I > /dev/full"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "rlmkb: standard output: No space left on device; free some space, or write elsewhere\n"


@pytest.mark.slow
def test_a_closed_pipe_is_no_error():
    command = f"{sys.executable} -m rlmkb table I | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stderr == ""
