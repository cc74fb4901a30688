"""How a training step is laid out over devices, and the strategy of the theory that this is."""

import math
from dataclasses import dataclass

from rlmkb.errors import InputError
from rlmkb.theory.partition import (
    CONTEXT,
    DATA,
    DENSE,
    EXPERT_COUPLED,
    EXPERT_ISOLATED,
    MIXTURE,
    PIPELINE,
    TENSOR,
    Strategy,
)
from rlmkb.theory.traffic import ContextMethod
from rlmkb.theory.transforms import Zero, chosen
from rlmkb.verification.transformer import Shape

#: From the outermost to the innermost: ranks of the last one are neighbours.
AXES = ("pipeline", "data", "expert", "context", "tensor")


SHAPE = Shape(L=2, d=256, d_ff=1024, h=8, V=512)


@dataclass(frozen=True)
class Experts:
    """Experts in place of every feed-forward network.

    Parameters
    ----------
    E, E_a, d_e : int
        Experts per layer, active ones per token, width of one.
    capacity : float
        Room of an expert over the balanced load; what exceeds it is dropped, and room that stays empty is computed.
        With 1 the program does what the paper counts, balanced routing.
    """

    E: int = 16
    E_a: int = 2
    d_e: int = 512
    capacity: float = 1.0


@dataclass(frozen=True)
class Model:
    """The canonical Transformer, dense or with experts, and the batch of one training step.

    Examples
    --------
    >>> Model().values()["B"], Model(experts=Experts()).values()["d_e"]
    (8, 512)
    """

    shape: Shape = SHAPE
    B: int = 8
    m: int = 128
    experts: Experts | None = None

    def values(self) -> dict[str, int]:
        """Values of the theory's symbols."""
        shape, routed = self.shape, self.experts
        values = {"L": shape.L, "d": shape.d, "h": shape.h, "V": shape.V, "B": self.B, "m": self.m}
        if routed is None:
            return {**values, "d_ff": shape.d_ff}
        return {**values, "E": routed.E, "E_a": routed.E_a, "d_e": routed.d_e}


@dataclass(frozen=True)
class Layout:
    """Degrees of parallelism and what they leave open.

    Parameters
    ----------
    data, pipeline, tensor, context, expert : int
        Degrees; their product is the number of devices.
    zero : Zero
        Sharding of the training state over the data-parallel ranks.
    sequence : bool
        Megatron's sequence parallelism, over the tensor-parallel ranks.
    method : ContextMethod
        How context parallelism attends.
    micro_batches : int
        Pieces of a rank's batch that follow each other through a pipeline.
    isolated : bool
        Expert parallelism alone, as in tables V to VIII: every expert rank has every token. Otherwise the expert
        ranks share out the batch (the coupled reading).

    Examples
    --------
    >>> Layout(data=2, tensor=4).devices, Layout(data=2, tensor=4).name
    (8, 'data 2, tensor 4')
    """

    data: int = 1
    pipeline: int = 1
    tensor: int = 1
    context: int = 1
    expert: int = 1
    zero: Zero = Zero.NONE
    sequence: bool = False
    method: ContextMethod = ContextMethod.RING
    micro_batches: int = 1
    isolated: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "zero", chosen(Zero, self.zero, "zero"))
        object.__setattr__(self, "method", chosen(ContextMethod, self.method, "method"))

    @property
    def used(self) -> tuple[str, ...]:
        """Axes with more than one rank, outermost first."""
        return tuple(axis for axis in AXES if self.degree(axis) > 1)

    def degree(self, axis: str) -> int:
        """Number of ranks along an axis."""
        return getattr(self, axis)

    def cuts(self, axis: str) -> bool:
        """Whether an axis has more than one rank."""
        return self.degree(axis) > 1

    @property
    def devices(self) -> int:
        """The product of the degrees."""
        return math.prod(self.degree(axis) for axis in AXES)

    @property
    def token_axes(self) -> tuple[str, ...]:
        """Axes whose ranks have different tokens, so that gradients are summed over them."""
        apart = ("data", "context") if self.isolated else ("data", "expert", "context")
        return tuple(axis for axis in self.used if axis in apart)

    @property
    def name(self) -> str:
        """The layout in words."""
        notes = {
            "data": f", ZeRO-{int(self.zero)}" if self.zero else "",
            "tensor": " with sequence" if self.sequence else "",
            "context": f", {self.method}",
            "expert": ", isolated" if self.isolated else "",
        }
        return ", ".join(f"{axis} {self.degree(axis)}{notes.get(axis, '')}" for axis in self.used) or "one device"

    def strategy(self, model: Model) -> Strategy:
        """The same as a partition of the theory."""
        of = {
            "data": DATA, "pipeline": PIPELINE, "tensor": TENSOR, "context": CONTEXT,
            "expert": EXPERT_ISOLATED if self.isolated else EXPERT_COUPLED,
        }  # fmt: skip
        axes = tuple(of[axis].at(self.degree(axis)) for axis in self.used)
        return Strategy(self.name, MIXTURE if model.experts else DENSE, axes)

    def check(self, model: Model) -> None:
        """Refuse what does not divide; programs of even shards are all that is compared."""
        shape, routed = model.shape, model.experts
        rows = self.data * (1 if self.isolated else self.expert) * self.micro_batches
        wanted = [
            ("B", model.B, rows), ("m", model.m, self.context * (self.tensor if self.sequence else 1)),
            ("L", shape.L, self.pipeline), ("h", shape.h, self.tensor),
            ("V", shape.V, self.tensor), ("d", shape.d, self.data if self.zero else 1),
        ]  # fmt: skip
        if self.method is ContextMethod.ULYSSES:
            wanted.append(("h", shape.h, self.tensor * self.context))
        if routed is not None:
            wanted += [("E", routed.E, self.expert), ("d_e", routed.d_e, self.tensor)]
        elif self.cuts("expert"):
            raise InputError("expert parallelism of a model without experts; give Model(experts=Experts())")
        else:
            wanted.append(("d_ff", shape.d_ff, self.tensor))
        for symbol, size, pieces in wanted:
            if size % pieces:
                raise InputError(f"{symbol} is {size} but {self.name} needs a multiple of {pieces}")
