"""A decode step of a real decoder: consistent with the forward pass, and with what kernels publish."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlmkb.architecture import decoding, shares
from rlmkb.architecture.decoder import Decoder, forward_flops
from rlmkb.architecture.entries import from_entry
from rlmkb.architecture.layers import Attention, Experts, FeedForward, Layer
from rlmkb.catalogue import entry
from rlmkb.errors import InputError

LLAMA, DEEPSEEK, NEXT = (
    from_entry(entry("architectures", id)) for id in ("llama-3.1-8b", "deepseek-v3", "qwen3-next-80b-a3b-instruct")
)
NO_ATTENTION = Decoder(4, 10, True, (Layer(None, FeedForward(16, gated=False)),))


@given(st.integers(1, 10**6))
def test_a_step_costs_what_the_last_row_of_the_full_square_costs(context):
    assert decoding.decode_flops(LLAMA, context) == sum(forward_flops(LLAMA, context, causal=False).values())


def test_steps_of_a_sequence_add_up_to_the_causal_pass_and_its_diagonal():
    length = 512
    steps = decoding.decode_flops(LLAMA, np.arange(1, length + 1)).sum()
    whole = length * sum(forward_flops(LLAMA, length).values())
    diagonal = forward_flops(LLAMA, length)["attention_pairs"]  # of one token: half a row for each of `length` rows
    assert steps == whole + diagonal


def test_intensity_grows_with_the_batch_towards_that_of_attention():
    batch = 2 ** np.arange(0, 24)
    values = decoding.intensity(LLAMA, 8192, batch)
    assert (np.diff(values) > 0).all()
    bound = 2 * 2 * 32 * 128 / (2 * 2 * 8 * 128)  # FLOPs over bytes of one cached position: query heads per key head
    whole = bound + 2 * decoding.weights_read(LLAMA) / (2 * decoding.cache_read(LLAMA, 8192))
    assert 1 < values[0] < 1.25
    assert bound < values[-1] < whole
    assert values[-1] == pytest.approx(whole, rel=1e-3)


def test_large_batches_and_contexts_do_not_overflow():
    exact = decoding.decode_flops(LLAMA, 10**6, 10**9)
    assert decoding.decode_flops(LLAMA, np.array([10**6]), 10**9)[0] == pytest.approx(exact, rel=1e-15)
    assert decoding.cache_read(LLAMA, np.int64(10**9), np.int64(10**9)) == pytest.approx(65536 * 10**18)


def test_latent_attention_is_decoded_without_rebuilding_keys():
    per_position = decoding.decode_flops(DEEPSEEK, 2) - decoding.decode_flops(DEEPSEEK, 1)
    assert per_position == 61 * 2 * 128 * (512 + 64 + 512)
    ratio = per_position / (2 * decoding.cache_read(DEEPSEEK, 1))
    assert ratio == pytest.approx(242, abs=0.5)  # FlashMLA's authors: about 2 FLOP per byte and query head, 256


def test_experts_are_read_once_each_at_most():
    one, many = decoding.weights_read(DEEPSEEK, 1), decoding.weights_read(DEEPSEEK, 10**6)
    routed = 58 * 3 * 7168 * 2048
    assert many - one == pytest.approx(routed * (256 - 8))
    assert decoding.weights_read(LLAMA, 1) == decoding.weights_read(LLAMA, 64)


@given(st.integers(1, 64), st.integers(1, 64), st.integers(1, 40))
def test_distinct_experts_lie_between_one_token_and_all(count, active, batch):
    active = min(active, count)
    moe = Experts(count=count, active=active, expert=FeedForward(16, gated=False))
    read = decoding.weights_read(Decoder(4, 10, True, (Layer(None, moe),)), batch) - 40 - 4 * count
    assert 128 * active * (1 - 1e-12) <= read <= 128 * min(count, active * batch) * (1 + 1e-12)


def test_a_recurrent_state_is_read_whatever_the_context():
    near, far = decoding.cache_read(NEXT, 1), decoding.cache_read(NEXT, 1001)
    assert far - near == 1000 * 12 * 2 * 2 * 256
    assert near > 36 * 32 * 128 * 128


def test_as_many_sequences_fit_as_leave_room_for_weights():
    weights = 2 * 8030261248
    assert decoding.sequences_that_fit(LLAMA, 8192, weights + 10 * 2**30) == 10  # a GiB for 8,192 tokens
    assert decoding.sequences_that_fit(LLAMA, 8192, weights - 1) == 0


@pytest.mark.parametrize("ask", [decoding.tokens_as_large_as_weights, shares.crossover_length])
def test_a_decoder_without_attention_is_refused(ask):
    with pytest.raises(InputError, match="this decoder"):
        ask(NO_ATTENTION)


@pytest.mark.parametrize("causal", [True, False])
def test_shares_add_up_and_meet_at_the_crossover(causal):
    length = shares.crossover_length(LLAMA, causal=causal)
    assert length == (53_248 if causal else 26_624)  # 13 or 6.5 times the width
    parts = shares.work_shares(LLAMA, round(length), causal=causal)
    assert sum(parts.values()) == pytest.approx(1)
    assert parts["attention over pairs"] == pytest.approx(parts["projections"] + parts["feed-forward"])


def test_every_class_of_flops_belongs_to_a_group():
    grouped = {name for names in shares.GROUPS.values() for name in names}
    for decoder in (LLAMA, DEEPSEEK, NEXT):
        assert forward_flops(decoder, 4).keys() <= grouped
    assert Attention(2, 1, 4).flops_per_pair() == 32


def test_experts_read_are_those_that_a_draw_hits():
    random = np.random.default_rng(0)
    hit = [len({*random.permuted(np.tile(np.arange(16), (20, 1)), axis=1)[:, :3].ravel()}) for _ in range(400)]
    assert np.mean(hit) == pytest.approx(decoding.experts_read(16, 3, 20), rel=0.005)
    read = decoding.experts_read(16, 3, np.array([1, 10**6]))
    assert read == pytest.approx([3, 16])
