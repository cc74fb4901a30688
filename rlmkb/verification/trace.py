"""Counting a program from its traced graph: matrix products, the longest chain of contractions, the rest.

`jax.make_jaxpr` records every operation of a function with the shapes it would have. Nothing runs and nothing
is allocated, so a model of any size is counted in milliseconds, and every count is an exact integer.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import jax
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal
from jax.interpreters.partial_eval import dce_jaxpr

from rlmkb.errors import InputError

#: One output element of these is one operation; everything not named here moves or compares data.
ARITHMETIC = {
    "add", "add_any", "sub", "mul", "div", "neg", "max", "min", "exp", "exp2", "log", "log1p", "tanh", "erf",
    "erfc", "erf_inv", "logistic", "sqrt", "rsqrt", "pow", "square", "integer_pow", "sin", "cos", "abs", "sign",
}  # fmt: skip
#: These combine whole axes; one input element is one operation.
REDUCTIONS = {
    "reduce_sum", "reduce_max", "reduce_min", "reduce_prod", "argmax", "argmin",
}  # fmt: skip
#: These only wrap a graph: they do what is inside, once (a scan: so many times).
WRAPPERS = {
    "jit", "pjit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call", "remat2", "checkpoint", "scan",
}  # fmt: skip
#: These multiply in ways, or repeat a number of times, that we do not read; a count without them would lie.
UNCOUNTED = {
    "while", "conv_general_dilated", "ragged_dot", "ragged_dot_general", "pallas_call", "scaled_matmul", "cholesky",
    "lu", "qr", "eigh",
}  # fmt: skip


class Contraction(NamedTuple):
    """One matrix product of the program."""

    label: str  #: the innermost named scope it was written in
    backward: bool  #: whether differentiation made it
    length: int  #: elements summed for each result
    work: int  #: FLOP, a multiplication and an addition for each element, repetitions included


class Link(NamedTuple):
    """One reduction on a chain."""

    label: str
    backward: bool
    length: int


@dataclass(frozen=True)
class Chain:
    """Reductions that wait for one another; the product of their lengths orders chains without rounding."""

    product: int = 1
    last: Link | None = None
    before: "Chain | None" = None

    def then(self, link: Link) -> "Chain":
        """The chain with one more reduction at its end."""
        return Chain(self.product * link.length, link, self)

    @property
    def depth(self) -> float:
        """Steps: the sum of log2 of the lengths."""
        return math.log2(self.product)

    @property
    def links(self) -> tuple[Link, ...]:
        """The reductions in order of execution."""
        found, chain = [], self
        while chain.last is not None:
            found.append(chain.last)
            chain = chain.before
        return tuple(reversed(found))


@dataclass(frozen=True)
class Count:
    """What one program does, read from its traced graph.

    Attributes
    ----------
    contractions : tuple of Contraction
        Every matrix product in order.
    ignored : dict
        Operations outside matrix products (element-wise arithmetic and reductions) by named scope: what the
        cost model leaves out.
    chain : Chain
        Longest chain of contractions, the model's depth.
    full_chain : Chain
        Longest chain when the sums and maxima of softmax, norms and losses take part.
    """

    contractions: tuple[Contraction, ...]
    ignored: dict[str, int]
    chain: Chain
    full_chain: Chain

    @property
    def work(self) -> int:
        """FLOP of all matrix products."""
        return sum(product.work for product in self.contractions)

    @property
    def backward_work(self) -> int:
        """FLOP of the matrix products that differentiation added."""
        return sum(product.work for product in self.contractions if product.backward)

    @property
    def depth(self) -> float:
        """Steps along the longest chain of contractions, log2 of each length."""
        return self.chain.depth

    @property
    def ignored_share(self) -> float:
        """Ignored operations for each FLOP of matrix products."""
        return sum(self.ignored.values()) / self.work

    def work_by_label(self) -> dict[str, int]:
        """FLOP of matrix products for each named scope, in order of first use."""
        total = Counter()
        for product in self.contractions:
            total[product.label] += product.work
        return dict(total)


def count(function: Callable, *arguments) -> Count:
    """Trace a function and count what it does.

    Parameters
    ----------
    function : callable
        Any function that JAX can trace.
    *arguments
        Arrays, or `jax.ShapeDtypeStruct`, in any nesting: only shapes matter.

    Raises
    ------
    InputError
        If the graph has an operation that we cannot count from shapes (a while loop, a convolution, ...).

    Examples
    --------
    The product of 4 x 8 by 8 x 3 has 12 results of 8 multiplications and 8 additions; log2(8) steps deep.

    >>> a, b = jax.ShapeDtypeStruct((4, 8), "float32"), jax.ShapeDtypeStruct((8, 3), "float32")
    >>> product = count(lambda a, b: a @ b, a, b)
    >>> product.work, product.depth
    (192, 3.0)
    """
    graph = jax.make_jaxpr(function)(*arguments).jaxpr
    graph, _ = dce_jaxpr(graph, [True] * len(graph.outvars))  # without what no output needs
    ignored = Counter()
    for equation, scope, times in _walk(graph):
        if operations := _operations(equation):
            ignored[_label(scope)[0]] += operations * times
    return Count(
        contractions=tuple(_contractions(graph)),
        ignored={label: n for label, n in ignored.items() if n},
        chain=_longest(graph, reductions=False),
        full_chain=_longest(graph, reductions=True),
    )


def elements(tree) -> int:
    """Number of array elements in a nesting of arrays or shapes.

    Examples
    --------
    >>> elements({"w": jax.ShapeDtypeStruct((4, 8), "float32"), "b": jax.ShapeDtypeStruct((8,), "float32")})
    40
    """
    return sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(tree))


def saved_for_backward(function: Callable, parameters, *data) -> dict[str, int]:
    """Elements that the forward pass keeps for the backward pass, by the named scope that made them.

    Counted is what is computed from the data: no parameter, constant or input, and no array twice. A truth
    value is an element like any other. This is what differentiation asks for; a compiler may keep less.

    Examples
    --------
    The gradient of sin(w x) in w keeps x, which is data, and cos(w x), 5 elements.

    >>> x = jax.ShapeDtypeStruct((5,), "float32")
    >>> saved_for_backward(lambda w, x: jax.numpy.sin(w * x).sum(), x, x)
    {'other': 5}
    """

    def backward(parameters, *data):
        return jax.vjp(lambda p: function(p, *data), parameters)[1]  # a tree of what it holds

    graph = jax.make_jaxpr(backward)(parameters, *data).jaxpr
    makers = {variable: equation for equation in graph.eqns for variable in equation.outvars}
    held = dict.fromkeys(v for v in graph.outvars if not isinstance(v, Literal) and v in makers)
    inputs = len(jax.tree.leaves(parameters))
    total = Counter()
    for variable in held:
        _, needed = dce_jaxpr(graph, [other is variable for other in graph.outvars])
        if any(needed[inputs:]):
            label, _ = _label(str(makers[variable].source_info.name_stack))
            total[label] += math.prod(variable.aval.shape)
    return dict(total)


def compiled_flops(function: Callable, *arguments) -> float:
    """The FLOP count that XLA states for the compiled program on the CPU, element-wise work included."""
    with jax.default_device(jax.devices("cpu")[0]):
        return jax.jit(function).lower(*arguments).compile().cost_analysis()["flops"]


def _label(scope: str) -> tuple[str, bool]:
    """Innermost named scope, and whether differentiation made the operation.

    JAX writes scopes as `transpose(jvp(query))/bnd,de->bne`; wrappers and the names of einsums are not ours.
    """
    names = [
        name
        for part in scope.split("/")
        if (name := part.replace("transpose(", "").replace("jvp(", "").replace("checkpoint(", "").rstrip(")"))
        and name.isidentifier()
        and name not in ("checkpoint", "rematted_computation", "closed_call")
    ]
    return (names[-1] if names else "other"), "transpose(" in scope


def _inner(equation) -> Jaxpr | None:
    """The graph inside an operation that only wraps one (jit, checkpoint, custom derivative, scan)."""
    name = equation.primitive.name
    inside = [value.jaxpr if isinstance(value, ClosedJaxpr) else value for value in equation.params.values()]
    graphs = [value for value in inside if isinstance(value, Jaxpr)]
    if name in WRAPPERS:
        return graphs[0]
    if name in UNCOUNTED or any(_work(inner) for graph in graphs for inner, _, _ in _walk(graph)):
        raise InputError(
            f"operation {name!r} of the traced program has no count that shapes tell; "
            "write it with matrix products, or with lax.scan of a fixed length"
        )
    return None


def _walk(graph: Jaxpr, scope: str = "", times: int = 1) -> Iterator[tuple]:
    """Every innermost operation with its scope and how often it runs; of a branch, the costliest side."""
    for equation in graph.eqns:
        name = equation.primitive.name
        here = f"{scope}/{equation.source_info.name_stack}"
        if name == "cond":
            sides = [list(_walk(branch.jaxpr, here, times)) for branch in equation.params["branches"]]
            yield from max(sides, key=lambda side: sum(_work(inner) * n for inner, _, n in side))
        elif (inner := _inner(equation)) is not None:
            yield from _walk(inner, here, times * (equation.params["length"] if name == "scan" else 1))
        else:
            yield equation, here, times


def _contracted(equation) -> int:
    """Elements summed for each result of a `dot_general`."""
    (axes, _), _ = equation.params["dimension_numbers"]
    shape = equation.invars[0].aval.shape
    return math.prod(shape[axis] for axis in axes)


def _work(equation) -> int:
    """FLOP of a matrix product, 0 for anything else."""
    if equation.primitive.name != "dot_general":
        return 0
    return 2 * math.prod(equation.outvars[0].aval.shape) * _contracted(equation)


def _operations(equation) -> int:
    """Arithmetic operations outside matrix products."""
    if equation.primitive.name in ARITHMETIC:
        return math.prod(equation.outvars[0].aval.shape)
    if equation.primitive.name in REDUCTIONS:
        return math.prod(equation.invars[0].aval.shape)
    if equation.primitive.name == "scatter-add":
        return math.prod(equation.invars[2].aval.shape)
    return 0


def _contractions(graph: Jaxpr) -> Iterator[Contraction]:
    for equation, scope, times in _walk(graph):
        if work := _work(equation) * times:
            yield Contraction(*_label(scope), _contracted(equation), work)


def _reduced(equation, reductions: bool) -> int:
    """Elements that an operation reduces to one; 1 if it reduces nothing."""
    if equation.primitive.name == "dot_general":
        return _contracted(equation)
    if reductions and equation.primitive.name in REDUCTIONS:
        shape = equation.invars[0].aval.shape
        return math.prod(shape[axis] for axis in equation.params["axes"])
    if reductions and equation.primitive.name == "scatter-add":  # at worst all updates meet in one row
        apart = equation.params["dimension_numbers"].scatter_indices_batching_dims
        rows = equation.invars[1].aval.shape[:-1]
        return math.prod(size for axis, size in enumerate(rows) if axis not in apart)
    return 1


def _longest(graph: Jaxpr, reductions: bool) -> Chain:
    """The longest chain from any input to any output."""
    start = [Chain()] * len(graph.invars)
    return max(_arrivals(graph, start, reductions), key=lambda chain: chain.product, default=Chain())


def _arrivals(graph: Jaxpr, inputs: list[Chain], reductions: bool, scope: str = "") -> list[Chain]:
    """The longest chain that ends in each output, given those that end in the inputs."""
    arrived = dict(zip(graph.invars, inputs, strict=True))

    def at(variable) -> Chain:
        return Chain() if isinstance(variable, Literal) else arrived.get(variable, Chain())

    for equation in graph.eqns:
        sources = [at(variable) for variable in equation.invars]
        here = f"{scope}/{equation.source_info.name_stack}"
        if equation.primitive.name == "cond":
            sides = [_arrivals(b.jaxpr, sources[1:], reductions, here) for b in equation.params["branches"]]
            results = [max((*side, sources[0]), key=_product) for side in zip(*sides, strict=True)]
        elif (inner := _inner(equation)) is not None:
            follow = _scanned if equation.primitive.name == "scan" else _arrivals
            results = follow(inner if follow is _arrivals else equation, sources, reductions, here)
        else:
            chain = max(sources, key=_product, default=Chain())
            if (length := _reduced(equation, reductions)) > 1:
                chain = chain.then(Link(*_label(here), length))
            results = [chain] * len(equation.outvars)
        arrived.update(zip(equation.outvars, results, strict=True))
    return [at(variable) for variable in graph.outvars]


def _scanned(equation, inputs: list[Chain], reductions: bool, scope: str) -> list[Chain]:
    """A scan: the body once after the other, what it carries handed on."""
    body, constants = equation.params["jaxpr"].jaxpr, equation.params["num_consts"]
    carried = constants + equation.params["num_carry"]
    carry, stacked = inputs[constants:carried], None
    for _ in range(equation.params["length"]):
        results = _arrivals(body, inputs[:constants] + carry + inputs[carried:], reductions, scope)
        carry, slices = results[: len(carry)], results[len(carry) :]
        stacked = [max(pair, key=_product) for pair in zip(stacked or slices, slices, strict=True)]
    return carry + (stacked or [Chain()] * (len(equation.outvars) - len(carry)))


def _product(chain: Chain) -> int:
    return chain.product
