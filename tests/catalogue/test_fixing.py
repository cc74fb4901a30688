"""The repair of mere form: it loses nothing, is done at once, and has nothing left to do afterwards."""

import os
import random
import re

import pytest
import yaml

from rlmkb.catalogue import KINDS, check
from rlmkb.catalogue.fixing import comments, write_text
from rlmkb.catalogue.syntax import parse
from rlmkb.data import data_path
from rlmkb.errors import InputError

VERL = data_path("frameworks", "verl.yml").read_text(encoding="utf-8")
NAME = "name: verl (HybridFlow)\n"
HEADER = "# yaml-language-server: $schema=../schema/frameworks.schema.json\n\n"


@pytest.fixture
def mended(tmp_path):
    def done(text, kind="frameworks", name="verl.yml"):
        path = tmp_path / kind / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        report = check([path], fix=True)
        return report, path.read_bytes().decode("utf-8", "replace")

    return done


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        (lambda text: "\ufeff" + text, "F104"),
        (lambda text: text.replace("\n", "\r\n"), "F105"),
        (lambda text: text.replace("\n", "\r"), "F105"),
        (lambda text: re.sub(r"^( +)", lambda m: "\t" * (len(m[1]) // 2), text, flags=re.M), "F106"),
        (lambda text: text.replace('state: "yes"', "state: yes"), "F115"),
        (lambda text: text.replace('"2026-11-29"', "2026-11-29"), "F115"),
        (lambda text: text.replace("\n", "  \n"), "A401"),
        (lambda text: text.rstrip("\n"), "A403"),
        (lambda text: text.replace("repository: https:", "repository: http:"), "V206"),
        (lambda text: text.replace("state: partial", "state: Partial"), "V203"),
        (lambda text: text.replace(NAME, "").replace("license:", NAME + "license:"), "A402"),
    ],
)  # fmt: skip
def test_each_repair_brings_the_file_back(damage, code, mended):
    damaged = damage(VERL)
    assert damaged != VERL
    report, text = mended(damaged)
    assert {problem.code for problem in report.mended} == {code}
    assert text == VERL
    assert report.problems == ()


def test_several_at_once(mended):
    damaged = "\ufeff" + VERL.replace('state: "yes"', "state: YES  ").replace("\n", "\r\n")
    report, text = mended(damaged)
    assert text == VERL
    assert report.passed


def test_an_order_keeps_comments_with_their_keys(mended):
    lines = VERL.split("\n")
    license = next(line for line in lines if line.startswith("license"))
    text = HEADER + VERL.replace(license + "\n", "").replace(
        "features:\n", f"# about the licence,\n# in two lines\n{license}  # beside it\nfeatures:\n"
    )
    report, new = mended(text)
    assert [problem.code for problem in report.mended] == ["A402"]
    assert new.startswith(HEADER + "id: verl\n")
    assert f"# about the licence,\n# in two lines\n{license}  # beside it\ncentre:" in new
    assert yaml.safe_load(new) == yaml.safe_load(text)


def test_an_order_inside_a_list(mended):
    evidence = re.search(r"      - url: (\S+)\n        says: (.+)\n", VERL)
    turned = f"      - says: {evidence[2]}\n        url: {evidence[1]}\n"
    report, text = mended(VERL.replace(evidence[0], turned, 1))
    assert text == VERL
    assert report.problems == ()


def test_a_comment_between_hyphen_and_key_is_left_to_people(mended):
    evidence = re.search(r"      - url: (\S+)\n        says: (.+)\n", VERL)
    turned = f"      - says: {evidence[2]}\n        # why\n        url: {evidence[1]}\n"
    report, text = mended(VERL.replace(evidence[0], turned, 1))
    assert turned in text
    assert [problem.code for problem in report.problems] == ["A402"]
    assert not report.problems[0].edits


@pytest.mark.parametrize("kind", KINDS)
def test_shuffled_keys_of_real_files_come_back(kind, mended):
    draw = random.Random(kind)
    for path in draw.sample(sorted(data_path(kind).glob("*.yml")), 3):
        text = path.read_text(encoding="utf-8")
        blocks = re.split(r"(?m)^(?=[a-z])", text)
        blocks = [block for block in blocks if block]
        draw.shuffle(blocks)
        report, new = mended("".join(blocks), kind, path.name)
        assert new == text
        assert report.passed


def test_what_cannot_be_mended_stays_as_it_is(mended):
    for text in (b"\xff\xfe", "a: [\n", VERL.replace("state: partial", "state: nearly"), "a: &a 1\n", "x" * 300_000):
        data = text if isinstance(text, bytes) else text.encode()
        report, new = mended(text)
        assert new == data.decode("utf-8", "replace")
        assert report.mended == ()
        assert not report.passed


def test_a_number_sign_in_text_is_no_comment():
    text = "a: 'x # y'\nb: x#y  # one\nc: >-\n  # text\n# two\nd: [1, 2] # three\n"
    tree, _ = parse(text, "x.yml")
    assert comments(text, tree) == ["one", "three", "two"]


def test_writing_is_all_or_nothing(tmp_path, monkeypatch):
    path = tmp_path / "x.yml"
    path.write_text("old")
    path.chmod(0o640)
    link = tmp_path / "link.yml"
    link.symlink_to(path)
    write_text(link, "new")
    assert path.read_text() == "new"
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(InputError, match="cannot be written: no space left"):
        write_text(path, "newer")
    assert path.read_text() == "new"
    assert sorted(found.name for found in tmp_path.iterdir()) == ["link.yml", "x.yml"]


@pytest.mark.slow
def test_the_whole_catalogue_needs_no_repair(tmp_path):
    assert not [problem for problem in check().problems if problem.edits]
