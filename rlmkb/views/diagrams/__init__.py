"""Figures of the book, drawn by code as SVG that follows the page's colours, in light and in dark.

`render` gives the SVG of a name; `names`, `title` and `description` say what there is.
"""

from rlmkb.errors import InputError, nearest
from rlmkb.views.diagrams import (
    attention,
    backward,
    block,
    computation,
    dependencies,
    flash,
    inter_async,
    inter_choice,
    inter_combined,
    inter_fusion,
    inter_graph,
    inter_layouts,
    inter_placement,
    inter_structure,
    loop,
    maps,
    parallel_axes,
    parallel_context,
    parallel_data,
    parallel_sequence,
    parallel_tensor,
    signals,
    stages_expert,
    stages_memory,
    stages_pipeline,
    stages_ranks,
)
from rlmkb.views.diagrams.page import Diagram, svg

DIAGRAMS: dict[str, Diagram] = {
    diagram.name: diagram
    for diagram in (
        computation.WORK_AND_DEPTH,
        loop.PIPELINE,
        loop.MODELS_PER_ALGORITHM,
        signals.FEEDBACK_SOURCES,
        block.FORWARD,
        backward.BACKWARD,
        attention.PREFILL_AND_DECODE,
        attention.KV_CACHE,
        flash.FLASH_ATTENTION,
        parallel_axes.AXES,
        parallel_data.DATA,
        parallel_tensor.TENSOR,
        parallel_sequence.SEQUENCE,
        parallel_context.RING,
        parallel_context.ULYSSES,
        stages_pipeline.SCHEDULES_PLAIN,
        stages_pipeline.SCHEDULES_SPLIT,
        stages_pipeline.DECODE,
        stages_pipeline.INTER_BATCH,
        stages_expert.EXPERT_PARALLELISM,
        stages_memory.ZERO_STAGES,
        stages_memory.CHECKPOINTING,
        stages_ranks.RANKS_3D,
        stages_ranks.RANKS_5D,
        inter_graph.GRAPH,
        inter_structure.STRUCTURE,
        inter_placement.PLACEMENT,
        inter_fusion.INTER,
        inter_fusion.INTRA,
        inter_async.ASYNCHRONOUS,
        inter_async.IN_FLIGHT,
        inter_async.COPIES,
        inter_choice.CHOICE,
        inter_layouts.HYBRID,
        inter_combined.COMBINED,
        *dependencies.DIAGRAMS,
        maps.TAXONOMY,
        maps.ARCHITECTURE,
    )
}


def _diagram(name: str) -> Diagram:
    if name not in DIAGRAMS:
        raise InputError(f"no diagram is named {name!r}; there are: {nearest(name, DIAGRAMS)}")
    return DIAGRAMS[name]


def names() -> tuple[str, ...]:
    """The names of all diagrams, in the order of the book.

    Examples
    --------
    >>> names()[:2]
    ('work-and-depth', 'pipeline')
    """
    return tuple(DIAGRAMS)


def title(name: str) -> str:
    """The title of a diagram, which is also the `title` element of its SVG.

    Examples
    --------
    >>> title("kv-cache")
    'The cache of keys and values'
    """
    return _diagram(name).title


def description(name: str) -> str:
    """What a diagram shows, in words; also the `desc` element of its SVG.

    Examples
    --------
    >>> description("pipeline")[:27]
    'Three stages form a loop. P'
    """
    return _diagram(name).description


def render(name: str, standalone: bool = False) -> str:
    """The SVG of a diagram.

    Parameters
    ----------
    name : str
        One of `names`.
    standalone : bool
        For a file of its own: light colours written in, and the page's background behind the drawing.

    Returns
    -------
    str
        An ``svg`` element with a title and a description. It is as wide as its container, at most its natural
        width; it keeps a least width for legible text, so its figure must be able to scroll sideways.

    Raises
    ------
    InputError
        If no diagram has this name; the nearest names come first.

    Examples
    --------
    >>> render("pipeline").startswith('<svg xmlns="http://www.w3.org/2000/svg"')
    True
    """
    return svg(_diagram(name), standalone)
