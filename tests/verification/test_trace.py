"""Counts of small programs whose work and depth one can say by hand."""

import jax
import jax.numpy as jnp
import pytest
from jax import lax
from jax.sharding import PartitionSpec as P

from rlmkb.errors import InputError
from rlmkb.verification.trace import compiled_flops, count, elements, saved_for_backward


def array(*size):
    return jax.ShapeDtypeStruct(size, jnp.float32)


def test_work_of_a_batched_product_counts_every_axis_once():
    counted = count(lambda a, b: jnp.einsum("bhqk,bhck->bhqc", a, b), array(2, 3, 5, 8), array(2, 3, 7, 8))
    assert counted.work == 2 * (2 * 3) * 5 * 7 * 8
    assert counted.depth == 3


def test_a_contraction_over_two_axes_is_one_tree():
    counted = count(lambda x, g: jnp.einsum("bmd,bme->de", x, g), array(4, 8, 3), array(4, 8, 5))
    assert (counted.work, counted.chain.product) == (2 * 3 * 5 * 32, 32)


def test_depth_follows_the_longest_branch_and_names_it():
    def program(x, short, long):
        with jax.named_scope("left"):
            left = x @ short @ short
        with jax.named_scope("right"):
            right = (x @ long) @ long.T
        return left + right

    counted = count(program, array(2, 4), array(4, 4), array(4, 16))
    assert [(link.label, link.length) for link in counted.chain.links] == [("right", 4), ("right", 16)]
    assert counted.depth == 6
    assert counted.work_by_label() == {"left": 2 * (2 * 2 * 4 * 4), "right": 2 * (2 * 2 * 4 * 16)}


@pytest.mark.parametrize("length", [0, 1, 5])
def test_a_scan_counts_as_the_loop_written_out(length):
    def looped(x, weights):
        totals = []
        for step in range(length):
            x = jnp.tanh(x @ weights[step])
            totals.append(x.sum())
        return x, totals

    def scanned(x, weights):
        def body(x, w):
            x = jnp.tanh(x @ w)
            return x, x.sum()

        return lax.scan(body, x, weights)

    arguments = (array(3, 8), array(length, 8, 8))
    scan, loop = count(scanned, *arguments), count(looped, *arguments)
    assert scan.work == loop.work == length * 2 * 3 * 8 * 8
    assert scan.chain.links == loop.chain.links
    assert scan.full_chain.product == loop.full_chain.product
    assert sum(scan.ignored.values()) == sum(loop.ignored.values())


def test_a_scan_hands_on_each_carry_by_itself():
    def body(carry, _):
        slow, fast = carry
        return (slow @ jnp.ones((8, 8)), fast + 1.0), fast

    def program(slow, fast):
        _, collected = lax.scan(body, (slow, fast), None, length=4)
        return collected

    assert count(program, array(2, 8), array(3)).depth == 0


@pytest.mark.parametrize("wrap", [jax.jit, jax.checkpoint, lambda f: jax.jit(jax.checkpoint(f))])
def test_wrappers_change_nothing(wrap):
    def product(x, w):
        return x @ w @ w

    arguments = (array(3, 8), array(8, 8))
    assert count(wrap(product), *arguments) == count(product, *arguments)


def test_a_custom_derivative_is_looked_into():
    @jax.custom_jvp
    def product(x, w):
        return x @ w

    product.defjvp(lambda primals, tangents: (product(*primals), tangents[0] @ primals[1]))
    assert count(product, array(3, 8), array(8, 4)).work == 2 * 3 * 8 * 4


def test_a_custom_backward_rule_is_looked_into():
    @jax.custom_vjp
    def product(x, w):
        return x @ w

    product.defvjp(lambda x, w: (x @ w, (x, w)), lambda kept, g: (g @ kept[1].T, kept[0].T @ g))
    assert count(product, array(3, 8), array(8, 4)).work == 2 * 3 * 8 * 4
    gradient = jax.grad(lambda x, w: product(x, w).sum(), (0, 1))
    assert count(gradient, array(3, 8), array(8, 4)).backward_work == 2 * (2 * 3 * 8 * 4)


def test_a_branch_counts_as_its_costliest_side():
    def program(flag, x):
        return lax.cond(flag > 0, lambda x: x @ x, lambda x: x @ x @ x, x)

    counted = count(program, array(), array(4, 4))
    assert (counted.work, counted.depth) == (2 * 2 * 4**3, 4)


def test_what_no_output_needs_is_not_counted():
    def program(x):
        unused = x @ x
        return x + 0 * x[0, 0], unused[:0]

    assert count(lambda x: program(x)[0], array(4, 4)).work == 0


@pytest.mark.parametrize(
    "program",
    [
        lambda x: lax.while_loop(lambda x: x[0, 0, 0] < 3, lambda x: x + 1, x),
        lambda x: lax.conv(x, x, (1,), "SAME"),
        jax.shard_map(lambda x: x @ x, mesh=jax.make_mesh((1,), ("x",)), in_specs=P(), out_specs=P()),
    ],
    ids=["while", "convolution", "unknown wrapper"],
)
def test_what_cannot_be_counted_is_refused(program):
    with pytest.raises(InputError, match="no count that shapes tell"):
        count(program, array(4, 4, 4))


def test_sums_and_maxima_lengthen_only_the_full_chain():
    def program(x, w):
        with jax.named_scope("softmax"):
            share = jax.nn.softmax(x @ w)
        return share @ w.T

    counted = count(program, array(2, 4), array(4, 16))
    assert counted.depth == 2 + 4
    assert counted.full_chain.depth == 2 + (4 + 4) + 4  # maximum, then sum
    assert counted.ignored == {"softmax": 2 * 2 * 16 + 3 * 2 * 16 + 2}  # two reductions, sub exp div, one guard


def test_a_gradient_has_one_product_for_the_input_and_one_for_the_weights():
    def program(x, w):
        with jax.named_scope("up"):
            return jnp.sum((x @ w) ** 2)

    counted = count(jax.grad(program, (0, 1)), array(8, 4), array(4, 16))
    assert counted.backward_work == 2 * (2 * 8 * 4 * 16)
    assert [(p.label, p.backward, p.length) for p in counted.contractions] == [
        ("up", False, 4),
        ("up", True, 8),
        ("up", True, 16),
    ]


def test_scattered_gradients_meet_in_one_row_at_worst():
    def program(table, rows):
        return (table[rows] ** 2).sum()

    counted = count(jax.grad(program), array(10, 4), jax.ShapeDtypeStruct((2, 8), jnp.int32))
    assert (counted.chain.product, counted.full_chain.product) == (1, 16)


def test_saved_elements_of_a_small_network():
    def program(weights, x):
        first, second = weights
        return jnp.sum(jnp.exp(x @ first) @ second)

    # exp keeps its output for its own rule and for the product after it: one array
    assert sum(saved_for_backward(program, (array(4, 16), array(16, 2)), array(8, 4)).values()) == 8 * 16


def test_elements():
    assert elements([array(2, 3), {"a": array()}]) == 7


def test_xla_counts_a_lone_product_as_we_do():
    arguments = (array(8, 32), array(32, 16))
    product = count(jnp.matmul, *arguments)
    assert compiled_flops(jnp.matmul, *arguments) == product.work == 2 * 8 * 32 * 16
