"""The figures of layouts and of the combined configuration show what the theory says."""

from collections import Counter

from rlmkb.theory.algorithms import PPO
from rlmkb.theory.resharding import share
from rlmkb.views.diagrams import DIAGRAMS
from rlmkb.views.diagrams.inter_combined import GROUPS
from rlmkb.views.diagrams.inter_layouts import DEGREE, RANKS, piece
from rlmkb.views.diagrams.shapes import Shape


def test_each_rank_keeps_its_shard_and_receives_what_the_theory_counts():
    assert all(rank in piece(rank) for rank in range(RANKS))
    assert all((len(piece(rank)) - 1) == RANKS * share(DEGREE, RANKS) for rank in range(RANKS))
    held = Counter(quarter for rank in range(RANKS) for quarter in piece(rank))
    assert set(held.values()) == {RANKS // DEGREE}  # every quarter once a replica
    shapes = [item for item in DIAGRAMS["hybrid-layouts"].draw().items if isinstance(item, Shape)]
    filled = Counter(item.fill for item in shapes if item.extent.w < 16)
    assert filled["training"] == 2 * RANKS
    assert filled["generation"] == RANKS * (len(piece(0)) - 1)


def test_the_combined_configuration_has_every_invocation_of_ppo():
    drawn = {(role, stage) for stage, _, models in GROUPS for role, *_ in models}
    assert drawn == {(call.role.value, call.stage.value) for call in PPO.invocations}
