"""Causal pairs by rank, against counting them."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlmkb.errors import InputError
from rlmkb.theory.causal_split import causal_shares, chunk_share, zigzag_chunks

ranks = st.integers(1, 40)


@given(ranks, st.booleans())
def test_shares_add_up_to_all_pairs(ranks, zigzag):
    assert sum(causal_shares(ranks, zigzag=zigzag)) == 1


@given(ranks)
def test_zigzag_is_even_and_order_is_not(ranks):
    assert set(causal_shares(ranks, zigzag=True)) == {Fraction(1, ranks)}
    assert max(causal_shares(ranks)) * ranks == Fraction(2 * ranks - 1, ranks)


@given(ranks)
def test_zigzag_deals_out_every_chunk_once(ranks):
    dealt = [chunk for rank in range(ranks) for chunk in zigzag_chunks(rank, ranks)]
    assert sorted(dealt) == list(range(2 * ranks))


def test_shares_are_those_of_counted_pairs():
    length, chunks = 4000, 4
    size = length // chunks
    counted = [sum(query + 1 for query in range(chunk * size, (chunk + 1) * size)) for chunk in range(chunks)]
    for chunk, pairs in enumerate(counted):
        assert pairs / sum(counted) == pytest.approx(float(chunk_share(chunk, chunks)), abs=2e-4)


@pytest.mark.parametrize("wrong", [0, -1, 2.0])
def test_impossible_ranks_are_refused(wrong):
    with pytest.raises(InputError, match="give an integer of at least 1"):
        causal_shares(wrong)
