"""The colours of the book, once: roles, stages, quantities and neutrals, in light and dark.

Stylesheet, charts, diagrams and tables take their colours from here and from nowhere else.
The hues start from the palette of Okabe and Ito (2008), darkened or lightened until a stroke reaches 3:1
against its page; the members of a group stay apart under simulated protanopia, deuteranopia and tritanopia.
`tests/views/test_design.py` computes both.

``python -m rlmkb.views.design`` writes the generated files of `book/_static`.
"""

from pathlib import Path

from rlmkb.errors import InputError, nearest

MODES = ("light", "dark")

ROLES = {
    "policy": ("#1a6fbd", "#58a2f2"),
    "reward": ("#c27a14", "#f2bd58"),
    "critic": ("#973a64", "#e5668f"),
    "reference": ("#87909b", "#bcc8d3"),
}
STAGES = {
    "generation": ("#0e9a82", "#52d8b9"),
    "assessment": ("#6650a8", "#a486ee"),
    "training": ("#bb3f17", "#ec6a3a"),
}
QUANTITIES = {
    "work": ("#b0785c", "#efbaa6"),
    "depth": ("#2689a5", "#57a6c2"),
    "memory": ("#666112", "#9a963f"),
}
NEUTRALS = {
    "page": ("#ffffff", "#12161c"),
    "surface": ("#f5f7f9", "#1a2028"),
    "ink": ("#1b242f", "#e3e8ee"),
    "muted": ("#546170", "#a3afbc"),
    "line": ("#7f8b99", "#71808f"),  # arrows and outlines that carry meaning
    "hairline": ("#dce1e7", "#313a45"),  # rules that only order the page
    "accent": ("#0b5d78", "#7cc6dc"),  # links and focus
    "accent-soft": ("#e3f0f4", "#17313b"),
}
# Roles beyond the four wear the colour of the one they stand in for.
KIN = {"actor_critic": "policy", "cost_model": "reward", "verifier": "reward", "cost_critic": "critic"}
GROUPS = {"role": ROLES, "stage": STAGES, "quantity": QUANTITIES}

# How far a colour moves: towards the page for a quiet background, towards the ink for text on it.
_SOFT = {"light": 0.88, "dark": 0.80}
_INK = {"light": 0.50, "dark": 0.45}

SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", Arial, sans-serif'
MONO = 'ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace'


def mix(start: str, end: str, share: float) -> str:
    """The colour that lies `share` of the way from `start` to `end`, channel by channel.

    Parameters
    ----------
    start, end : str
        Colours as ``#rrggbb``.
    share : float
        0 gives `start`, 1 gives `end`.

    Returns
    -------
    str
        A colour as ``#rrggbb``.

    Examples
    --------
    >>> mix("#000000", "#ffffff", 0.2)
    '#333333'
    """
    channels = zip(bytes.fromhex(start[1:]), bytes.fromhex(end[1:]), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in channels)


def tokens(mode: str) -> dict[str, str]:
    """Every colour of one mode, by name.

    Each role, stage and quantity has three: the colour itself for strokes and marks, ``-soft`` for a quiet
    background, ``-ink`` for text (at least 4.5:1 on the soft background, the surface and the page).

    Parameters
    ----------
    mode : str
        ``"light"`` or ``"dark"``.

    Returns
    -------
    dict of str to str
        Name without the ``--rl-`` prefix to ``#rrggbb``.

    Raises
    ------
    InputError
        If `mode` is neither.

    Examples
    --------
    >>> tokens("light")["policy"], tokens("dark")["page"]
    ('#1a6fbd', '#12161c')
    """
    if mode not in MODES:
        raise InputError(f"mode is {mode!r}; allowed: {nearest(str(mode), MODES)}")
    which = MODES.index(mode)
    neutral = {name: pair[which] for name, pair in NEUTRALS.items()}
    named = {}
    for group in GROUPS.values():
        for name, pair in group.items():
            named[name] = pair[which]
            named[f"{name}-soft"] = mix(pair[which], neutral["page"], _SOFT[mode])
            named[f"{name}-ink"] = mix(pair[which], neutral["ink"], _INK[mode])
    return named | neutral


def variable(name: str) -> str:
    """The CSS reference to a colour, for markup that must follow the page's mode.

    Examples
    --------
    >>> variable("policy-soft")
    'var(--rl-policy-soft)'
    """
    if name not in tokens("light"):
        raise InputError(f"no colour is named {name!r}; allowed: {nearest(name, tokens('light'))}")
    return f"var(--rl-{name})"


def names_by_light_colour() -> dict[str, str]:
    """From the light colour that a stored chart contains to the name of its token.

    Examples
    --------
    >>> names_by_light_colour()["#1a6fbd"]
    'policy'
    """
    return {colour: name for name, colour in tokens("light").items()}


def css() -> str:
    """The stylesheet text that defines the custom properties in both modes.

    Examples
    --------
    >>> "--rl-policy: #1a6fbd;" in css()
    True
    """
    def block(selector: str, mode: str) -> str:
        lines = [f"  --rl-{name}: {colour};" for name, colour in tokens(mode).items()]
        return "\n".join([f"{selector} {{", *lines, "}"])

    fonts = f":root {{\n  --rl-sans: {SANS};\n  --rl-mono: {MONO};\n}}"
    head = "/* Generated by python -m rlmkb.views.design: edit the colours there, not here. */"
    # an element of class rl-policy may then speak of "its" colour: var(--rl-own), -soft, -ink
    own = "\n".join(
        f".rl-{name} {{ " + " ".join(f"--rl-own{end}: var(--rl-{name}{end});" for end in ("", "-soft", "-ink")) + " }"
        for group in GROUPS.values()
        for name in group
    )
    dark = block('html[data-theme="dark"]', "dark")
    blocks = [block(":root", "light"), f"@media screen {{\n{dark}\n}}"]  # paper stays light
    return "\n\n".join([head, fonts, *blocks, own]) + "\n"


def vega_config() -> dict:
    """The Vega-Lite configuration of every chart, in light colours.

    The page exchanges them for those of its mode, through :func:`names_by_light_colour`.

    Examples
    --------
    >>> vega_config()["axis"]["labelColor"] == tokens("light")["muted"]
    True
    """
    colour = tokens("light")
    text = {"labelColor": colour["muted"], "titleColor": colour["ink"], "labelFontSize": 13,
            "titleFontSize": 13, "titleFontWeight": 600}
    return {
        "background": colour["page"],
        "font": SANS,
        "padding": 4,
        "view": {"stroke": None, "continuousWidth": 600, "continuousHeight": 300, "discreteWidth": 600},
        "title": {"anchor": "start", "color": colour["ink"], "fontSize": 16, "fontWeight": 600, "offset": 14,
                  "subtitleColor": colour["muted"], "subtitleFontSize": 13},
        "axis": text | {"domainColor": colour["line"], "gridColor": colour["hairline"],
                        "tickColor": colour["line"], "labelPadding": 6, "titlePadding": 10, "tickSize": 4},
        "axisX": {"grid": False},
        "axisY": {"domain": False, "ticks": False, "titleAngle": 0, "titleAlign": "left",
                  "titleAnchor": "end", "titleY": -14, "titleX": 0},
        "header": text,
        "legend": text | {"orient": "top", "direction": "horizontal", "symbolSize": 110,
                          "titleOrient": "left", "titlePadding": 12, "offset": 34},
        "range": {"category": [pair[0] for group in GROUPS.values() for pair in group.values()],
                  "ramp": [colour["policy-soft"], colour["policy"], colour["policy-ink"]],
                  "heatmap": [colour["policy-soft"], colour["policy"], colour["policy-ink"]]},
        "line": {"color": colour["policy"], "strokeWidth": 2.5, "strokeCap": "round"},
        "bar": {"color": colour["policy"], "cornerRadiusEnd": 2},
        "area": {"color": colour["policy"], "fillOpacity": 0.2, "line": True},
        "point": {"color": colour["policy"], "filled": True, "size": 70},
        "rule": {"color": colour["line"], "strokeDash": [4, 4]},
        "text": {"color": colour["ink"], "fontSize": 13},
    }


def write(folder: Path) -> list[Path]:
    """Write the generated files of `book/_static` into `folder`; return their paths."""
    from rlmkb.views import logo

    files = {
        "design.css": css(),
        "logo.svg": logo.svg("light"),
        "logo-dark.svg": logo.svg("dark"),
        "favicon.svg": logo.favicon(),
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in files]


if __name__ == "__main__":
    for path in write(Path(__file__).resolve().parents[2] / "book" / "_static"):
        print(path.name)
