"""Listings and sources as notebooks show them."""

import re
from html.parser import HTMLParser

import pytest

from rlmkb.algorithms import dpo, grpo, learning, ppo, rollout
from rlmkb.algorithms.lines import LISTINGS
from rlmkb.errors import InputError
from rlmkb.theory.algorithms import DPO, GRPO
from rlmkb.verification.comparison import at
from rlmkb.views.listings import departures, invocation_table, listing_html, show, source

every = pytest.mark.parametrize("one", LISTINGS.values(), ids=LISTINGS)


class Rows(HTMLParser):
    """The headings of rows, and tags that were opened and not closed."""

    def __init__(self, html):
        super().__init__()
        self.open, self.headings, self.inside = [], [], False
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.inside = ("scope", "row") in attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.headings.append(data)


@every
def test_listing_has_each_line_once_in_order_and_is_well_formed(one):
    rows = Rows(listing_html(one))
    assert rows.open == []
    assert rows.headings == [str(line.number) for line in one.lines]


@every
def test_listing_shows_tags_and_lanes(one):
    html = listing_html(one)
    assert html.count("<strong>DP</strong>") == sum("DP" in line.tags.usual for line in one.lines)
    assert html.count("<strong>TP</strong>") == sum("TP" in line.tags.usual for line in one.lines)
    assert html.count("<s>") == sum(len(line.dropped) for line in one.lines)
    for role in {line.lane for line in one.lines if line.lane}:
        assert f"rl-{role.value}" in html


@every
def test_every_dropped_tag_is_explained(one):
    told = {int(number) for reason in departures(one) for number in re.findall(r"\d+", reason)}
    assert told == {line.number for line in one.departures()}


def test_names_are_checked():
    with pytest.raises(InputError, match="no listing 'sft'"):
        show("sft")


@pytest.mark.parametrize(
    ("one", "functions"),
    [
        ("rollout", (rollout.generate, rollout.sample)),
        ("ppo", (ppo.iteration, ppo.assess, ppo.shaped_rewards, ppo.advantages_and_returns, ppo.train,
                 ppo.update_policy, ppo.policy_loss, ppo.update_critic, ppo.critic_loss)),
        ("grpo", (grpo.iteration, grpo.assess, grpo.group_advantages, grpo.train, grpo.update, grpo.loss,
                  grpo.kl_estimate)),
        ("dpo", (dpo.train, dpo.step, dpo.update, dpo.loss, dpo.log_ratio_difference)),
    ],
)  # fmt: skip
def test_source_has_all_lines_of_the_paper_in_its_margin(one, functions):
    margin = " ".join(mark for block in source(*functions).blocks for mark, _ in block)
    shown = set()
    for first, last in re.findall(r"(\d+)(?:-(\d+))?", margin):
        shown |= set(range(int(first), int(last or first) + 1))
    assert shown == {line.number for line in LISTINGS[one].lines}


def test_source_drops_documentation_and_numbers_but_no_code():
    text = repr(source(ppo.train))
    assert '"""' not in text
    assert "# line" not in text
    assert "   38      for shuffle in jax.random.split(key, setting.epochs):" in text
    assert "return models._replace(policy=policy, critic=critic)" in text


def test_source_as_html_has_the_same_lines():
    shown = source(dpo.loss, dpo.log_ratio_difference)
    text = re.sub(r"<[^>]+>", "", shown._repr_html_()).replace("&#39;", "'").replace("&gt;", ">")
    assert [line.rstrip() for line in text.splitlines()] == repr(shown).splitlines()


@pytest.mark.slow  # compiles programs
def test_invocations_say_exact_or_differ():
    sizes = at(learning.POLICY, S=3, T=4, m=7, B_pairs=64)
    runs = learning.rehearsal("dpo")
    assert {row[-1] for row in invocation_table(runs, DPO, "x", **sizes).rows} == {"exact"}
    sizes = at(learning.POLICY, S=3, T=4, m=7, B=16, K=8)
    others = invocation_table(learning.rehearsal("grpo"), GRPO, "x", **sizes).rows
    assert [row[1] for row in others if row[-1] == "differs"] == ["reward", "verifier"]
