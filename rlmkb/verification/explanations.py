"""Why a compiled program differs from the formula by more than a twentieth, case by case."""

from rlmkb.verification.partitioned import Author, Row

#: Differences up to this share need no reason of their own: norms, softmax, the loss, the router.
MARGIN = 0.05

BUBBLE = "stages compute in every tick, the bubble too"
BUBBLE_SENDS = "ticks of the bubble send"
ALL_STAGES = f"{BUBBLE_SENDS}; all stages sum the embedding"
THREE_SUMS = "three gradients of one input, summed apart"
TWICE = "two gradients of the embedding, summed apart"
KEPT = "kept besides: normalised values, a second version of attention's shares"
KEPT_NORMS = f"{KEPT}; norms are whole on every rank"


def explanation(row: Row) -> str | None:
    """The reason for a ratio beyond `MARGIN`; None within it.

    Raises
    ------
    LookupError
        If there is none: a difference that nobody has looked into.

    Examples
    --------
    >>> explanation(Row("pipeline 2", "hand", False, "work", "", 1.25, 1.0))
    'stages compute in every tick, the bubble too'
    """
    if row.formula and abs(row.ratio - 1) <= MARGIN:
        return None
    reason = _reason(row)
    if reason is None:
        raise LookupError(f"{row.layout} ({row.author}), {row.quantity} {row.what}: {row.compiled:g} against "
                          f"{row.formula:g}, and no reason is known")  # fmt: skip
    return reason


def _reason(row: Row) -> str | None:
    pipeline = row.layout.startswith("pipeline")
    if row.quantity == "work" and pipeline:
        return BUBBLE
    if row.quantity == "kept":
        return KEPT_NORMS if row.layout.endswith(_SPLIT) else KEPT
    if row.quantity != "sent":
        return None
    if row.author == Author.COMPILER:
        return {"tensor": THREE_SUMS, "data": TWICE}.get(row.axes)
    if pipeline:
        return {"tensor": BUBBLE_SENDS, "pipeline": ALL_STAGES}.get(row.axes)
    return None


_SPLIT = ("tensor 8", "tensor 4")
