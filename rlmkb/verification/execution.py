"""Partitioned programs, run: do they compute what the program on one device computes?"""

from dataclasses import replace
from functools import cache

import jax
import numpy as np

from rlmkb.theory.transforms import Zero
from rlmkb.verification import sharded, transformer
from rlmkb.verification.layouts import Experts, Layout, Model
from rlmkb.verification.partitioned import Agreement, Author, Case
from rlmkb.verification.transformer import Shape

SMALL = {"d": 32, "d_ff": 64, "h": 8, "V": 64}
# room for every token whatever the router says: devices drop none, and so agree
ROUTED = Experts(E=8, E_a=2, d_e=16, capacity=4.0)


def agree(case: Case) -> list[Agreement]:
    """Loss and gradients of a case on a small model, against one device. Needs as many devices as the layout."""
    model = Model(Shape(L=case.model.shape.L, **SMALL), B=case.model.B, m=16, experts=case.model.experts and ROUTED)
    wanted, found = _one_device(model), _partitioned(case, model)
    apart = jax.tree.map(lambda a, b: float(np.abs(a - b).max() / np.abs(b).max()), found[1], wanted[1])
    loss = abs(found[0] / wanted[0] - 1)
    return [Agreement(case.name, case.author, model.experts is not None, loss, max(jax.tree.leaves(apart)))]


def _words(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Tokens and, one place on, targets."""
    words = np.asarray(jax.random.randint(jax.random.key(1), (model.B, model.m + 1), 0, model.shape.V))
    return words[:, :-1], words[:, 1:]


@cache
def _one_device(model: Model) -> tuple[float, dict]:
    tokens, targets = _words(model)
    if model.experts is None:
        plain = transformer.initialise(model.shape)
        loss, gradients = transformer.training_step(model.shape, plain, tokens, {"logits": targets})
        return float(loss), jax.tree.map(np.asarray, gradients)
    step, _ = sharded.training_step(model, Layout())
    loss, gradients = step(sharded.parameters(model, Layout()), tokens, targets)
    return float(loss), _layer_by_layer(gradients, stages=1)


def _partitioned(case: Case, model: Model) -> tuple[float, dict]:
    tokens, targets = _words(model)
    step, _ = replace(case, model=model).step()
    if case.author is Author.COMPILER:
        loss, gradients = step(transformer.initialise(model.shape), tokens, {"logits": targets})
        return float(loss), jax.tree.map(np.asarray, gradients)
    loss, gradients = step(sharded.parameters(model, case.layout), tokens, targets)
    if case.layout.zero is Zero.OPTIMIZER:  # each data rank's own
        gradients = jax.tree.map(lambda each: np.asarray(each).sum(axis=0), gradients)
    return float(loss), _layer_by_layer(gradients, case.layout.pipeline)


def _layer_by_layer(gradients: dict, stages: int) -> dict:
    """The blocks in the canonical order, undoing `sharded.grouped`."""
    blocks = [jax.tree.map(lambda leaf, s=stage: np.asarray(leaf)[s], block)
              for stage in range(stages) for block in gradients["blocks"]]  # fmt: skip
    return {**jax.tree.map(np.asarray, {k: v for k, v in gradients.items() if k != "blocks"}), "blocks": blocks}
