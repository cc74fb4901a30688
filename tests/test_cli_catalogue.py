"""`rlmkb catalogue` on the command line: what it prints, where, and its exit codes."""

import csv
import io
import json
from pathlib import Path

import pytest

from rlmkb.catalogue import entries
from rlmkb.cli import main
from rlmkb.data import data_path


@pytest.fixture
def run(capsys):
    def called(*arguments):
        try:
            code = main(["catalogue", *map(str, arguments)])
        except SystemExit as stop:
            code = stop.code
        out, err = capsys.readouterr()
        return code, out, err

    return called


@pytest.mark.parametrize("kind", ["models", "frameworks", "features", "algorithms", "architectures", "hardware"])
def test_list_in_three_forms(kind, run):
    code, out, err = run("list", kind, "--json")
    document = json.loads(out)
    assert (code, err) == (0, "")
    assert [entry["id"] for entry in document["entries"]] == list(entries(kind))
    _, out, _ = run("list", kind, "--csv")
    assert [row["id"] for row in csv.DictReader(io.StringIO(out))] == list(entries(kind))
    _, out, _ = run("list", kind)
    assert all(id in out for id in entries(kind))
    assert out.splitlines()[-1] == f"{len(entries(kind))} entries"


def test_list_with_conditions(run):
    code, out, _ = run("list", "frameworks", "--where", "async=no,in_paper=table_xi", "--json")
    assert code == 0
    found = json.loads(out)["entries"]
    assert found
    assert all(entry["features"]["async"]["state"] == "no" for entry in found)
    _, out, _ = run("list", "frameworks", "--where", "id=verl", "--csv")
    assert out.count("\n") == 2


def test_show(run):
    code, out, err = run("show", "verl", "--json")
    assert (code, err) == (0, "")
    entry = json.loads(out)
    assert list(entry)[:2] == ["id", "name"]
    assert entry["features"]["DP"]["state"] == "yes"
    assert "Infinity" not in out
    code, out, _ = run("show", "h100-sxm5-80gb")
    assert "memory_gb: 80\n" in out


def test_show_of_an_id_that_two_kinds_have(run):
    code, out, err = run("show", "deepseek-r1", "--json")
    assert code == 0
    assert "signal" in json.loads(out)
    assert err == "rlmkb: deepseek-r1 is there more than once; for the other say architectures/deepseek-r1\n"


def test_check_of_the_catalogue(run):
    code, out, err = run("check")
    assert (code, err) == (0, "")
    assert "files: no problems\n" in out or "files: 0 problems to mend" in out


def test_check_fails_with_one_and_repairs(run, tmp_path):
    path = tmp_path / "models" / "phi-4.yml"
    path.parent.mkdir()
    text = data_path("models", "phi-4.yml").read_text(encoding="utf-8")
    path.write_text(text.replace("structure: dense", "structure: Dense"), encoding="utf-8")
    code, out, err = run("check", path)
    assert (code, err) == (1, "")
    assert f"{path}:15: V203 structure is " in out
    code, out, _ = run("check", path, "--json")
    assert code == 1
    assert json.loads(out)["problems"][0]["write"] == "structure: dense"
    code, out, _ = run("check", path, "--fix")
    assert code == 0
    assert out.startswith(f"mended {path}:15: V203")
    assert path.read_text(encoding="utf-8") == text


def test_advice_does_not_fail(run, tmp_path):
    path = tmp_path / "models" / "phi-4.yml"
    path.parent.mkdir()
    text = data_path("models", "phi-4.yml").read_text(encoding="utf-8")
    path.write_text(text.replace("\n", " \n", 1), encoding="utf-8")
    code, out, _ = run("check", path)
    assert code == 0
    assert "Advice (1)\n" in out


def test_check_explains_its_rules(run):
    code, out, _ = run("check", "--rules")
    assert code == 0
    assert "V203  Not one of the allowed words\n" in out


def test_new_writes_what_passes(run, tmp_path, monkeypatch):
    monkeypatch.setattr("rlmkb.catalogue.templates.data_path", lambda *parts: tmp_path.joinpath(*parts))
    code, out, _ = run("new", "frameworks", "my-framework")
    path = tmp_path / "frameworks" / "my-framework.yml"
    assert code == 0
    assert path.exists()
    assert f"rlmkb catalogue check {path}" in out
    assert run("check", path)[0] == 0
    code, _, err = run("new", "frameworks", "my-framework")
    assert code == 2
    assert "exists" in err


def test_new_tells_a_path_that_is_there(run, tmp_path, monkeypatch):
    monkeypatch.setattr("rlmkb.catalogue.templates.data_path", lambda *parts: tmp_path.joinpath("data", *parts))
    (tmp_path / "elsewhere").mkdir()
    for id, folder, expected in (
        ("one", tmp_path, "data/models/one.yml"),
        ("two", tmp_path / "elsewhere", str(tmp_path / "data/models/two.yml")),
    ):
        monkeypatch.chdir(folder)
        _, out, _ = run("new", "models", id)
        told = out.split(" is there")[0]
        assert told == expected
        assert Path(told).is_file()
        assert expected in run("new", "models", id)[2]


def test_export(run, tmp_path):
    code, out, _ = run("export", "--out", tmp_path / "all.json")
    assert code == 0
    document = json.loads((tmp_path / "all.json").read_text(encoding="utf-8"))
    assert len(document["models"]) == len(entries("models"))
    code, out, err = run("export")
    assert (code, err) == (0, "")
    assert json.loads(out) == document


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["list", "model"], "'model' is not a kind of the catalogue; allowed: models, "),
        (["list", "models", "--where", "acces=open"], "allowed: access, "),
        (["list", "models", "--where", "access"], "give KEY=VALUE"),
        (["show", "nothing-like-this"], "is not in the catalogue; nearest: "),
        (["check", "nowhere.yml"], "no such file or folder"),
        (["new", "features", "XP"], "the features are fixed"),
        (["new", "models", "My Model"], "such as my-model"),
        (["export", "--out", "no/such/folder/x.json"], "cannot be written"),
        (["list", "models", "--json", "--csv"], "not allowed with argument"),
        (["lst"], "invalid choice"),
        ([], "required"),
    ],
)
def test_a_wrong_call_is_one_line_and_two(arguments, words, run):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert words in err
