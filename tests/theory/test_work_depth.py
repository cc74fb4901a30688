"""The work-depth model: laws that hold for every computation and every number of processors."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlmkb.errors import InputError
from rlmkb.theory import work_depth as wd

computations = st.lists(st.integers(1, 500), min_size=1, max_size=30).map(lambda widths: wd.Levels(tuple(widths)))
processors = st.integers(1, 2000)


@given(st.integers(1, 10_000))
def test_a_tree_has_all_the_work_and_logarithmic_depth(length):
    tree = wd.dot_product(length)
    assert tree.work == 2 * length - 1
    assert tree.depth == 1 + math.ceil(math.log2(length))


@given(computations, processors)
def test_steps_lie_between_the_two_bounds(computation, p):
    steps, work, depth = computation.steps(p), computation.work, computation.depth
    assert wd.fewest_steps(work, depth, p) <= steps <= depth + (work - depth) / p <= wd.brent_bound(work, depth, p)


@given(computations, processors)
def test_more_processors_never_take_longer(computation, p):
    assert computation.steps(p + 1) <= computation.steps(p)
    assert computation.steps(1) == computation.work
    assert computation.steps(max(computation.widths)) == computation.depth


@given(computations, st.floats(0.01, 0.99))
def test_the_guaranteed_efficiency_is_reached(computation, efficiency):
    work, depth = computation.work, computation.depth
    p = wd.processors_at(efficiency, work, depth)
    assert work / wd.brent_bound(work, depth, p) / p == pytest.approx(efficiency)


@given(st.integers(1, 6), st.integers(1, 40))
def test_adding_blocks_in_turn_costs_depth_but_no_work(exponent, blocks):
    block = 2**exponent
    chain, tree = wd.accumulated_dot_product(block * blocks, block), wd.dot_product(block * blocks)
    assert chain.work == tree.work
    assert chain.depth == 1 + exponent + blocks - 1 >= tree.depth
    assert wd.accumulated_dot_product(block * blocks, block * blocks).widths == tree.widths


@pytest.mark.parametrize("length", [0, -1, 2.5, True])
def test_a_length_that_is_none_is_refused(length):
    with pytest.raises(InputError, match="length is"):
        wd.dot_product(length)


def test_a_block_that_does_not_divide_and_an_efficiency_that_is_none_are_refused():
    with pytest.raises(InputError, match="divides the length"):
        wd.accumulated_dot_product(10, 4)
    with pytest.raises(InputError, match="efficiency is 1"):
        wd.processors_at(1, 10, 2)
