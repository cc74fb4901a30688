"""Bytes of a trained state: the paper counts numbers of one size, training keeps them in several. Beyond the paper."""

from dataclasses import dataclass

from rlmkb.errors import InputError
from rlmkb.theory.transforms import Zero, chosen


@dataclass(frozen=True)
class Precision:
    """Bytes per parameter that a rank keeps of each part of the state, and sends of it.

    Parameters
    ----------
    name : str
        In words.
    weights, gradients, optimizer : float
        Bytes a parameter; the optimizer's two moments and, in mixed precision, its own copy of the weights.
    """

    name: str
    weights: float
    gradients: float
    optimizer: float

    @property
    def total(self) -> float:
        """Bytes a parameter without sharding.

        Examples
        --------
        >>> MIXED.total, FP32_GRADIENTS.total
        (16, 18)
        """
        return self.weights + self.gradients + self.optimizer

    def per_parameter(self, stage: Zero | int, shards: int) -> float:
        """Bytes a parameter on one rank.

        Parameters
        ----------
        stage : Zero
            What is sharded.
        shards : int
            Over how many ranks.

        Examples
        --------
        The figure with which ZeRO was introduced: 7.5 billion parameters on 64 ranks, in GB.

        >>> [round(7.5 * MIXED.per_parameter(stage, 64), 1) for stage in Zero]
        [120.0, 31.4, 16.6, 1.9]
        """
        if isinstance(shards, bool) or not isinstance(shards, int) or shards < 1:
            raise InputError(f"shards is {shards!r}; give an integer of at least 1")
        parts = ((self.optimizer, Zero.OPTIMIZER), (self.gradients, Zero.GRADIENTS), (self.weights, Zero.PARAMETERS))
        stage = chosen(Zero, stage, "ZeRO stage")
        return sum(size / (shards if stage >= sharded_from else 1) for size, sharded_from in parts)


#: Weights and gradients in 16 bits; moments and a copy of the weights in 32.
MIXED = Precision("16-bit gradients", 2, 2, 12)

#: As above with gradients in 32 bits, as Megatron accumulates them.
FP32_GRADIENTS = Precision("32-bit gradients", 2, 4, 12)
