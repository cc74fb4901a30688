"""From the training layout of a model to its generation layout: what each rank receives, and holds meanwhile.

The paper names the buffer M_reshard (appendix B-D5) and leaves communication out; the traffic is ours.
"""

import sympy

from rlmkb.errors import InputError
from rlmkb.notation import Role, symbol
from rlmkb.theory import building_blocks as blocks
from rlmkb.theory.formula import Formula, Quantity
from rlmkb.theory.functions import Maximum

P_t, P_z = symbol("P_t"), symbol("P_z")


def share(pieces: int | sympy.Expr, of: int | sympy.Expr = P_z, *, kept: bool = True) -> sympy.Expr:
    """Share of the weights that a rank receives to hold one of `pieces` pieces.

    Parameters
    ----------
    pieces : int or sympy.Expr
        Pieces that the generation layout cuts the weights into; a replica has as many ranks.
    of : int or sympy.Expr
        Pieces that the training layout cuts them into: the shards of ZeRO-3, or P_p P_t of a 3D layout.
    kept : bool
        Whether the rank's training piece is part of its generation piece, so that it is not sent: true where layouts
        are chosen so on the same devices, false on other devices.

    Examples
    --------
    Of eight shards, to the whole model on each rank, and to pieces of four ranks:

    >>> share(1, 8), share(4, 8), share(4, 8, kept=False)
    (7/8, 1/8, 1/4)
    """
    for name, value in (("pieces", pieces), ("of", of)):
        if not sympy.sympify(value).is_positive:
            raise InputError(f"{name} is {value}; give the number of pieces of a layout, at least 1")
    needed = sympy.S.One / pieces
    return Maximum(sympy.S.Zero, needed - sympy.S.One / of) if kept else needed


def received(role: Role = Role.POLICY, *, kept: bool = True) -> Formula:
    """Elements that a rank receives between training in P_z pieces and generation in P_t.

    Parameters
    ----------
    role : Role
        The model that changes its layout.
    kept : bool
        As of `share`.

    Examples
    --------
    A model of 68 weights, from shards on four ranks to pairs of ranks: each has 17 of its 34.

    >>> received().evaluate(L=1, d=2, d_ff=8, V=10, P_z=4, P_t=2)
    17.0
    """
    size = blocks.parameter_count(role)
    needed = share(P_t, P_z, kept=kept)
    return Formula(
        "reshard_traffic", r"\mathrm{received}", size.handle * needed, Quantity.MEMORY,
        "elements that a rank receives between two layouts", "ours; resharding as in appendix B-D5", role, "rank",
        where=(size,), assumptions=("every weight is sent once to each rank that needs it",),
        note="Not in the paper, which leaves communication out.",
    )  # fmt: skip


def held(role: Role = Role.POLICY) -> Formula:
    """Elements that a rank holds of the second layout, where the whole of it is filled at once.

    Examples
    --------
    >>> held().evaluate(L=1, d=2, d_ff=8, V=10, P_t=2)
    34.0
    """
    size = blocks.parameter_count(role)
    return Formula(
        "reshard_held", r"M_{\mathrm{reshard}}", size.handle / P_t, Quantity.MEMORY,
        "a rank's piece of the second layout", "Appendix B-D5", role, "rank", where=(size,),
        assumptions=("at worst; layer by layer, one layer of it",),
    )  # fmt: skip
