"""The canonical Transformer is a real model: its cache is right, it cannot look ahead, and it learns."""

import importlib
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rlmkb import verification
from rlmkb.errors import InputError
from rlmkb.notation import Role
from rlmkb.verification import transformer
from rlmkb.verification.transformer import HEADS, Shape

SMALL = Shape(L=2, d=16, d_ff=32, h=4, V=24)
TOKENS = jax.random.randint(jax.random.key(1), (2, 9), 0, SMALL.V)
FORWARD = jax.jit(partial(transformer.forward, SMALL))


@pytest.fixture(scope="module")
def parameters():
    return jax.jit(transformer.initialise, static_argnums=(0, 1))(SMALL, 3)


@pytest.fixture(scope="module")
def logits(parameters):
    return FORWARD(parameters, TOKENS)["logits"]


@pytest.mark.slow
def test_prefill_and_decode_give_the_logits_of_the_whole_sequence(parameters, logits):
    last, caches = jax.jit(partial(transformer.prefill, SMALL))(parameters, TOKENS[:, :6])
    np.testing.assert_allclose(last, logits[:, 5], atol=1e-5)
    step = jax.jit(partial(transformer.decode_step, SMALL))
    caches = transformer.widen(caches, 3)
    for position in range(6, 9):
        last, caches = step(parameters, TOKENS[:, position], position, caches)
        np.testing.assert_allclose(last, logits[:, position], atol=1e-5)


@pytest.mark.slow
def test_growing_and_static_cache_generate_the_same_tokens(parameters):
    answers = [
        jax.jit(partial(transformer.generate, SMALL, T=3, static=static))(parameters, TOKENS)
        for static in (False, True)
    ]
    assert answers[0].shape == (2, 3)
    np.testing.assert_array_equal(*answers)


def test_no_token_sees_what_comes_after_it(parameters, logits):
    changed = TOKENS.at[:, 5].add(1) % SMALL.V
    other = FORWARD(parameters, changed)["logits"]
    np.testing.assert_array_equal(other[:, :5], logits[:, :5])
    assert np.abs(other[:, 5:] - logits[:, 5:]).max(axis=-1).min() > 1e-3


def test_positions_matter(parameters):
    out = FORWARD(parameters, jnp.zeros_like(TOKENS))["logits"]
    assert np.abs(out[0, 1] - out[0, 2]).max() > 1e-3


@pytest.mark.slow
def test_training_lowers_the_loss(parameters):
    @jax.jit
    def update(weights, mean, square, step):
        value, gradients = transformer.training_step(SMALL, weights, TOKENS, {"logits": TOKENS})
        return value, *transformer.adam(weights, gradients, mean, square, step, rate=1e-2)

    zeros = jax.tree.map(jnp.zeros_like, parameters)
    weights, mean, square, losses = parameters, zeros, zeros, []
    for step in range(1, 21):
        value, weights, mean, square = update(weights, mean, square, step)
        losses.append(value.item())
    assert losses[-1] < 0.2 * losses[0]


@pytest.mark.parametrize("role", HEADS)
def test_heads_have_the_shapes_of_their_role(role):
    shape = SMALL.with_role(role)
    out = jax.eval_shape(partial(transformer.forward, shape), transformer.parameter_shapes(shape), TOKENS)
    sizes = {"logits": (2, 9, 24), "values": (2, 9), "score": (2,)}
    assert {name: array.shape for name, array in out.items()} == {name: sizes[name] for name in HEADS[role]}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"d": 0}, "d is 0"),
        ({"L": 1.5}, "L is 1.5"),
        ({"h": 3}, "h = 3 does not divide d = 256"),
        ({"role": "verifier"}, "'verifier' is no Transformer"),
    ],
)
def test_impossible_shapes_are_refused(wrong, message):
    with pytest.raises(InputError, match=message):
        Shape(**wrong)


def test_a_role_may_be_named_by_its_text():
    assert Shape(role="critic").role is Role.CRITIC


def test_without_jax_the_import_says_what_to_install(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"rlmkb\[verify\]"):
        importlib.reload(verification)
