"""Every diagram: valid, described, the same each time, legible, and free of overlaps."""

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

import rlmkb
from rlmkb.errors import InputError
from rlmkb.views import design, diagrams
from rlmkb.views.diagrams.page import Diagram, svg
from rlmkb.views.diagrams.parts import lines
from rlmkb.views.diagrams.shapes import Label, Line, Shape

SVG = "{http://www.w3.org/2000/svg}"
every = pytest.mark.parametrize("name", diagrams.names())


@every
def test_is_valid_xml_with_title_and_description(name):
    root = ElementTree.fromstring(diagrams.render(name))
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    named = {child.get("id"): child.text for child in root if child.get("id")}
    ids = root.get("aria-labelledby").split()
    assert [named[each] for each in ids] == [diagrams.title(name), diagrams.description(name)]
    assert len(diagrams.description(name).split()) > 25


def test_ids_are_unique_over_all_diagrams():
    ids = re.findall(r' id="([^"]+)"', "".join(map(diagrams.render, diagrams.names())))
    assert len(ids) == len(set(ids)) == 2 * len(diagrams.names())


@every
def test_takes_its_colours_from_the_design_and_nowhere_else(name):
    markup, light = diagrams.render(name), design.tokens("light")
    pairs = re.findall(r"var\(--rl-([\w-]+), (#\w+)\)", markup)
    assert pairs
    assert all(light[token] == value for token, value in pairs)
    painted = set(re.findall(r' (?:fill|stroke)="([^"]+)"', markup)) - {"none"}
    assert all(value.startswith("var(--rl-") for value in painted)


@every
def test_standalone_has_plain_colours_and_a_background(name):
    markup = diagrams.render(name, standalone=True)
    assert "var(" not in markup
    first = next(child for child in ElementTree.fromstring(markup) if child.tag == f"{SVG}rect")
    assert first.get("fill") == design.tokens("light")["page"]


@pytest.mark.slow
def test_is_the_same_in_another_process():
    code = "from rlmkb.views import diagrams as d; print(''.join(map(d.render, d.names())), end='')"
    environment = os.environ | {"PYTHONHASHSEED": "7", "PYTHONIOENCODING": "utf-8"}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=environment)
    assert run.stdout.decode() == "".join(map(diagrams.render, diagrams.names()))


@pytest.mark.parametrize("ask", [diagrams.render, diagrams.title, diagrams.description])
def test_unknown_name_is_an_input_error_with_the_nearest_first(ask):
    with pytest.raises(InputError, match=r"'kv-cash'; there are: kv-cache, "):
        ask("kv-cash")


def test_text_and_titles_are_escaped():
    unsafe = Diagram("unsafe", "a < b & c", "x > y", lambda: lines("1 < 2"))
    root = ElementTree.fromstring(svg(unsafe))
    assert root.find(f"{SVG}title").text == "a < b & c"
    assert root.find(f"{SVG}text").text == "1 < 2"


def _labels(name: str) -> Counter:
    return Counter(item.markup for item in diagrams.DIAGRAMS[name].draw().items if isinstance(item, Label))


def test_models_per_algorithm_shows_every_invocation():
    from rlmkb.theory.algorithms import ALGORITHMS

    calls = Counter(str(call.call) for each in ALGORITHMS.values() for call in each.invocations)
    shown = _labels("models-per-algorithm")
    assert {word: shown[word] for word in calls} == dict(calls)


def test_pipeline_shows_the_invocations_of_ppo():
    from rlmkb.theory.algorithms import PPO
    from rlmkb.views.diagrams.loop import STAGES

    drawn = {(role, stage) for stage, _, models in STAGES for role, *_ in models}
    assert drawn == {(call.role.value, call.stage.value) for call in PPO.invocations}


def test_forward_tags_are_the_contraction_chain_and_mark_what_is_counted():
    from rlmkb.views.diagrams.block import LEVELS, contraction_lengths

    links = [link for _, _, link in LEVELS if link]
    assert links == list(contraction_lengths())
    tags = Counter(f"${length}$" for length in contraction_lengths().values())
    assert tags == {"$d$": 3, "$d/h$": 1, "$m$": 1, "$d_{ff}$": 1}
    items = diagrams.DIAGRAMS["decoder-block-forward"].draw().items
    assert Counter(item.markup for item in items if isinstance(item, Label) and item.ink == "depth-ink") == tags
    counted = {item.key for item in items if isinstance(item, Shape) and item.key and item.stroke == "work"}
    assert counted == {"query", "key", "value", "scores", "aggregation", "output", "up", "down"}


def test_backward_chain_sums_over_the_lengths_of_the_forward_pass():
    from rlmkb.views.diagrams.backward import PRODUCTS
    from rlmkb.views.diagrams.block import contraction_lengths

    assert Counter(first[1] for _, first, _, _ in PRODUCTS) == Counter(contraction_lengths().values())
    assert [name for name, _, second, _ in PRODUCTS if second[1] == "m"] == ["aggregation $P V$", "scores $Q K^T$"]


def test_work_and_depth_counts_its_own_drawing():
    from rlmkb.views.diagrams.computation import LENGTH, levels

    items = diagrams.DIAGRAMS["work-and-depth"].draw().items
    nodes = [item for item in items if isinstance(item, Label) and item.markup in "×+"]
    assert len(nodes) == sum(levels(LENGTH)) == 2 * LENGTH - 1
    path = [item for item in items if isinstance(item, Line) and item.stroke == "depth"]
    assert len(path) == len(levels(LENGTH))
    assert f"work {len(nodes)}" in _labels("work-and-depth")
    assert f"depth {len(path)}" in _labels("work-and-depth")


def test_prefill_scores_are_a_triangle_and_decode_adds_rows():
    items = diagrams.DIAGRAMS["prefill-and-decode"].draw().items
    cells = Counter(item.stroke for item in items if isinstance(item, Shape) and item.extent.w == item.extent.h)
    assert cells["work"] == 5 * 6 // 2  # prompt of 5
    assert cells["depth"] == 6 + 7 + 8 + 9  # the next four tokens, each over all before it and itself


def test_architecture_names_what_is_there_and_imports_point_down():
    from rlmkb.views.diagrams.maps import LAYERS

    root = Path(rlmkb.__file__).parent
    packages = {f"rlmkb.{path.parent.name}" for path in root.glob("*/__init__.py")}
    assert packages <= {name for boxes in LAYERS for name, _ in boxes}
    level = {name: index for index, boxes in enumerate(LAYERS) for name, _ in boxes}
    for name in level:
        path = root.parent / name.replace(".", "/")
        assert path.is_dir() or path.with_suffix(".py").is_file(), f"{name} is drawn and does not exist"
    for source in root.rglob("*.py"):
        parts = source.relative_to(root).with_suffix("").parts
        importer = f"rlmkb.{parts[0]}"
        used = set(re.findall(r"^\s*(?:from|import) (rlmkb\.\w+)", source.read_text("utf-8"), re.MULTILINE))
        upward = [name for name in used if level.get(name, 99) < level.get(importer, -1)]
        assert not upward, f"{importer} imports {upward}, which is drawn above it"
