"""Memory of device groups: which models, caches, activations and buffers are on a group at the same time.

The paper prints one reading per row of table IX. Here every live set is counted, with what the paper only names:
co-resident weights, the shadow copy, the resharding buffer, the queues of fused stages.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import sympy

from rlmkb.notation import Role, Stage, symbol
from rlmkb.theory import building_blocks as blocks
from rlmkb.theory.algorithms import Algorithm, Call
from rlmkb.theory.configurations import Configuration
from rlmkb.theory.formula import Formula, Quantity
from rlmkb.theory.functions import Maximum
from rlmkb.theory.graph import Node
from rlmkb.theory.structures import ACTOR_AND_CRITIC

B, K, m = symbol("B"), symbol("K"), symbol("m")
ADAM_STATES = 4
# what a queue between fused stages holds for each token: its id and its log-probability
QUEUED_PER_TOKEN = 2


def shadow_copy(role: Role = Role.POLICY, precision: sympy.Expr = sympy.S.One) -> Formula:
    """M_sh: the copy of a trained model that a stale reader uses on other devices.

    Parameters
    ----------
    role : Role
        The model that is read.
    precision : sympy.Expr
        Bytes of one element of the copy over bytes of one of the trained weights: 1/2 for an 8-bit copy of 16-bit
        weights.

    Examples
    --------
    >>> shadow_copy().evaluate(L=1, d=2, d_ff=8, V=10)
    68
    """
    size = blocks.parameter_count(role)
    return Formula(
        "M_sh", rf"M_{{\mathrm{{sh}}}}({role.latex})", precision * size.handle, Quantity.MEMORY,
        "inference copy of a trained model for stale readers", "Section IV-E, appendix B-D7", role, "model",
        where=(size,), assumptions=("a whole copy; no optimizer state",),
    )  # fmt: skip


def reshard_buffer(role: Role = Role.POLICY) -> Formula:
    """M_reshard: the second layout of a model's weights while it is being filled.

    Examples
    --------
    >>> reshard_buffer().evaluate(L=1, d=2, d_ff=8, V=10)
    68
    """
    size = blocks.parameter_count(role)
    return Formula(
        "M_reshard", r"M_{\mathrm{reshard}}", size.handle, Quantity.MEMORY,
        "both layouts of the weights at once, at worst", "Appendix B-D5", role, "model", where=(size,),
        assumptions=("at worst a whole copy; layer by layer it is one layer",),
    )  # fmt: skip


@dataclass(frozen=True)
class Live:
    """What is on a group at one time.

    `expr` is in the handles of `parts`; `when` names the stages that are live. `resident` is the part of it that does
    not go with the batch: weights, gradients and moments.
    """

    group: str
    when: tuple[Stage, ...]
    expr: sympy.Expr
    parts: tuple[Formula, ...]
    resident: sympy.Expr = sympy.S.Zero

    @property
    def explicit(self) -> sympy.Expr:
        """In the symbols of table I."""
        return self._explicit(self.expr)

    def per_replica(self, degree: sympy.Expr | int) -> sympy.Expr:
        """Of one of `degree` data-parallel replicas: its share of the batch, and all weights again.

        Examples
        --------
        >>> from rlmkb.theory.algorithms import GRPO
        >>> from rlmkb.theory.configurations import CONFIGURATIONS
        >>> first = live_sets(CONFIGURATIONS["baseline"], GRPO)[0]
        >>> point = {symbol(name): 2 for name in ("L_pi", "d_pi", "d_ff_pi", "V", "m", "B", "K")}
        >>> [first.per_replica(degree).subs(point) for degree in (1, 2)]  # 52 weights; 64 or 32 of cache
        [116, 84]
        """
        return self._explicit(self.resident + (self.expr - self.resident) / degree)

    def _explicit(self, expr: sympy.Expr) -> sympy.Expr:
        return expr.xreplace({part.handle: part.explicit for part in self.parts})


def live_sets(configuration: Configuration, algorithm: Algorithm, *, offload: bool = True) -> tuple[Live, ...]:
    """Everything that is on each group, for each set of stages that it serves at the same time.

    Parameters
    ----------
    configuration : Configuration
        Structure, placement and schedule.
    algorithm : Algorithm
        What runs.
    offload : bool
        Whether models of stages that are not running leave the group; without it, all of the group's models stay,
        with their training state.

    Returns
    -------
    tuple of Live
        One a group and live set; a group's peak is the largest of its own.

    Examples
    --------
    >>> from rlmkb.theory.algorithms import GRPO
    >>> from rlmkb.theory.configurations import CONFIGURATIONS
    >>> [live.when[0].value for live in live_sets(CONFIGURATIONS["baseline"], GRPO)]
    ['generation', 'assessment', 'training']
    """
    graph = configuration.graph(algorithm)
    stale = graph.schedule.staleness != 0
    together = _live_together(configuration)
    out = []
    for group, nodes in graph.groups.items():
        for stages in together:
            active = tuple(node for node in nodes if node.stage in stages)
            if active:
                resident = active if offload else nodes
                out.append(Live(group, stages, *_footprint(active, resident, stale, len(stages) > 1)))
    return tuple(out)


def _live_together(configuration: Configuration) -> tuple[tuple[Stage, ...], ...]:
    first, second, third = Stage
    if second in configuration.schedule.stage_barriers:
        return ((first,), (second,), (third,))
    return ((first, second), (third,))


def _footprint(
    active: tuple[Node, ...], resident: tuple[Node, ...], stale: bool, queued: bool
) -> tuple[sympy.Expr, tuple[Formula, ...], sympy.Expr]:
    weights, weight_parts = _weights(resident, stale)
    batch, batch_parts = _batch(active)
    # a consumer of streamed rollouts queues them; the generator hands them on
    queues = queued and any(node.stage is Stage.ASSESSMENT for node in active)
    queue = QUEUED_PER_TOKEN * active[0].call.sequences * m if queues else sympy.S.Zero
    return weights + batch + queue, (*weight_parts, *batch_parts), weights


def _weights(nodes: tuple[Node, ...], stale: bool) -> tuple[sympy.Expr, tuple[Formula, ...]]:
    trained = {node.role for node in nodes if node.call.call is Call.TRAIN}
    roles = dict.fromkeys(node.role for node in nodes if node.role.has_transformer)
    if Role.ACTOR_CRITIC in roles:  # which holds the weights of both
        roles = [role for role in roles if role not in ACTOR_AND_CRITIC]
    total, parts = sympy.S.Zero, []
    for role in roles:
        reads_stale = stale and role not in trained and any(_is_trainable(node) for node in nodes if node.role is role)
        part = shadow_copy(role) if reads_stale else blocks.parameter_count(role)
        total += part.handle * (ADAM_STATES if role in trained else 1)
        parts.append(part)
    return total, tuple(parts)


def _is_trainable(node: Node) -> bool:
    return node.role in (Role.POLICY, Role.CRITIC, Role.ACTOR_CRITIC, Role.COST_CRITIC)


def _batch(nodes: tuple[Node, ...]) -> tuple[sympy.Expr, tuple[Formula, ...]]:
    """Cache of generation, activations kept, and the largest buffer of the forward-only passes."""
    total, parts, buffers = sympy.S.Zero, [], []
    for node in nodes:
        if not node.role.has_transformer:
            continue
        sequences = node.call.sequences
        if node.call.call is Call.GENERATE:
            part, factor = blocks.cache_memory(node.role), sequences
        elif node.call.call is Call.TRAIN or node.call.keeps_activations:
            part, factor = blocks.activation_memory(node.role), sequences * m
        else:
            part = blocks.inference_memory(node.role)
            buffers.append(sequences * m * part.handle)
            parts.append(part)
            continue
        total += factor * part.handle
        parts.append(part)
    return total + (Maximum(*buffers) if buffers else 0), tuple(parts)


def peak(lives: Iterable[Live]) -> sympy.Expr:
    """The largest of several live sets, in the symbols of table I.

    Examples
    --------
    >>> peak([Live("a", (Stage.TRAINING,), symbol("d"), ())])
    d
    """
    return Maximum(*(live.explicit for live in lives))
