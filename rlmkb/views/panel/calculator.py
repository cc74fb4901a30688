"""The calculator: one whole iteration of PPO, GRPO or DPO under any configuration, in the page."""

from rlmkb.notation import Role
from rlmkb.theory.algorithms import ALGORITHMS, Algorithm
from rlmkb.theory.configurations import CONFIGURATIONS, Configuration
from rlmkb.theory.formula import Formula
from rlmkb.theory.table_nine import cells, end_to_end
from rlmkb.views.javascript import literal
from rlmkb.views.markup import text_html
from rlmkb.views.panel.chart import chart_html
from rlmkb.views.panel.inputs import fields
from rlmkb.views.panel.program import program, symbols
from rlmkb.views.panel.table import form_html, limits, preset_html, shapes_script
from rlmkb.views.tables import TOGETHER

ID = "calculator"
VERIFIER = "verifier"


def algorithms() -> dict[str, Algorithm]:
    """What the calculator offers: the three algorithms, and the online ones with a verifier.

    Examples
    --------
    >>> list(algorithms())
    ['ppo', 'ppo-verifier', 'grpo', 'grpo-verifier', 'dpo']
    """
    offered = {}
    for id, algorithm in ALGORITHMS.items():
        offered[id] = algorithm
        if Role.REWARD in algorithm.roles:
            offered[f"{id}-{VERIFIER}"] = algorithm.with_verifier()
    return offered


def rows(configuration: Configuration, algorithm: Algorithm) -> list[tuple[str, list[Formula]]]:
    """Each stage with its work, depth and memory, then the total work and depth.

    Examples
    --------
    >>> [name for name, _ in rows(CONFIGURATIONS["baseline"], ALGORITHMS["grpo"])]
    ['generation', 'assessment', 'training', 'iteration']
    """
    found: dict[str, list[Formula]] = {}
    for cell in cells(algorithm):
        if cell.row == configuration.id:
            found.setdefault(cell.stage, []).append(cell.printed)
    return [*found.items(), ("iteration", [end_to_end(configuration, algorithm)])]


def calculator_html() -> str:
    """The calculator as HTML with its programs."""
    programs, needed = {}, set()
    for algorithm_id, algorithm in algorithms().items():
        for configuration in CONFIGURATIONS.values():
            found = rows(configuration, algorithm)
            formulas = [formula for _, stage in found for formula in stage]
            stages = [TOGETHER.get(name, name) for name, _ in found]
            needed |= set(symbols(formulas))
            notes = list(dict.fromkeys(note for formula in formulas if (note := formula.note)))
            programs[f"{algorithm_id}/{configuration.id}"] = (stages, notes, program(formulas), symbols(formulas))
    asked = fields(tuple(sorted(needed)))
    data = {
        "id": ID,
        "needs": sorted(needed),
        "fields": [[field.name, field.start, field.slider_end] for field in asked],
        "limits": limits(needed),
        "roles": [role.suffix for role in (Role.REWARD, Role.CRITIC)],
    }
    listed = ",".join(
        f"{literal(key)}:{{stages:{literal(stages)},notes:{literal(notes)},needs:{literal(list(needs))},first:{code}}}"
        for key, (stages, notes, code, needs) in programs.items()
    )
    choices = _choice("algorithm", "Algorithm", {id: _name(id, one) for id, one in algorithms().items()}) + _choice(
        "configuration", "Configuration", {one.id: one.title for one in CONFIGURATIONS.values()}
    )
    return (
        f'{shapes_script()}<section class="rl-panel rl-calculator" id="panel-{ID}" aria-labelledby="panel-{ID}-title">'
        f'<p class="rl-panel-title" id="panel-{ID}-title">One iteration</p>'
        f"{form_html(ID, asked, data['roles'], choices)}{chart_html(ID)}{_result()}"
        "<noscript><p>The calculator needs JavaScript; the command line gives the same numbers.</p></noscript>"
        f"<script>(window.rlmkbPanels??={{}})[{literal(ID)}]=Object.assign({literal(data)},{{programs:{{{listed}}}}});"
        "</script></section>"
    )


def _name(id: str, algorithm: Algorithm) -> str:
    return f"{algorithm.name} with a verifier" if id.endswith(VERIFIER) else algorithm.name


def _choice(name: str, label: str, options: dict[str, str]) -> str:
    key = f"panel-{ID}-{name}"
    listed = "".join(f'<option value="{id}">{text_html(title)}</option>' for id, title in options.items())
    return preset_html(key, label, f'<select id="{key}" data-choice="{name}">{listed}</select>')


def _result() -> str:
    heads = "".join(
        f'<th scope="col" class="num">{text_html(name)} <span class="rl-unit">{unit}</span></th>'
        for name, unit in (("Work", "FLOP"), ("Depth", "steps"), ("Memory", "elements"))
    )
    return (
        '<div class="rl-table" role="group" tabindex="0" aria-label="Cost of one iteration"><table>'
        f'<thead><tr><th scope="col">Stage</th>{heads}</tr></thead><tbody data-result></tbody></table></div>'
        '<p class="rl-note" data-notes></p><p class="rl-note">An element is one number, in bf16 two bytes. '
        "Depth counts steps of a binary reduction, not seconds.</p>"
    )
