"""2,000 damaged files: no traceback, and nothing accepted that an independent reader and validator would refuse."""

import copy
import functools
import json
import random
import re

import jsonschema
import pytest
import yaml

from rlmkb import catalogue
from rlmkb.catalogue import KINDS
from rlmkb.catalogue_rules import RULES
from rlmkb.data import data_path

check = functools.partial(catalogue.check, rules=RULES)
SEED = 20261129
BASES = {
    "frameworks": ("verl", "trl"), "models": ("phi-4-reasoning", "qwen3"), "hardware": ("b300-sxm-hgx-b300", "l4"),
    "algorithms": ("safe-rlhf", "simpo"), "architectures": ("qwen3-next-80b-a3b-instruct",), "features": ("DP",),
}  # fmt: skip
TEXTS = {(kind, id): data_path(kind, f"{id}.yml").read_text() for kind, ids in BASES.items() for id in ids}
NASTY = (
    *("\t", "\x00", "\ufeff", "\u202e", "\u2028", "\r", "\r\n", "é", "e\u0301", "🦆", "\x1b[31m", "\u200b", "\ud7ff"),
    *("&a ", "*a", "!!python/name:os.system ", "<<: ", "---\n", "...\n", "? ", "- ", ": ", "# ", "|", ">-"),
    *("no", "yes", "null", "~", "1.10", "12:30", "1_000", "0o17", "0x1F", "1e999", ".nan", "2024-02-05", "'", '"'),
    *("{", "}", "[", "]", "\\", "{a: {a: 1}}", "<script>alert(1)</script>", "javascript:alert(1)", "http://a.b"),
    *("%YAML 1.1\n", "%TAG ! x:\n", "9" * 60, "\u3164", "2099-01-01", "x" * 3000),
)  # fmt: skip
WRONG = (
    *(None, True, 0, -1, 1.5, 10**30, float("inf"), "", " ", "x", "no", "javascript:alert(1)"),
    *([], {}, ["x"], {"x": 1}, [[]]),
)  # fmt: skip
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f\u202e\u2028\u200b\u3164]")


def damaged_text(text, draw):
    """A text after a few small accidents."""
    for _ in range(draw.choice((1, 1, 1, 2, 5))):
        place, length = draw.randrange(len(text)), draw.choice((1, 1, 3, 20, 200))
        lines = text.split("\n")
        line = draw.randrange(len(lines))
        match draw.randrange(9):
            case 0:
                text = text[:place] + text[place + length :]
            case 1 | 2:
                text = text[:place] + draw.choice(NASTY) + text[place:]
            case 3:
                letter = chr(draw.choice((draw.randrange(1, 127), draw.randrange(128, 0xD7FF))))
                text = text[:place] + letter + text[place + 1 :]
            case 4:
                text = "\n".join([*lines[:line], lines[line], *lines[line:]])
            case 5:
                lines[line] = draw.choice((" ", "  ", "\t")) + lines[line]
                text = "\n".join(lines)
            case 6:
                other = draw.randrange(len(lines))
                lines[line], lines[other] = lines[other], lines[line]
                text = "\n".join(lines)
            case 7:
                lines[line] = re.sub(r"(:\s).*", lambda match: match[1] + draw.choice(NASTY), lines[line])
                text = "\n".join(lines)
            case 8:
                text = text[:place]
        text = text or "x"
    return text.encode("utf-8", "surrogatepass")


def damaged_bytes(text, draw):
    data = bytearray(text.encode())
    for _ in range(draw.choice((1, 1, 2, 8))):
        data[draw.randrange(len(data))] = draw.randrange(256)
    return bytes(data)


def places(node, where=()):
    """Every key and item of nested data."""
    inside = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in inside:
        yield (*where, key)
        yield from places(value, (*where, key))


def damaged_data(text, draw):
    """Well-formed YAML whose content has changed at one or two places."""
    data = copy.deepcopy(yaml.load(text, Loader=yaml.CSafeLoader))
    for _ in range(draw.choice((1, 1, 2))):
        *path, key = draw.choice(list(places(data)))
        parent = data
        for part in path:
            parent = parent[part]
        match draw.randrange(3):
            case 0:
                del parent[key]
            case 1:
                parent[key] = copy.deepcopy(draw.choice(WRONG))
            case 2 if isinstance(parent, dict):
                parent[f"{key}x"] = parent.pop(key)
            case _:
                parent[key] = {"x": parent[key]}
    return yaml.dump(data, allow_unicode=True, sort_keys=draw.random() < 0.3).encode()


def damaged_files(folder, count):
    """Damaged copies of real files, each under its own name in a folder of its kind."""
    draw = random.Random(SEED)
    for number in range(count):
        kind, id = draw.choice(list(TEXTS))
        damage = draw.choice((damaged_text, damaged_text, damaged_bytes, damaged_data))
        path = folder / str(number) / kind / f"{id}.yml"
        path.parent.mkdir(parents=True)
        path.write_bytes(damage(TEXTS[kind, id], draw))
        yield path


# the committed schemas, so that a slip in a model cannot excuse itself
SCHEMAS = {kind: json.loads(data_path("schema", f"{kind}.schema.json").read_text(encoding="utf-8")) for kind in KINDS}
VALIDATORS = {kind: jsonschema.Draft202012Validator(schema) for kind, schema in SCHEMAS.items()}
KEYS = set(re.findall(r"^@\w+\{(.*),$", data_path("references.bib").read_text(encoding="utf-8"), re.MULTILINE))


def objections(path):
    """What PyYAML, in the older version of the language, and jsonschema say against a file."""
    data = path.read_bytes()
    text = data.decode("utf-8")
    node = yaml.compose(text, Loader=yaml.CSafeLoader)
    yield from repeated_keys(node)
    content = truth_as_key(yaml.load(text, Loader=yaml.CSafeLoader))
    yield from (error.message for error in VALIDATORS[path.parent.name].iter_errors(content))
    if text.startswith("%"):
        yield "directive"
    if content.get("id") != path.stem:
        yield "id"
    if set(content.get("references", [])) - KEYS:
        yield "references"
    if b"\r" in data or data.startswith(b"\xef\xbb\xbf") or UNSEEN.search(text):
        yield "characters"
    if any(event.anchor for event in yaml.parse(text, Loader=yaml.CSafeLoader) if isinstance(event, yaml.NodeEvent)):
        yield "anchor"


def repeated_keys(node):
    if isinstance(node, yaml.MappingNode):
        names = [key.value for key, _ in node.value]
        yield from (name for name in names if names.count(name) > 1)
        for _, value in node.value:
            yield from repeated_keys(value)
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            yield from repeated_keys(value)


def truth_as_key(content):
    """The older version of YAML reads the key `on` as true."""
    if isinstance(content, dict):
        return {"on" if key is True else key: truth_as_key(value) for key, value in content.items()}
    return [truth_as_key(item) for item in content] if isinstance(content, list) else content


def refused_by(report):
    """Paths with a problem of their own; that copies of one file share its name is none."""
    return {problem.path for problem in report.must_fix if problem.code != "R303"}


def check_damaged(folder, count):
    """How many of the damaged files pass, all of them without objection."""
    paths = list(damaged_files(folder, count))
    report = check(paths)
    assert report.files == count
    refused = refused_by(report)
    accepted = [path for path in paths if str(path) not in refused]
    wrong = {str(path): found for path in accepted if (found := list(objections(path)))}
    assert wrong == {}
    assert all(problem.line >= 1 and "\n" not in problem.message for problem in report.problems)
    return len(accepted)


@pytest.mark.slow
def test_two_hundred_damaged_files(tmp_path):
    assert 0 < check_damaged(tmp_path, 200) < 100


@pytest.mark.slow
def test_two_thousand_damaged_files(tmp_path):
    assert 0 < check_damaged(tmp_path, 2000) < 1000


def test_repair_of_damaged_files_accepts_nothing_wrong(tmp_path):
    paths = list(damaged_files(tmp_path, 80))
    before = {path: path.read_bytes() for path in paths}
    report = check(paths, fix=True)
    refused = refused_by(report)
    for path in paths:
        changed = path.read_bytes() != before[path]
        assert changed == any(problem.path == str(path) for problem in report.mended)
        assert str(path) in refused or not list(objections(path))
    assert check(paths, fix=True).mended == ()


def test_the_judge_sees_what_is_wrong(tmp_path):
    for change in (
        lambda text: text.replace("state: unknown", "state: maybe", 1),
        lambda text: text + "id: verl\n",
        lambda text: text.replace("id: verl", "id: other"),
        lambda text: text.replace("references: [", "references: [nobody2020nothing, "),
    ):
        path = tmp_path / "frameworks" / "verl.yml"
        path.parent.mkdir(exist_ok=True)
        text = TEXTS["frameworks", "verl"]
        changed = change(text.replace('state: "yes"', "state: unknown"))
        path.write_text(changed, encoding="utf-8")
        assert list(objections(path))
