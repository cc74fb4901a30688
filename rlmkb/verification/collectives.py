"""Reading what a compiled program sends: collectives in XLA's text, their sizes and the ranks that take part."""

import math
import re
from dataclasses import dataclass
from itertools import product

import numpy as np

from rlmkb.theory.traffic import Collective, sent

_KINDS = {
    "all-reduce": Collective.ALL_REDUCE,
    "all-gather": Collective.ALL_GATHER,
    "reduce-scatter": Collective.REDUCE_SCATTER,
    "all-to-all": Collective.ALL_TO_ALL,
    "collective-permute": Collective.POINT_TO_POINT,
}
_OPERATION = re.compile(rf" = (?P<shape>\(.*?\)|\S+) (?P<kind>{'|'.join(_KINDS)})(?P<start>-start)?\((?P<rest>.*)")
_ARRAY = re.compile(r"\b(?:pred|[a-z]+(\d+))\[([\d,]*)\]")  # bits of a number, sizes


@dataclass(frozen=True)
class Exchange:
    """One collective of a compiled program.

    Parameters
    ----------
    kind : Collective
        What is done; XLA's collective-permute is point-to-point.
    elements : int
        Of the arrays in its result on one device.
    bytes : int
        The same in bytes.
    groups : tuple of tuples of int
        Devices that act together; of a permutation the pairs of sender and receiver.
    """

    kind: Collective
    elements: int
    bytes: int
    groups: tuple[tuple[int, ...], ...]

    @property
    def ranks(self) -> int:
        """Devices in a group."""
        return len(self.groups[0])

    def sent(self, devices: int) -> float:
        """Elements that a device sends, on average, with ring algorithms.

        Examples
        --------
        >>> Exchange(Collective.REDUCE_SCATTER, 10, 40, ((0, 1, 2, 3),)).sent(devices=4)  # 3/4 of 40
        30.0
        """
        if self.kind is Collective.POINT_TO_POINT:
            return self.elements * len(self.groups) / devices
        whole = self.elements * (self.ranks if self.kind is Collective.REDUCE_SCATTER else 1)
        return float(sent(self.kind, whole, self.ranks))


def read(text: str) -> list[Exchange]:
    """The collectives of a compiled program, in order; those of a single device are none.

    Parameters
    ----------
    text : str
        From `jax.stages.Compiled.as_text`.

    Raises
    ------
    ValueError
        If the groups of a collective are written in a form that we do not know: better than a wrong sum.

    Examples
    --------
    >>> line = " %r = f32[4,8]{1,0} all-reduce(%x), replica_groups=[2,4]<=[8], to_apply=%add"
    >>> read(line)[0].elements, read(line)[0].groups
    (32, ((0, 1, 2, 3), (4, 5, 6, 7)))
    """
    found = []
    for line in text.splitlines():
        match = _OPERATION.search(line)
        if match is None:
            continue
        if match["start"]:
            raise ValueError(f"an asynchronous collective, whose result we do not read: {line.strip()[:120]}")
        groups = _groups(match["rest"])
        if match["kind"] != "collective-permute" and len(groups[0]) == 1:
            continue
        arrays = [(int(bits or 8) // 8, math.prod(_integers(sizes))) for bits, sizes in _ARRAY.findall(match["shape"])]
        elements, in_bytes = sum(size for _, size in arrays), sum(width * size for width, size in arrays)
        found.append(Exchange(_KINDS[match["kind"]], elements, in_bytes, groups))
    return found


def _groups(text: str) -> tuple[tuple[int, ...], ...]:
    """Groups in any of the four forms in which XLA writes them: pairs, lists, reshaped ranges, named meshes."""
    if pairs := re.search(r"source_target_pairs=\{\{(.*?)\}\}", text):
        return _lists(pairs[1])
    if lists := re.search(r"replica_groups=\{\{(.*?)\}\}", text):
        return _lists(lists[1])
    if reshaped := re.search(r"replica_groups=\[([\d,]+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?", text):
        to, sizes, order = (_integers(part) if part else None for part in reshaped.groups())
        devices = np.arange(math.prod(sizes)).reshape(sizes)
        return _rows(devices.transpose(order) if order else devices, to[-1])
    if mesh := re.search(r"replica_groups=mesh\[([^\]<:]*)\] \{([^}:]*)\}", text):
        sizes = {name: int(size) for name, size in re.findall(r"'(\w+)'=(\d+)", mesh[1])}
        over = re.findall(r"'(\w+)'", mesh[2])
        devices = np.arange(math.prod(sizes.values())).reshape(tuple(sizes.values()))
        last = np.moveaxis(devices, [list(sizes).index(name) for name in over], range(-len(over), 0))
        return _rows(last, math.prod(sizes[name] for name in over))
    raise ValueError(f"groups of a collective in an unknown form: {text[:160]}")


def _rows(devices: np.ndarray, ranks: int) -> tuple[tuple[int, ...], ...]:
    return tuple(map(tuple, devices.reshape(-1, ranks).tolist()))


def _lists(text: str) -> tuple[tuple[int, ...], ...]:
    return tuple(_integers(part) for part in text.split("},{"))


def _integers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in text.split(",") if number)


def axes_of(groups: tuple[tuple[int, ...], ...], degrees: dict[str, int]) -> tuple[str, ...]:
    """The mesh axes along which the devices of a group differ.

    Parameters
    ----------
    groups : tuple of tuples of int
        As in `Exchange`.
    degrees : dict
        From axis to number of ranks, outermost first.

    Examples
    --------
    >>> axes_of(((0, 1), (2, 3)), {"data": 2, "tensor": 2})
    ('tensor',)
    """
    places = list(product(*(range(degree) for degree in degrees.values())))
    return tuple(
        axis
        for position, axis in enumerate(degrees)
        if any(len({places[device][position] for device in group}) > 1 for group in groups)
    )
