"""Appendices B-A to B-D, step by step; sympy checks that each line follows from the one before.

A step is an identity, which must hold exactly, an approximation, whose error is kept beside it, or an upper bound,
whose sign sympy proves.
"""

from rlmkb.theory.derivations import depth, inter_model, iteration, memory, parallel, work
from rlmkb.theory.derivations.steps import Derivation, Induction, Line, Relation, Step, difference
from rlmkb.theory.derivations.work import decode_closed_form, generation_closed_form, generation_ratio

__all__ = [
    "DERIVATIONS",
    "INTER_MODEL_DERIVATIONS",
    "PARALLEL_DERIVATIONS",
    "Derivation",
    "Induction",
    "Line",
    "Relation",
    "Step",
    "decode_closed_form",
    "difference",
    "generation_closed_form",
    "generation_ratio",
]

DERIVATIONS: dict[str, Derivation] = {
    derivation.id: derivation
    for part in (work, depth, memory, iteration)
    for derivation in part.DERIVATIONS
}

#: Appendix B-C, one model on many ranks; `DERIVATIONS` has what is one model's, and an iteration's.
PARALLEL_DERIVATIONS: dict[str, Derivation] = {derivation.id: derivation for derivation in parallel.DERIVATIONS}

#: Appendix B-D, an iteration under each configuration of table IX.
INTER_MODEL_DERIVATIONS: dict[str, Derivation] = {
    derivation.id: derivation for derivation in inter_model.DERIVATIONS
}
