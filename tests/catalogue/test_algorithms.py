"""The entries of data/algorithms: complete, consistent with the invocation lists, and refused when wrong."""

import re
from collections import Counter
from pathlib import Path

import pytest

from rlmkb.catalogue import entries
from rlmkb.catalogue.algorithms import SCHEMA, applied
from rlmkb.catalogue.loading import read_entry
from rlmkb.data import data_path
from rlmkb.errors import InputError
from rlmkb.notation import Role, Stage
from rlmkb.theory.algorithms import ALGORITHMS, Call

ENTRIES = entries("algorithms")
LISTED = Path(__file__).with_name("listed.txt").read_text(encoding="utf-8").split()
LISTED = {line.removeprefix("algorithms/") for line in LISTED if line.startswith("algorithms/")}
IN_SECTION_II_D1 = {
    *("vapo", "rto", "safe-rlhf", "divergence-dppo", "mdpo"),
    *("dapo", "pruning-dppo", "graph-grpo", "riskpo", "gbmpo", "microcoder-grpo", "pipo", "rloo", "remax"),
    *("ipo", "orpo", "simpo", "kto", "alphadpo", "rpo"),
    "maxrl",
}


def calls(id):
    return [(call.role.value, call.call.value) for call in applied(id, ENTRIES, ALGORITHMS).invocations]


def test_every_variant_of_the_section_has_an_entry():
    assert len(IN_SECTION_II_D1) == 21
    assert {id for id in LISTED if "II-D1" in ENTRIES[id].section} == IN_SECTION_II_D1
    assert {"ppo", "grpo", "dpo", "sppo", "step-dpo", "step-level-ppo", "decoupled-ppo"} <= set(ENTRIES)


@pytest.mark.parametrize("id", ENTRIES)
def test_entry_agrees_with_its_invocation_list(id):
    entry, algorithm = ENTRIES[id], applied(id, ENTRIES, ALGORITHMS)
    assert set(entry.models) == set(algorithm.roles)
    assert bool(algorithm.at(Stage.GENERATION)) == (entry.setting == "online")
    assert len(algorithm.edits) == len(entry.edits)
    assert entry.cost_in_words


def test_only_the_algorithms_of_theory_have_a_list_of_their_own():
    assert {id for id, entry in ENTRIES.items() if entry.based_on is None} == set(ALGORITHMS)


@pytest.mark.parametrize(
    ("id", "expected"),
    [
        ("simpo", [("policy", "forward"), ("policy", "train")]),
        ("dapo", [("policy", "generate"), ("verifier", "verify"), ("policy", "train")]),
        (
            "open-reasoner-zero",
            [
                ("policy", "generate"),
                ("verifier", "verify"),
                ("critic", "forward"),
                ("policy", "train"),
                ("critic", "train"),
            ],
        ),
    ],
)
def test_edited_lists(id, expected):
    assert calls(id) == expected


def test_safe_rlhf_adds_one_frozen_and_one_trained_model():
    added = Counter(calls("safe-rlhf")) - Counter(calls("ppo"))
    assert added == {("cost_model", "forward"): 1, ("cost_critic", "forward"): 1, ("cost_critic", "train"): 1}


def test_rto_runs_a_second_model_of_the_reference_shape():
    assert Counter(calls("rto"))["reference", "forward"] == 2


def test_kto_takes_six_forward_passes_a_response_where_dpo_takes_four():
    weight = {Call.FORWARD: 1, Call.TRAIN: 3}

    def forwards(id):
        algorithm = applied(id, ENTRIES, ALGORITHMS)
        # the policy's own forward pass is the one inside its training, counted once
        counted = [call for call in algorithm.invocations if not call.keeps_activations]
        return sum(weight[call.call] * call.sequences_per_example for call in counted)

    assert forwards("kto") == 6
    assert forwards("dpo") == 2 * 4


@pytest.mark.parametrize(
    ("id", "assessment", "training"),
    [
        ("ppo", 3, 6),
        ("grpo", 2, 3),
        ("microcoder-grpo", 0, 3),
        ("rto", 4, 6),
        ("safe-rlhf", 5, 9),
        ("decoupled-ppo", 4, 6),
    ],
)
def test_units_that_the_page_on_families_names(id, assessment, training):
    """Forward passes over the batch, a training pass being three, as book/foundations/algorithm-families.md counts."""
    weight = {Call.FORWARD: 1, Call.TRAIN: 3, Call.VERIFY: 0}
    algorithm = applied(id, ENTRIES, ALGORITHMS)
    units = [
        sum(weight[call.call] * call.repeats for call in algorithm.at(stage))
        for stage in (Stage.ASSESSMENT, Stage.TRAINING)
    ]
    assert units == [assessment, training]


def test_remax_generates_two_rollouts_for_one():
    algorithm = applied("remax", ENTRIES, ALGORITHMS)
    (generate,), (train,) = algorithm.at(Stage.GENERATION), algorithm.at(Stage.TRAINING)
    assert generate.examples == 2 * train.examples


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("edit: without", "edit: witout", "without, "),
        ("role: reference", "role: referee", "reference, "),
        ("role: reference", "roll: reference", "role"),
        ("edits:\n    - edit: without\n      role: reference", "edits: []", "none, or a list of edits"),
        ("family: dpo", "family: spo", "likelihood"),
        ("based_on: dpo", "based_on: null", "edits none"),
        ("based_on: dpo", "based_on: simpo", "based_on another algorithm"),
        ("https://arxiv", "http://arxiv", "https"),
        ("[meng2024simpo]", "[Meng et al.]", "a key of data/references.bib"),
        ("setting: offline", "setting: off", "offline, online, iterative"),
    ],
)
def test_a_wrong_entry_is_refused_with_file_and_line(tmp_path, old, new, message):
    text = data_path("algorithms", "simpo.yml").read_text()
    assert old in text
    wrong = tmp_path / "simpo.yml"
    wrong.write_text(text.replace(old, new))
    with pytest.raises(InputError, match=re.escape(message)) as error:
        read_entry(wrong, SCHEMA)
    assert re.search(r"simpo\.yml:\d+: ", str(error.value))


def test_a_circle_or_an_unknown_base_is_refused():
    simpo = ENTRIES["simpo"]
    circle = {
        "simpo": simpo.model_copy(update={"based_on": "orpo"}),
        "orpo": ENTRIES["orpo"].model_copy(update={"based_on": "simpo"}),
    }
    with pytest.raises(InputError, match="not in a circle"):
        applied("simpo", circle, ALGORITHMS)
    with pytest.raises(InputError, match="'dpo' is no algorithm"):
        applied("simpo", {"simpo": simpo}, ALGORITHMS)


def test_an_edit_that_does_not_fit_the_base_is_refused():
    critic_free = ENTRIES["simpo"].model_copy(update={"based_on": "orpo"})
    with pytest.raises(InputError, match="does not use the reference"):
        applied("simpo", {**ENTRIES, "simpo": critic_free}, ALGORITHMS)
    assert Role.REFERENCE not in applied("orpo", ENTRIES, ALGORITHMS).roles
