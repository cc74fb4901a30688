"""Parallelism strategies as rows: of a printed table, of what is sent, of each stage, and as curves for charts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rlmkb.errors import InputError, nearest
from rlmkb.notation import Stage
from rlmkb.theory.cells import CostTable
from rlmkb.theory.evaluate import evaluate
from rlmkb.theory.partition import STRATEGIES, Strategy
from rlmkb.theory.strategy_stages import in_stage
from rlmkb.theory.traffic import Message
from rlmkb.theory.transforms import STATES
from rlmkb.theory.values import CUTS
from rlmkb.views.listing import Listing, listing

if TYPE_CHECKING:
    import pandas as pd

BF16 = 2  # bytes


@dataclass(frozen=True)
class Rates:
    """What a device does in a second at best: FLOP, and bytes from memory, to its node and to the network one way."""

    flops: float
    memory: float
    scale_up: float
    scale_out: float


def rates(id: str, precision: str = "bf16") -> Rates:
    """The peak rates of a device of the catalogue.

    Parameters
    ----------
    id : str
        For example ``"h100-sxm5-80gb"``.
    precision : str
        Of the matrix products.

    Raises
    ------
    InputError
        For an unknown device, or one of which a rate is not known.

    Examples
    --------
    >>> rates("h100-sxm5-80gb").scale_up
    450000000000.0
    """
    from rlmkb.catalogue import entry

    device = entry("hardware", id)
    known = {
        "flops": (1e12, getattr(device.dense_peak, precision, None)), "memory": (1e9, device.memory_bandwidth_gb_per_s),
        "scale_up": (1e9, device.scale_up.bandwidth_gb_per_s), "scale_out": (1e9, device.scale_out_gb_per_s),
    }  # fmt: skip
    missing = [name for name, (_, value) in known.items() if value is None]
    if missing:
        raise InputError(f"{id}: no figure for {', '.join(missing)} in {precision}; name another device or precision")
    return Rates(**{name: unit * value for name, (unit, value) in known.items()})


def rows(table: CostTable, *names: str) -> CostTable:
    """Some rows of a cost table, as a table.

    Parameters
    ----------
    table : CostTable
        As `rlmkb.table` gives it.
    *names : str
        Row ids, such as ``"tensor"``.

    Raises
    ------
    InputError
        If the table has no such row.

    Examples
    --------
    >>> import rlmkb
    >>> len(rows(rlmkb.table("VII"), "none", "tensor").cells)  # work, depth and memory of both
    6
    """
    known = dict.fromkeys(cell.row for cell in table.cells)
    for name in names:
        if name not in known:
            raise InputError(f"table {table.id} has no row {name!r}; it has: {nearest(name, known)}")
    return replace(table, cells=tuple(cell for cell in table.cells if cell.row in names))


def sent(chosen: Iterable[Message], at: Mapping[str, object], caption: str, element_bytes: float = BF16) -> Listing:
    """What one rank sends, a line for each kind of message.

    Parameters
    ----------
    chosen : iterable of Message
        As `rlmkb.theory.traffic.messages` gives them.
    at : mapping
        From symbol name to number.
    caption : str
        Shown above the table.
    element_bytes : float
        Bytes of a number that is sent; 2 for bf16.

    Examples
    --------
    >>> from rlmkb.theory.traffic import messages
    >>> point = {"L": 1, "d": 500, "B": 1, "m": 1000, "P_t": 2}
    >>> forward = messages(STRATEGIES["tensor"], backward=False)  # half a million elements, twice
    >>> sent(forward, point, "A block").rows[0][-4:]
    (2, 500000, 2, 0.002)
    """
    return listing(
        [
            {
                "when": message.phase.value, "collective": message.kind.value, "what": message.what,
                "times": _number(message.count, at), "elements a time": _number(message.elements, at),
                "ranks": _number(message.ranks, at),
                "sent (GB)": element_bytes * evaluate(message.volume, at) / 1e9,
            }
            for message in chosen
        ],
        caption,
    )  # fmt: skip


def _number(expr: object, at: Mapping[str, object]) -> object:
    value = evaluate(expr, at)
    return int(value) if float(value).is_integer() else value


def stage_rows(strategy: Strategy, at: Mapping[str, object]) -> list[dict[str, object]]:
    """What one rank does, holds and sends in each stage.

    Parameters
    ----------
    strategy : Strategy
        The partition.
    at : mapping
        From symbol name to number; B sequences of m tokens.

    Returns
    -------
    list of dict
        From column heading to value: numbers kept per weight, elements that the rank holds, its FLOP, elements that
        it sends, and FLOP per element sent, infinite if nothing is.

    Examples
    --------
    >>> point = {"L": 1, "d": 4, "d_ff": 16, "h": 2, "V": 10, "B": 8, "m": 4, "P_d": 2}
    >>> [row["elements sent"] for row in stage_rows(STRATEGIES["data"], point)]  # the gradients of 232 weights
    [0.0, 0.0, 232.0]
    """
    out = []
    for stage in Stage:
        use = in_stage(strategy, stage)
        work, sends = (float(evaluate(expr, at)) for expr in (use.work.total, use.sent))
        out.append({
            "stage": stage.value, "per weight": STATES if stage is Stage.TRAINING else 1,
            "elements held": float(evaluate(use.memory.total, at)), "FLOP": work,
            "elements sent": sends, "FLOP per element": work / sends if sends else float("inf"),
        })  # fmt: skip
    return out


def stages(strategy: Strategy, at: Mapping[str, object], caption: str) -> Listing:
    """`stage_rows` as a table.

    Examples
    --------
    >>> point = {"L": 1, "d": 4, "d_ff": 16, "h": 2, "V": 10, "B": 8, "m": 4, "P_d": 2}
    >>> [row[1] for row in stages(STRATEGIES["data"], point, "Two replicas").rows]  # numbers kept per weight
    [1, 1, 4]
    """
    return listing(stage_rows(strategy, at), caption)


QUANTITIES = ("work", "depth", "memory", "sent")


def curves(points: Mapping[str, Mapping[str, int]], names: Sequence[str], degrees: Sequence[int]) -> "pd.DataFrame":
    """Costs of one rank of a training step against the degree, for several architectures and strategies.

    Parameters
    ----------
    points : mapping
        From architecture to symbol values, without degrees.
    names : sequence of str
        Strategies with one axis.
    degrees : sequence of int
        Those that cut more pieces than there are (heads, layers, ...) are left out, and so are uneven ones.

    Returns
    -------
    pandas.DataFrame
        ``architecture``, ``strategy``, ``degree``, and for each a line ``work``, ``depth``, ``memory`` and ``sent``.

    Examples
    --------
    >>> point = {"L": 2, "d": 4, "d_ff": 16, "h": 2, "V": 10, "B": 8, "m": 4}
    >>> frame = curves({"tiny": point}, ["tensor"], [1, 2, 4])
    >>> list(frame["degree"]), list(frame["sent"])  # two heads, so two ranks at most
    ([1, 2], [0.0, 1024.0])
    """
    import pandas as pd

    lines = []
    for architecture, point in points.items():
        for name in names:
            (axis,) = STRATEGIES[name].axes
            formulas = _formulas(STRATEGIES[name])
            unit = point[CUTS[axis.degree.name]]
            for degree in degrees:
                if degree > unit or unit % degree:
                    continue
                at = {**point, axis.degree.name: degree}
                values = {quantity: float(evaluate(expr, at)) for quantity, expr in formulas.items()}
                lines.append({"architecture": architecture, "strategy": name, "degree": degree, **values})
    return pd.DataFrame(lines)


def _formulas(strategy: Strategy) -> dict[str, object]:
    use = in_stage(strategy, Stage.TRAINING)
    totals = (use.work.total, strategy.rank_depth.total, use.memory.total, use.sent)
    return dict(zip(QUANTITIES, totals, strict=True))
