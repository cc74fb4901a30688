"""Where algorithms 1 to 4 of section V differ from the text around them, or from the tables."""

from rlmkb.notation import Role, symbol
from rlmkb.theory import building_blocks as blocks
from rlmkb.theory.derivations.disagreement import Disagreement
from rlmkb.theory.formula import Quantity

B, K, m, pairs, epochs = (symbol(name) for name in ("B", "K", "m", "B_pairs", "n_epochs"))
POLICY, REFERENCE = blocks.forward(Role.POLICY), blocks.forward(Role.REFERENCE)
TRAINING = blocks.training(Role.POLICY)
MINIBATCHES = 4  # an example: the paper fixes no number


def _dpo_epochs() -> Disagreement:
    both = 2 * pairs * m
    return Disagreement(
        "dpo_epochs", "The reference in several epochs of DPO", Quantity.WORK,
        "section V's text: its log-probabilities stored, one pass",
        both * (REFERENCE.handle + epochs * TRAINING.handle),
        "algorithm 4: inside the loop over epochs",
        both * epochs * (REFERENCE.handle + TRAINING.handle),
        "The reference is frozen and the pairs are given, so every epoch would compute the same numbers.",
        (REFERENCE, TRAINING),
    )  # fmt: skip


def _minibatches() -> Disagreement:
    one, whole = (blocks.depth_training(Role.POLICY, B * K / count) for count in (MINIBATCHES, 1))
    return Disagreement(
        "minibatch_tag", "Depth of an epoch of four minibatches", Quantity.DEPTH,
        "algorithms 2 to 4 line by line: an update after each", MINIBATCHES * one.handle,
        "their tag [DP] on the loop, and table IV: one pass", whole.handle,
        "Each update reads the weights that the one before has written; independent are the sequences of a minibatch.",
        (one, whole),
    )  # fmt: skip


SPECIFICATION_DISAGREEMENTS: dict[str, Disagreement] = {entry.id: entry for entry in (_dpo_epochs(), _minibatches())}
