"""What a reader can change: symbols with their ranges, shapes of real models, workloads."""

from dataclasses import dataclass
from functools import cache

from rlmkb.errors import InputError
from rlmkb.notation import Kind, notation

# where a slider ends; a field takes more
SLIDER_ENDS = {
    "L": 128, "d": 16384, "d_ff": 65536, "h": 128, "V": 262144, "S": 65536, "T": 131072, "B": 4096, "K": 64,
    "B_pairs": 4096, "E": 512, "E_a": 16, "d_e": 16384, "P_d": 128, "P_p": 16, "P_t": 16, "P_c": 16, "P_e": 64,
}  # fmt: skip
ORDER = tuple(SLIDER_ENDS)
SHAPE = ("L", "d", "d_ff", "h", "V")
EXPERTS = ("E", "E_a", "d_e")

START = {"B": 512, "K": 8, "S": 1024, "T": 8192, "B_pairs": 512, "E": 128, "E_a": 8, "d_e": 768,
         "P_d": 8, "P_p": 2, "P_t": 4, "P_c": 1, "P_e": 8}  # fmt: skip
START_ARCHITECTURE = "llama-3.1-8b"


@dataclass(frozen=True)
class Workload:
    """Batch and lengths under one name."""

    id: str
    name: str
    sizes: dict[str, int]


WORKLOADS = (
    Workload("reasoning", "reasoning: long responses", {"B": 512, "K": 8, "S": 1024, "T": 8192, "B_pairs": 512}),
    Workload("chat", "chat: short responses", {"B": 256, "K": 4, "S": 512, "T": 512, "B_pairs": 256}),
    Workload("long", "very long responses", {"B": 256, "K": 16, "S": 2048, "T": 32768, "B_pairs": 256}),
    Workload("documents", "long prompts, short answers", {"B": 128, "K": 8, "S": 32768, "T": 1024, "B_pairs": 128}),
)


@dataclass(frozen=True)
class Field:
    """One symbol that a panel asks for."""

    name: str
    latex: str
    meaning: str
    unit: str
    start: int
    slider_end: int


def fields(needed: tuple[str, ...]) -> tuple[Field, ...]:
    """The fields for a set of symbols: a role's dimension is asked for by its bare name, m by S and T.

    Examples
    --------
    >>> [field.name for field in fields(("L_pi", "m"))]
    ['L', 'S', 'T']
    """
    bare: set[str] = set()
    for name in needed:
        bare |= {"S", "T"} if name == "m" else {notation(name).default or name}
    unknown = sorted(bare - set(ORDER))
    if unknown:
        raise InputError(f"no slider for {unknown[0]}; give it an end in SLIDER_ENDS")
    start = START | dict(zip(SHAPE, shapes()[START_ARCHITECTURE][:5], strict=True))
    return tuple(
        Field(name, notation(name).latex, notation(name).meaning, notation(name).unit, start[name], SLIDER_ENDS[name])
        for name in ORDER
        if name in bare and notation(name).kind is not Kind.FRACTION
    )


@cache
def shapes() -> dict[str, tuple[int, ...]]:
    """Canonical dimensions of every open architecture that has them, in the order of `SHAPE` (and `EXPERTS`).

    Examples
    --------
    >>> shapes()["llama-3.1-8b"]
    (32, 4096, 14336, 32, 128256)
    """
    from rlmkb.architecture import canonical, from_entry
    from rlmkb.catalogue import entries

    found = {}
    for id, entry in entries("architectures").items():
        try:
            dimensions = canonical(from_entry(entry))
        except InputError:
            continue  # hybrids have no canonical shape
        experts = entry.experts
        extra = (experts.count, experts.active, experts.width) if experts else ()
        found[id] = (*(dimensions[name] for name in SHAPE), *extra)
    return found
