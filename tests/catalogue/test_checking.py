"""The check: every problem at once, in one form, whatever a file holds."""

import functools
import os
import re
import time
from pathlib import Path

import pytest

from rlmkb import catalogue
from rlmkb.catalogue.measured import COLUMNS
from rlmkb.catalogue.problems import MOST, RULES
from rlmkb.catalogue_rules import RULES as DERIVED
from rlmkb.data import data_path
from rlmkb.errors import InputError

check = functools.partial(catalogue.check, rules=DERIVED)
VERL = data_path("frameworks", "verl.yml").read_text(encoding="utf-8")
PHI = data_path("models", "phi-3.yml").read_text(encoding="utf-8")
LINE = re.compile(r"^(?P<path>.+):(?P<line>\d+): (?P<code>[A-Z]\d{3}) (?P<message>.+)$")


@pytest.fixture
def write(tmp_path):
    def made(text, name="phi-3.yml", kind="models"):
        path = tmp_path / kind / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return made


def codes(report):
    return [(problem.line, problem.code) for problem in report.problems]


def test_the_catalogue_is_clean_and_checked_in_two_seconds():
    started = time.process_time()  # what else the machine does is no fault of the check
    report = check()
    assert time.process_time() - started < 2
    assert report.must_fix == ()
    ours = {f"data/{line}.yml" for line in Path(__file__).with_name("listed.txt").read_text(encoding="utf-8").split()}
    assert [str(problem) for problem in report.problems if problem.path in ours] == [], "no advice about these either"
    assert len(ours) == 269
    assert report.files > 250


def test_all_problems_of_a_file_are_told_at_once(write):
    text = (
        PHI.replace("access: open_weights", "access: open_weigths")
        .replace("organisation: Microsoft\n", "organisation: Microsoft\norganization: Microsoft\n")
        .replace("id: phi-3", "id: phi3")
        .replace("structure: dense\n", "")
        .replace("https://arxiv.org", "javascript:alert(1)//")
        .replace("abdin2024phi3", "abdin2042phi3")
        .replace("license: mit", "license: 1.10")
    )
    report = check([write(text)])
    assert codes(report) == [(1, "V201"), (4, "V202"), (13, "V203"), (14, "V204"), (24, "V206")]
    told = str(report)
    assert 'access is "open_weigths"; allowed: open_weights, closed, mixed, unknown\n' in told
    assert "    write: access: open_weights\n" in told
    assert "organization is not a known key; allowed: organisation, " in told
    assert 'license is 1.10; allowed: text\n    write: license: "1.10"' in told
    assert "structure is missing\n    write: structure: unknown" in told
    assert "1 file: 5 problems to mend, 0 of advice; 1 of them can be mended with --fix" in told


def test_problems_between_files_come_once_the_file_itself_is_right(write):
    text = PHI.replace("abdin2024phi3", "abdin2024phi33").replace("phi-3-mini-3.8b", "phi-3-mini-3b")
    report = check([write(text)])
    assert codes(report) == [(16, "R302"), (22, "R301")]
    assert "nearest: abdin2024phi3" in report.problems[1].message
    assert report.problems[0].write == "- phi-3-mini-3.8b"
    assert check([write(PHI.replace("id: phi-3", "id: phi3"))]).problems[0].write == "id: phi-3"
    twin = write(PHI.replace("id: phi-3", "id: other"), "other.yml")
    assert codes(check([write(PHI), twin])) == [(1, "A411"), (2, "R303"), (7, "R303")]


@pytest.mark.parametrize(
    ("kind", "name", "old", "new", "code", "words"),
    [
        ("frameworks", "verl", "references: [", "upstream: trll\nreferences: [", "R302", "not in data/frameworks"),
        ("algorithms", "simpo", "based_on: dpo", "based_on: dpoo", "R302", "'dpoo', which is not in data/algorithms"),
        ("algorithms", "simpo", "[meng2024simpo]", "[meng2024simpoo]", "R301", "nearest: meng2024simpo"),
        ("frameworks", "verl", "  disagg:\n", "  disag:\n", "V202", "allowed: disagg, "),
    ],
)
def test_names_of_other_entries_must_be_there(kind, name, old, new, code, words, write):
    text = data_path(kind, f"{name}.yml").read_text(encoding="utf-8")
    assert old in text
    found = check([write(text.replace(old, new, 1), f"{name}.yml", kind)]).problems
    assert [problem.message for problem in found if problem.code == code and words in problem.message]


HOSTILE = {
    "tabs": (VERL.replace("  DP:\n    state", "\tDP:\n\t\tstate"), {"F106", "F107"}),
    "a key twice": (VERL + "id: verl\n", {"F112"}),
    "byte order mark": (b"\xef\xbb\xbf" + VERL.encode(), {"F104"}),
    "carriage returns": (VERL.replace("\n", "\r\n"), {"F105"}),
    "alias bomb": ("a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]\n", {"F109"}),
    "ten megabytes": ("id: verl\nname: " + "x" * 10_000_000, {"F102"}),
    "binary": (bytes(range(256)) * 9, {"F103"}),
    "a NUL": ("id: verl\nname: a\x00b\n", {"F103"}),
    "another encoding": (VERL.replace("name: verl", "name: vérl").encode("latin-1"), {"F103"}),
    "a tag": ("id: !!python/object/apply:os.system [echo]\n", {"F110"}),
    "deep flow": ("a: " + "[" * 100_000, {"F107"}),
    "deep blocks": ("\n".join(" " * level + "a:" for level in range(300)), {"F111"}),
    "two documents": (VERL + "---\nid: x\n", {"F108"}),
    "empty": ("", {"F114"}),
    "a list": ("- a\n", {"F114"}),
    "keys that are no text": ("? [a]\n: b\n5: c\nnull: d\n", {"F113"}),
    "a merge key": (VERL + "<<: {a: 1}\n", {"V202"}),
    "an unquoted no": (VERL.replace('in_paper: table_xi', "in_paper: no").replace("remark: ", "# "), {"F115"}),
    "an unquoted date": (VERL.replace('"2026-11-29"', "2026-11-29", 1), {"F115"}),
    "an unquoted version": (re.sub(r'since: "[^"]*"', "since: 1.10", VERL, count=1), {"V204"}),
    "a script": (VERL.replace("organisation: ", "organisation: <script>alert(1)</script> "), {"A404"}),
    "a javascript link": (VERL.replace("https://github.com/verl-project/verl\n", "javascript:alert(1)\n"), {"V206"}),
    "text that turns round": (VERL.replace("name: verl", "name: ve\u202erl"), {"F117"}),
    "the same as an escape": (VERL.replace("name: verl", 'name: "ve\\u202erl" # '), {"F117"}),
    "other letters": (VERL.replace("organisation: ", "organisation: 字节 ÄÖÜ 🦆 "), set()),
    "letters in two parts": (VERL.replace("organisation: ", "organisation: u\u0308ber "), {"A407"}),
    "a moving link": (re.sub(r"repository: \S+", "repository: https://github.com/a/b/blob/main/c", VERL), {"A405"}),
    "a directive": ("%TAG ! tag:yaml.org,2002:\n---\n" + VERL, {"F110"}),
    "the version of another reader": ("%YAML 1.1\n---\n" + VERL, {"F110"}),
    "text of a filler": (re.sub("remark: .*", "remark: \u3164", VERL), {"F117"}),
    "a tag that hides text": (VERL.replace("organisation: ", "organisation: \U000e0041 "), {"F117"}),
    "a remark without end": (re.sub("remark: .*", "remark: " + "a" * 100_000, VERL), {"V205"}),
    "a day to come": (VERL.replace('"2026-11-29"', '"2099-01-01"', 1), {"V205"}),
    "a moving model": (re.sub("repository: .*", "repository: https://huggingface.co/a/b/tree/main", VERL), {"A405"}),
    "infinity": ("id: verl\nname: .inf\n", {"F115", "V201"}),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_whatever_a_file_holds(name, write):
    text, expected = HOSTILE[name]
    report = check([write(text, "verl.yml", "frameworks")])
    assert expected <= {problem.code for problem in report.problems}
    assert report.passed == all(code.startswith("A") for code in expected)
    for line in str(report).splitlines():
        assert line.isprintable()
    for problem in report.problems:
        assert LINE.fullmatch(str(problem).split("\n")[0])
        assert problem.code in RULES


@pytest.mark.parametrize(
    ("kind", "name", "old", "new", "code", "words"),
    [
        ("algorithms", "simpo", "models: [policy]", "models: [policy, critic]", "R304", "allowed: those that its list"),
        ("algorithms", "simpo", "setting: offline", "setting: online", "R304", "does not generate; allowed: offline"),
        ("algorithms", "simpo", "role: reference", "role: critic", "R304", "no list of calls can be made"),
        ("algorithms", "ipo", "based_on: dpo", "based_on: null", "R304", "allowed: based_on one of ppo, grpo, dpo"),
        ("architectures", "phi-4-14b", "layers: 40", "layers: 39", "R305", "the shape with checkpoint_extra has"),
        ("models", "phi-3", 'released: "2024-04-22"', 'released: "2024-02-31"', "V205", "a day of the calendar"),
        ("models", "phi-3", 'released: "2024-04-22"', 'released: "2099-04"', "V205", "a day that has come"),
    ],
)
def test_what_follows_from_an_entry_must_agree_with_it(kind, name, old, new, code, words, write):
    text = data_path(kind, f"{name}.yml").read_text(encoding="utf-8")
    assert old in text
    found = check([write(text.replace(old, new, 1), f"{name}.yml", kind)]).problems
    assert [problem.code for problem in found if words in problem.message] == [code], found


def repeated(text, size=190_000):
    return text * (size // len(text))


LONG = {
    "unknown keys": PHI + "".join(f"key{number}: 1\n" for number in range(14_000)),
    "trailing spaces": PHI + repeated(" \n", 66_000),
    "spaces inside a line": PHI + "# a" + " " * 190_000 + "b\n",
    "unseen": PHI + "# " + repeated("\u200b", 22_000) + "\n",
    "a tag and spaces": PHI.replace("scale: ", "scale: <" + " " * 190_000 + "x # "),
    "references": re.sub(r"references: .*", "references: [" + repeated("a2024b, ") + "]", PHI),
    "empty items": PHI + "corrections: [" + repeated("{},") + "]\n",
    "wrong words": PHI.replace("feedback: [", "feedback: [" + repeated("rlhff, ")),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_a_long_file_is_checked_in_two_seconds_and_told_in_few_lines(name, write):
    path = write(LONG[name])
    started = time.process_time()
    told = str(check([path]))
    assert time.process_time() - started < 2
    assert told.count("\n") < 3 * MOST


def test_many_problems_are_counted_and_those_to_mend_come_first(write):
    text = PHI + "# x \n" * (MOST + 100) + "wrong: 1\n"
    report = check([write(text)])
    assert [problem.code for problem in report.must_fix] == ["V202"]
    assert len(report.advice) == MOST
    assert report.advice[-1].message == "and 101 more"
    assert report.advice[-1].code == "A414"
    assert f"1 problem to mend, {MOST + 100} of advice" in str(report)
    assert "those listed can be mended with --fix" in str(report)
    assert len(check([write(text)], fix=True).mended) == MOST + 100


def test_what_is_no_plain_file(tmp_path, write):
    folder = tmp_path / "models"
    folder.mkdir()
    os.mkfifo(folder / "pipe.yml")
    (folder / "inside.yml").mkdir()
    (folder / "loop.yml").symlink_to(folder / "loop.yml")
    (folder / "gone.yml").symlink_to(folder / "nowhere")
    write(PHI, "phi-3.yaml")
    write(PHI, "line\nbreak.yml")
    found = {problem.path.rsplit("/", 1)[1]: problem.code for problem in check([folder]).problems}
    assert found == {
        "pipe.yml": "F101", "inside.yml": "F116", "loop.yml": "F101", "gone.yml": "F101", "phi-3.yaml": "F116",
        "line\\nbreak.yml": "V208",
    }  # fmt: skip


def test_a_wrong_call_is_told_in_one_line(tmp_path, write):
    for path, words in (
        (tmp_path / "missing.yml", "no such file or folder"),
        (write("x", kind="modells"), "put it in one named models, "),
        (tmp_path / "modells", "not a folder of the catalogue"),
    ):
        with pytest.raises(InputError, match=words):
            check([path])


def test_a_folder_above_the_kinds_is_checked_too(tmp_path, write):
    write(PHI)
    write(VERL, "verl.yml", "frameworks")
    (tmp_path / "schema").mkdir()
    assert check([tmp_path]).files == 2


def test_tables_of_measurements(write):
    def found(text):
        return codes(check([write(text, "refit.csv", "measurements")]))

    def row(id, source="a/b", commit="1234567", path="c#L1"):
        return ",".join([id, source, commit, path, *[""] * (len(COLUMNS["refit"]) - 4)]) + "\n"

    header = ",".join(COLUMNS["refit"]) + "\n"
    assert found(header + row("1") + row("2", commit="")) == []
    assert found(header + "1,2,3\n" + row("1") + row("1") + row("")) == [(2, "F118"), (4, "F119"), (5, "F119")]
    assert found(header + row("1", source="") + row("2", commit="main") + row("3", path=" ")) == [
        (2, "F121"), (3, "F121"), (4, "F121"),
    ]  # fmt: skip
    assert found(header + '1,"open\n') == [(2, "F118")]
    for wrong in ("", "foo,bar\n", "id,a\n", header.replace("id,", "id,id,"), header.replace("id,s", "s")):
        assert found(wrong + row("1")) == [(1, "F120")], wrong
    assert codes(check([write(header, "refits.csv", "measurements")])) == [(1, "F120")]


def test_every_rule_says_how_to_mend_it():
    assert all(re.fullmatch(r"[FVRA][1-4]\d\d", code) for code in RULES)
    assert len({rule.title for rule in RULES.values()}) == len(RULES)
    assert all(rule.mend.endswith(".") for rule in RULES.values())
