"""A stored chart becomes a figure of the page: drawing, caption with a number, and a table of its numbers.

`VegaLite` is the myst-nb plugin for the mime type of `rlmkb.views.charts` (an entry point of the package).
`setup` makes this module a Sphinx extension: figures with an accessible name, and MathJax on pages whose
only mathematics stands in tables.
"""

import json
from typing import Any, ClassVar

from docutils import nodes
from myst_nb.core.render import MimeRenderPlugin

from rlmkb.views import design, markup
from rlmkb.views.charts import MIME

ROWS = 60  # what a reader still scans; the notebook has the rest
_SCRIPT = '<script type="application/json" class="vl-spec">{}</script>'
_NO_SCRIPT = "<noscript><p>The drawing needs JavaScript. Its numbers are in the table below.</p></noscript>"


class VegaLite(MimeRenderPlugin):
    """Render `application/vnd.vegalite.v5+json` for every builder."""

    mime_priority_overrides: ClassVar = [("*", MIME, 1)]

    @staticmethod
    def handle_mime(renderer: Any, data: Any, inline: bool) -> list[nodes.Element] | None:
        """The figure as docutils nodes, or None for another mime type."""
        if inline or data.mime_type != MIME:
            return None
        found = figure(data.content)
        label = data.content.get("usermeta", {}).get("label")
        if label:
            found["names"].append(label)
            renderer.renderer.document.note_explicit_target(found, found)
        return [found]


def figure(spec: dict) -> nodes.figure:
    """The figure of one stored chart.

    Parameters
    ----------
    spec : dict
        Vega-Lite as :func:`rlmkb.views.charts.bundle` stores it.

    Returns
    -------
    docutils.nodes.figure
        Raw HTML, then a caption and a legend with the data where there are any.
    """
    meta = spec.get("usermeta", {})
    drawn = {key: value for key, value in spec.items() if key != "usermeta"}
    text = json.dumps(follow_page(drawn), sort_keys=True, separators=(",", ":")).replace("<", "\\u003c")
    html = f'<div class="vl-slot"></div>{_NO_SCRIPT}{_SCRIPT.format(text)}'
    found = nodes.figure("", nodes.raw("", html, format="html"), classes=["vl-chart"])
    found["aria-label"] = str(spec.get("description", ""))
    found += nodes.caption("", "", *inline_nodes(meta.get("caption") or found["aria-label"]))
    data = data_html(spec)
    if data:
        found += nodes.legend("", nodes.raw("", data, format="html"))
    return found


def follow_page(value: Any) -> Any:
    """The specification with every colour of the design replaced by its CSS variable; rows of data stay.

    Examples
    --------
    >>> follow_page({"mark": {"color": "#1a6fbd"}, "datasets": {"rows_1": [{"c": "#1a6fbd"}]}})
    {'mark': {'color': 'var(--rl-policy)'}, 'datasets': {'rows_1': [{'c': '#1a6fbd'}]}}
    """
    if isinstance(value, str):
        name = design.names_by_light_colour().get(value.lower())
        return design.variable(name) if name else value
    if isinstance(value, dict):
        rows = ("datasets", "values")
        return {key: item if key in rows else follow_page(item) for key, item in value.items()}
    return [follow_page(item) for item in value] if isinstance(value, list) else value


def data_html(spec: dict) -> str:
    """The numbers of a chart as a folded table, at most 60 rows of each data set; empty if it has none."""
    given = spec.get("usermeta", {}).get("table")
    frames = [(given["columns"], given["rows"])] if given else list(_frames(spec))
    if not frames:
        return ""
    count = sum(len(rows) for _, rows in frames)
    body = "".join(_data_table(columns, rows) for columns, rows in frames)
    summary = f"Data <span>({_rows(count)})</span>"
    return f'<details class="rl-data"><summary>{summary}</summary>{body}</details>'


def inline_nodes(text: str) -> list[nodes.Node]:
    """Plain text with ``$...$`` as mathematics; nothing else is markup.

    Examples
    --------
    >>> [type(node).__name__ for node in inline_nodes("Work $C$ <b>")]
    ['Text', 'math', 'Text']
    """
    parts = markup.MATH.split(text)  # text, mathematics, text, ...
    made = [nodes.math(part, part) if index % 2 else nodes.Text(part) for index, part in enumerate(parts)]
    return [node for node in made if node.astext()]


def _data_table(columns: list[str], rows: list[list]) -> str:
    more = len(rows) - ROWS
    note = f'<p class="rl-note">{_rows(more)} more in the notebook.</p>' if more > 0 else ""
    return markup.table_html(columns, rows[:ROWS], name="Data of the chart") + note


def _rows(count: int) -> str:
    return f"{count} row{'' if count == 1 else 's'}"


def _frames(spec: dict):
    """Columns and rows of each data set that the chart refers to."""
    titles = dict(_titles(spec))
    for records in spec.get("datasets", {}).values():
        fields = list(dict.fromkeys(field for record in records for field in record))
        if fields:
            columns = [titles.get(field, field) for field in fields]
            yield columns, [[record.get(field) for field in fields] for record in records]


def _titles(value: Any):
    """Pairs of a field and the title that an encoding gives it."""
    if isinstance(value, dict):
        title = value.get("title") or (value.get("axis") or {}).get("title")
        if isinstance(title, str) and isinstance(value.get("field"), str):
            yield value["field"], title
        for key, item in value.items():
            if key != "datasets":
                yield from _titles(item)
    elif isinstance(value, list):
        for item in value:
            yield from _titles(item)


def visit_figure(self: Any, node: nodes.figure) -> None:
    """Open a figure as Sphinx does, with its accessible name if it has one."""
    node.setdefault("align", "default")
    attributes = {"aria-label": node["aria-label"]} if node.get("aria-label") else {}
    self.body.append(self.starttag(node, "figure", CLASS=f"align-{node['align']}", **attributes))


def depart_figure(self: Any, node: nodes.figure) -> None:
    """Close a figure; its caption leaves the `figcaption` open for the legend."""
    self.body.append("</figcaption>\n</figure>\n" if len(node) > 1 else "</figure>\n")


def note_mathematics(app: Any, doctree: nodes.document) -> None:
    """Let Sphinx load MathJax on a page whose mathematics stands in raw HTML."""
    if any('class="math' in raw.astext() for raw in doctree.findall(nodes.raw)):
        app.env.get_domain("math").data["has_equations"][app.env.docname] = True


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_node(nodes.figure, override=True, html=(visit_figure, depart_figure))
    app.connect("doctree-read", note_mathematics)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
