"""The drawing of choices says what its description says, and names every scheme between models."""

from rlmkb.views.diagrams import DIAGRAMS
from rlmkb.views.diagrams.inter_choice import CHOICES
from rlmkb.views.diagrams.maps import BETWEEN
from rlmkb.views.diagrams.shapes import Line


def test_every_scheme_between_models_is_an_answer():
    answers = [picture for _, picture, _, _ in CHOICES]
    assert set(answers) - {picture for picture, _, _ in BETWEEN} == {"tensor"}
    assert len(answers) == len(set(answers)) == len(BETWEEN) + 1


def test_questions_follow_each_other_and_each_has_its_answer():
    arrows = [item for item in DIAGRAMS["inter-model-choice"].draw().items if isinstance(item, Line)]
    assert len(arrows) == 2 * len(CHOICES) - 1
    description = DIAGRAMS["inter-model-choice"].description
    assert all(question in description and price in description for question, _, _, price in CHOICES)
