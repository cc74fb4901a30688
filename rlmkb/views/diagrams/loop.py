"""The training loop: what flows between its stages, and which model works where."""

from rlmkb.views import design
from rlmkb.views.diagrams import text
from rlmkb.views.diagrams.page import Diagram
from rlmkb.views.diagrams.parts import arrow, blank, box, grid_of, legend, lines, panel, swatch
from rlmkb.views.diagrams.shapes import HEADING, SMALL, Drawing, Label, column, row

_CHIP = 118  # width of a model's box


def role_name(role: str) -> str:
    """A role in words and with its symbol.

    Examples
    --------
    >>> role_name("reference")
    'reference $π_{ref}$'
    """
    from rlmkb.notation import Role

    return f"{role} {text.from_latex(Role(role).latex)}"


STAGES = (
    ("generation", "Generation", (("policy", "samples $K$ responses", "per prompt, token by token"),)),
    (
        "assessment",
        "Assessment",
        (
            ("reward", "one score per response", "(a verifier may stand in)"),
            ("critic", "one value per token", "(PPO only)"),
            ("reference", "log-probability per token", "one forward pass"),
        ),
    ),
    (
        "training",
        "Training",
        (
            ("policy", "policy loss,", "forward and backward"),
            ("critic", "value loss, forward and", "backward (PPO only)"),
        ),
    ),
)
_FLOWS = (
    ("rollouts $(x, y)$", "log-probabilities $log π_{old}(y|x)$"),
    ("rewards $r$, advantages $A$", "log-probabilities $log π_{ref}(y|x)$"),
)


def _pipeline() -> Drawing:
    cards = []
    for stage, title, models in STAGES:
        rows = [[box(role_name(role), tone=role, width=_CHIP, height=38), lines(*notes)] for role, *notes in models]
        cards.append(panel(title, grid_of(rows, gap=10), tone=stage, width=346, key=stage))
    gap = 58
    stack = column(*cards, gap=gap)
    generation, assessment, training = (stack[stage] for stage, _, _ in STAGES)
    centre, rail = 28, generation.right + 30
    prompts = lines("prompts $X$, $B$ per iteration", ink="muted").at(centre + 14, generation.y - 36)
    drawing = stack + prompts + arrow((centre, generation.y - 40), generation.top_at(centre / generation.w))
    for (above, below), flow in zip(((generation, assessment), (assessment, training)), _FLOWS, strict=True):
        drawing += arrow((centre, above.bottom), (centre, below.y))
        label = lines(*flow, ink="muted")
        drawing += label.at(centre + 14, above.bottom + (gap - label.extent.h) / 2)
    weights = lines("new weights $θ$ (and $ψ$ of a critic)", ink="muted").at(centre + 14, training.bottom + 9)
    turn = training.bottom + 36
    drawing += arrow(
        (centre, training.bottom), (centre, turn), (rail, turn), (rail, generation.middle), generation.right_at()
    )
    return drawing + weights


PIPELINE = Diagram(
    "pipeline",
    "The post-training loop: generation, assessment, training",
    "Three stages form a loop. Prompts X enter generation, where the policy samples K responses for each "
    "of B prompts. The rollouts and their log-probabilities go to assessment, where the reward model "
    "scores each response, the critic gives one value per token and the reference gives log- "
    "probabilities. Rewards, advantages and reference log-probabilities go to training, which updates the "
    "policy and, in PPO, the critic. The new weights return to generation for the next iteration.",
    _pipeline,
)


_CELL = 90


def _cell(call: str, role: str) -> Drawing:
    """What a model does in one stage."""
    if not call:
        return blank(_CELL, 28) + Label(_CELL / 2, 14, "–", ink="line")
    trains = call == "train"
    return box(call, tone=role, width=_CELL, height=28, size=SMALL, bold=trains, weight=2 if trains else 1.25)


def _algorithm(algorithm: object) -> Drawing:
    """One panel: a row per model, a cell per stage."""
    calls = {(str(each.role), str(each.stage)): str(each.call) for each in algorithm.invocations}
    rows = []
    for role in design.ROLES:
        used = role in map(str, algorithm.roles)
        trained = role in map(str, algorithm.trained_roles)
        tone, frozen, weight = role if used else "absent", used and not trained, 2 if trained else 1.25
        name = role_name(role)
        chip = box(name, tone=tone, width=_CHIP, height=28, size=SMALL, dashed=frozen, weight=weight)
        rows.append(row(chip, *(_cell(calls.get((role, stage), ""), role) for stage in design.STAGES), gap=10))
    return column(*rows, gap=7)


def _models_per_algorithm() -> Drawing:
    from rlmkb.theory.algorithms import ALGORITHMS

    heads = (box(stage, tone=stage, width=_CELL, height=26, size=SMALL) for stage in design.STAGES)
    header = row(blank(_CHIP, 26), *heads, gap=10)
    panels = []
    for algorithm in ALGORITHMS.values():
        count = len(algorithm.roles)
        loop = "online" if algorithm.online else "offline"
        facts = f"{count} models, {len(algorithm.trained_roles)} trained, {loop}"
        title = row(lines(algorithm.name, size=HEADING, bold=True), lines(facts, ink="muted"), gap=10, align="end")
        panels.append(column(title, _algorithm(algorithm), gap=6))
    key = legend(
        swatch("quiet", "trained", weight=2), swatch("quiet", "frozen", dashed=True),
        lines("train = forward and backward", ink="muted"), room=header.extent.w,
    )  # fmt: skip
    return column(header, *panels, key, gap=18)


MODELS_PER_ALGORITHM = Diagram(
    "models-per-algorithm",
    "Which models PPO, GRPO and DPO run, and in which stage",
    "Rows are the four models, columns the three stages. PPO: the policy generates and is trained; "
    "reward, critic and reference run forward in assessment; the critic is trained as well. GRPO: as PPO "
    "without the critic. DPO: nothing is generated; policy and reference run forward over preference "
    "pairs, then the policy is trained. Reward and reference are frozen in all of them.",
    _models_per_algorithm,
)
