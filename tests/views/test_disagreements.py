"""Disagreements as HTML: both readings, the difference, its size, our reading."""

from xml.etree import ElementTree

import pytest

from rlmkb.errors import InputError
from rlmkb.theory.derivations.disagreements import EVERY
from rlmkb.views.disagreements import disagreement_html, show, size_text

POINT = {
    "L": 2, "d": 64, "d_ff": 256, "h": 4, "V": 100, "B": 4, "K": 2, "B_pairs": 4, "S": 8, "T": 24, "E": 8, "E_a": 2,
    "d_e": 32, "P_d": 2, "P_p": 2, "P_t": 2, "P_c": 2, "P_e": 2,
}  # fmt: skip


@pytest.mark.parametrize("id", ["softmax", "critic_gap", "tensor_orders", "isolated_dispatch", "fusion_depth"])
def test_is_well_formed_and_says_why(id):
    root = ElementTree.fromstring(disagreement_html(EVERY[id], POINT))
    text = " ".join("".join(root.itertext()).split())
    assert "SymPy: not zero" in text
    assert root.find(".//dt[4]").text == "Our reading"
    assert len(root.findall(".//span[@class='math notranslate nohighlight']")) >= 2


@pytest.mark.parametrize(("id", "text"), [("critic_gap", "−25 %"), ("isolated_dispatch", "+100 %")])
def test_size(id, text):
    assert size_text(EVERY[id], POINT) == text


def test_plain_text_names_each():
    assert repr(show("critic_gap", "dpo_pair", at=POINT)).splitlines()[0] == "critic_gap: stands, −25 %"


def test_unknown_name():
    with pytest.raises(InputError, match="'critic_gab'; nearest first: critic_gap"):
        show("critic_gab", at=POINT)
