"""Counts of the catalogue against counting by hand and by brute force."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlmkb.catalogue import entries
from rlmkb.catalogue.features import FEATURES
from rlmkb.catalogue.frameworks import STATES
from rlmkb.errors import InputError
from rlmkb.views.catalogue import counts, finder, numbers
from rlmkb.views.catalogue.query import Query

from .conftest import framework

SETS = st.lists(st.sets(st.sampled_from(FEATURES[:6])), min_size=1, max_size=4)


def made(sets):
    return {f"f{place}": framework(f"f{place}", dict.fromkeys(have, "yes")) for place, have in enumerate(sets)}


@settings(max_examples=15)
@given(SETS)
def test_a_combination_is_listed_if_nobody_has_it_and_it_holds_no_smaller_one(sets):
    found = [set(one) for one in counts.uncovered(made(sets), ["yes"], largest=2)]
    missing = [
        set(one)
        for size in (1, 2)
        for one in combinations(FEATURES, size)
        if not any(set(one) <= have for have in sets)
    ]
    assert found == [one for one in missing if not any(other < one for other in missing)]


def test_pairs_by_hand():
    found = counts.together(made([{"DP", "TP"}, {"DP"}]), ["yes"])
    assert [found["DP", "DP"], found["DP", "TP"], found["TP", "DP"], found["TP", "TP"], found["CP", "DP"]] == [
        2,
        1,
        1,
        1,
        0,
    ]


def test_every_framework_answers_every_feature():
    for one in entries("frameworks").values():
        assert sum(counts.coverage(one).states.values()) == len(FEATURES) == 13
    assert sum(counts.state_counts(entries("frameworks").values()).values()) == 13 * len(entries("frameworks"))


def test_a_release_after_the_check_is_noticed():
    def behind(release, checked):
        return counts.Coverage(dict.fromkeys(STATES, 0), 0, 0, checked, release).behind

    assert behind("2026-12-01", "2026-11-29")
    assert not behind("2026-11-29", "2026-11-29")
    assert not behind(None, "2026-11-29")


@pytest.mark.parametrize("rule", finder.RULES, ids=lambda rule: rule.need)
def test_a_rule_shows_as_many_as_its_query_finds(rule):
    shown = finder.rules_html(entries("frameworks"), lambda page: page)
    found = sum(map(rule.query, entries("frameworks").values()))
    assert (
        f'rl-preset" href="book/catalogue/choose#{rule.query.fragment().replace("&", "&amp;")}">Show the {found} '
        in shown
    )
    assert 0 < found < len(entries("frameworks"))


def test_a_query_asks_for_each_of_its_parts():
    one = framework("x", {"TP": "partial", "async": "yes"})
    assert Query({"TP": "partial", "async": "yes"}, ("orchestrator",), public=True)(one)
    assert not Query({"TP": "yes"})(one)
    assert not Query({"EP": "partial"})(one)
    assert not Query(classes=("library",))(one)
    assert not Query(public=True)(one.model_copy(update={"repository": None}))


def test_counts_in_sentences():
    found = entries("models").values()
    assert numbers.count("models") == len(found)
    assert numbers.count("models: structure=moe|dense") == sum(one.structure in ("moe", "dense") for one in found)
    dated = [one.released for one in found if one.released]
    assert numbers.count("models: from=2025") == sum(day >= "2025" for day in dated)
    assert numbers.count("models: from=2025") + numbers.count("models: before=2025") == len(dated)
    assert numbers.count("frameworks: async=yes") == len(counts.who(entries("frameworks"), ["async"], ["yes"]))


def test_a_wrong_question_is_refused():
    with pytest.raises(InputError, match="frameworks"):
        numbers.count("framworks: async=yes")
    with pytest.raises(InputError, match="yes"):
        numbers.count("frameworks: async=maybe")
    with pytest.raises(InputError, match="largest cache"):
        numbers.computed("larges cache")


def test_computed_numbers():
    shapes = [entries("architectures")[id] for id in entries("architectures")]
    told = [int(numbers.computed(name)) for name in ("dense architectures", "mixtures", "hybrids")]
    assert sum(told) == len(shapes)
    assert all(numbers.computed(name) for name in numbers.COMPUTED)
