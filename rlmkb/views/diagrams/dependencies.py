"""What waits for what in algorithms 1 to 4: drawn from the lines of `rlmkb.algorithms.listings`."""

from functools import partial

from rlmkb.views.diagrams import text
from rlmkb.views.diagrams.page import Diagram
from rlmkb.views.diagrams.parts import arrow, box, lines, paragraph
from rlmkb.views.diagrams.shapes import SMALL, Drawing, Rect, Shape, column

_STAGE, _BAR, _LANES = 88, 5, 308  # widths: stages' names, their bars, all lanes together
_BETWEEN, _FALL, _HEAD = 7, 24, 26  # space between lanes, between rows, and for the lanes' names
_WIDTH = _STAGE + _BAR + 10 + _LANES

Waits = dict[int, frozenset[int]]


def drawn(listing) -> Waits:
    """The lines that the figure shows, each with those it waits for; what follows from others is left out.

    Examples
    --------
    >>> from rlmkb.algorithms.listings import listing
    >>> sorted(drawn(listing("ppo"))[31])  # advantages wait for values and shaped rewards
    [19, 27]
    """
    shown = {line.number for line in listing.lines if line.figure and not line.loop}
    before = {number: listing.ancestors(number) & shown for number in sorted(shown)}
    return {
        number: frozenset(one for one in earlier if not any(one in before[other] for other in earlier))
        for number, earlier in before.items()
    }


def spans(listing, waits: Waits, lanes: list[str]) -> dict[int, tuple[int, int]]:
    """First and last lane that each box covers: its own and those it starts; without a lane, also those it joins."""
    found: dict[int, tuple[int, int]] = {}
    for number, earlier in waits.items():
        lane = listing.by_number[number].lane
        near = {lane} | {listing.by_number[later].lane for later, its in waits.items() if number in its}
        covered = []
        if not lane:
            near |= {listing.by_number[one].lane for one in earlier}
            covered = [edge for one in earlier if not listing.by_number[one].lane for edge in found[one]]
        covered += [lanes.index(each) for each in near if each]
        found[number] = (min(covered), max(covered))
    return found


def _draw(id: str) -> Drawing:
    from rlmkb.algorithms.listings import listing

    algorithm = listing(id)
    waits = drawn(algorithm)
    used = {line.lane for line in algorithm.lines}
    lanes = [role for role in ("policy", "critic", "reward", "reference") if role in used]
    span = spans(algorithm, waits, lanes)
    step = (_LANES + _BETWEEN) / len(lanes)

    def edges(first: int, last: int) -> tuple[float, float]:
        return _WIDTH - _LANES + first * step, _WIDTH - _LANES + (last + 1) * step - _BETWEEN

    drawing = Drawing()
    for index, role in enumerate(lanes):
        name = lines(role, ink=f"{role}-ink", bold=True, anchor="middle")
        drawing += name.moved(sum(edges(index, index)) / 2, 0)
    y, bottom, done = _HEAD, _HEAD, set()
    for stage in dict.fromkeys(algorithm.by_number[number].stage for number in waits):
        top = y
        while row := [n for n, its in waits.items() if n not in done and its <= done and _stage(algorithm, n) == stage]:
            done |= {*row}
            for number in row:
                drawing += _box(algorithm.by_number[number], *edges(*span[number]), y)
            bottom = max(drawing[str(number)].bottom for number in row)
            y = bottom + _FALL
        words = _stage_words(algorithm, stage)
        bottom = max(bottom, top + words.extent.h)
        bar = Shape(Rect(_STAGE, top, _BAR, bottom - top), stage, radius=2.5)
        drawing = drawing + words.at(0, top) + bar
        y = bottom + _FALL
    for number, earlier in waits.items():
        for one in sorted(earlier):
            x = _meeting(edges(*span[one]), edges(*span[number]))
            drawing += arrow((x, drawing[str(one)].bottom), (x, drawing[str(number)].y))
    return column(drawing, _key(algorithm), gap=16)


def _stage(algorithm, number: int) -> str:
    return algorithm.by_number[number].stage


def _box(line, left: float, right: float, y: float) -> Drawing:
    label = text.wrap(line.figure, right - left - 6, SMALL)
    thick = 2 if line.call == "train" else 1.25
    drawing = box(
        *label, f"line {line.number}", tone=line.lane or "neutral", width=right - left, size=SMALL, weight=thick,
        pad=6, key=str(line.number),
    )  # fmt: skip
    return drawing.at(left, y)


def _stage_words(algorithm, stage: str) -> Drawing:
    """The name of a stage, and how its loops turn."""
    parts = [lines(stage, ink=f"{stage}-ink", bold=True)]
    for line in algorithm.lines:
        if line.loop and line.figure and line.stage == stage:
            order = "in turn" if algorithm.is_sequential(line) else "side by side"
            parts.append(paragraph(f"{line.figure} {order} ({line.number})", _STAGE, ink="muted"))
    return column(*parts, gap=4)


def _meeting(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Where a vertical arrow joins two boxes: in the middle of the stretch that they share."""
    return (max(one[0], other[0]) + min(one[1], other[1])) / 2


def _key(algorithm) -> Drawing:
    """What thick outlines mean, and what a turn of a loop hands to the next."""
    fed: dict[int, list[str]] = {}
    for line in algorithm.lines:
        for need in line.needs if line.call else ():
            if need > line.number:
                fed.setdefault(need, []).append(str(line.number))
    returns = "; ".join(f"line {later} feeds {' and '.join(first)}" for later, first in sorted(fed.items()))
    thick = "Thick outline: trained. " if any(line.call == "train" for line in algorithm.lines) else ""
    return paragraph(f"{thick}In the next turn of a loop, {returns}.", _WIDTH, ink="muted")


def _diagram(id: str, name: str, description: str) -> Diagram:
    return Diagram(f"{id}-dependencies", f"What waits for what in {name}", description, partial(_draw, id))


DIAGRAMS = (
    _diagram(
        "rollout", "rollout generation",
        "One lane, the policy’s, in one stage, generation. Prompts and candidates run side by side; tokens follow "
        "each other. For each token: sample a token (line 11), its log-probability (line 12); both join the set of "
        "rollouts (line 15).",
    ),
    _diagram(
        "ppo", "PPO",
        "Generation: generate rollouts (line 3). Assessment, all rollouts side by side: reward (13), values of the "
        "critic (19) and log-probs of the reference (26) start from the rollouts at the same time; reward and "
        "log-probs join in shaped rewards (27), these and the values in advantages, returns (31). Training, one "
        "minibatch after the other: a minibatch (39) starts two paths that do not meet: the policy’s log-probs (48), "
        "clipped loss (64), update θ (70), and the critic’s values (55), squared error (76), update ψ (78).",
    ),
    _diagram(
        "grpo", "GRPO",
        "Generation: generate rollouts (line 3). Assessment: the reward (13) and the log-probs of the reference (19) "
        "start from the rollouts at the same time; rewards of a group give mean, deviation (22), then advantages "
        "(24). Training, one minibatch after the other: a minibatch (31) needs advantages and log-probs; then the "
        "policy’s log-probs (39), clipped loss, KL (49), update θ (52).",
    ),
    _diagram(
        "dpo", "DPO",
        "A minibatch of pairs (line 3) starts two paths at the same time: log-probs of the policy (12) and log-probs "
        "of the reference (19), for both responses of each pair. They join in the log-ratio difference (21), then "
        "logistic loss (28) and update θ (30). Minibatches follow each other.",
    ),
)  # fmt: skip
