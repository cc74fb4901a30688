"""The numbers that open the book: computed when the page is built."""

from rlmkb.views import design
from rlmkb.views.markup import chip, number_html, text_html

ARCHITECTURE = "llama-3.1-8b"
WORKLOAD = {"B": 128, "K": 8, "S": 1024, "T": 8192}


def shares() -> dict[tuple[str, str], float]:
    """Share of each stage in the work and in the depth of one PPO iteration.

    All four models have the shape of `ARCHITECTURE`, stages and models run one after the other.

    Returns
    -------
    dict
        From (quantity, stage) to a number between 0 and 1.

    Examples
    --------
    >>> found = shares()
    >>> round(found["work", "generation"] + found["work", "assessment"] + found["work", "training"], 12)
    1.0
    """
    from rlmkb.catalogue import entry
    from rlmkb.notation import Stage
    from rlmkb.theory.algorithms import PPO
    from rlmkb.theory.formula import Quantity
    from rlmkb.theory.iteration import BASELINE, iteration_cost, stage_cost

    shape = entry("architectures", ARCHITECTURE)
    values = WORKLOAD | {
        "L": shape.layers,
        "d": shape.d_model,
        "d_ff": shape.feed_forward.width,
        "h": shape.attention.heads,
        "V": shape.vocab_size,
    }
    return {
        (quantity.value, stage.value): float(
            stage_cost(PPO, stage, quantity, BASELINE).evaluate(values)
            / iteration_cost(PPO, quantity, BASELINE).evaluate(values)
        )
        for quantity in (Quantity.WORK, Quantity.DEPTH)
        for stage in Stage
    }


def headline_html() -> str:
    """Three numbers, the bars they are read from, and what they hold for."""
    from rlmkb.catalogue import entry

    found = shares()
    numbers = (("work", "generation"), ("work", "training"), ("depth", "generation"))
    cells = "".join(
        f'<div class="rl-{stage}"><b>{_percent(found[quantity, stage])}</b>'
        f"<span>of the {quantity} is {stage}</span></div>"
        for quantity, stage in numbers
    )
    bars = "".join(_bar(quantity, found) for quantity in ("work", "depth"))
    legend = " ".join(chip(stage).text for stage in design.STAGES)
    name = text_html(entry("architectures", ARCHITECTURE).name)
    lengths = [number_html(WORKLOAD[symbol]) for symbol in "ST"]
    note = (
        f"One PPO iteration with four models of the shape of {name}, prompts of {lengths[0]} and responses of "
        f"{lengths[1]} tokens. Work counts operations, depth the longest chain of steps that wait for each other."
    )
    return (
        f'<div class="rl-headline"><div class="rl-figures">{cells}</div>{bars}'
        f'<p class="rl-legend">{legend}</p></div><p class="rl-note">{note}</p>'
    )


def _bar(quantity: str, found: dict[tuple[str, str], float]) -> str:
    parts = "".join(
        f'<i class="rl-{stage}" style="width:{100 * found[quantity, stage]:.3f}%"></i>' for stage in design.STAGES
    )
    words = ", ".join(f"{stage} {100 * found[quantity, stage]:.3g} %" for stage in design.STAGES)
    label = f"{quantity.capitalize()} by stage: {words}"
    return (
        f'<div class="rl-bar"><span>{quantity.capitalize()}</span>'
        f'<div role="img" aria-label="{label}">{parts}</div></div>'
    )


def _percent(share: float) -> str:
    """Two digits, or as many nines as it takes: never rounded up to 100.

    Examples
    --------
    >>> _percent(0.1028), _percent(0.99913)
    ('10\u202f%', '99.9\u202f%')
    """
    percent = 100 * share
    shown = f"{percent:.0f}" if percent < 99 else f"{int(percent * 10) / 10:g}"
    return f"{shown}\u202f%"
