"""Values for symbols: checked once, defaults filled, ready to evaluate."""

import math
import numbers
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from rlmkb.errors import InputError
from rlmkb.notation import Kind, Notation, notation

# what a degree cuts, and so cannot exceed
CUTS = {"P_d": "B", "P_p": "L", "P_t": "h", "P_c": "m", "P_e": "E"}
DEGREES = tuple(CUTS)


class Limit(NamedTuple):
    """A symbol that cannot exceed another one."""

    part: str
    whole: str
    why: str


LIMITS = (
    *(Limit(degree, whole, "it cannot be cut into more pieces") for degree, whole in CUTS.items()),
    Limit("E_a", "E", "no token has more experts than there are"),
)


def resolve(values: Mapping[str, object], needed: Iterable[str]) -> dict[str, object]:
    """Check all given values and return one for each needed symbol.

    Parameters
    ----------
    values : mapping
        From symbol name to a number or an array of numbers.
    needed : iterable of str
        Names of the symbols that an expression contains.

    Returns
    -------
    dict
        From each needed name to a Python number, or to a float64 array where an array was given. ``m`` defaults
        to ``S + T``; a role's dimension defaults to the bare one (``L_pi`` to ``L``).

    Raises
    ------
    InputError
        For an unknown symbol, a missing value, or one outside its symbol's range; or if ``m`` and ``S + T``, or
        ``N`` and the product of the degrees, are both given and differ; or if a degree exceeds what it cuts, or
        arrays do not broadcast.

    Examples
    --------
    >>> resolve({"S": 1024, "T": 512, "L": 32}, ["m", "L_pi"])
    {'m': 1536, 'L_pi': 32}
    """
    checked = {name: check(notation(name), value) for name, value in values.items()}
    _check_arrays(checked)
    _check_length(checked)
    _check_devices(checked)
    _check_limits(checked)
    return {name: _lookup(name, checked) for name in needed}


def check(entry: Notation, value: object) -> object:
    """One value, checked against its symbol's range: a Python number, or a float64 array.

    Examples
    --------
    >>> check(notation("L"), 32.0)
    32
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool) or value is None or isinstance(value, str):
        raise _out_of_range(entry, value)
    if isinstance(value, numbers.Real):
        return _check_scalar(entry, value)
    try:
        given = np.asarray(value)
        if given.dtype.kind not in "iuf" and not all(_is_number(one) for one in given.flat):
            raise TypeError
        array = given.astype(float)
    except (TypeError, ValueError, OverflowError):
        raise _out_of_range(entry, value) from None
    low = 0 if entry.kind is Kind.STALENESS else 1
    if entry.kind is Kind.FRACTION:
        bad = ~((array > 0) & (array <= 1))
    elif entry.kind is Kind.RATIO:
        bad = ~(np.isfinite(array) & (array >= 1))
    elif given.dtype.kind in "iu":
        bad = given < low
    else:
        bad = ~(np.isfinite(array) & (array >= low) & (np.floor(array) == array))
    if bad.any():
        raise _out_of_range(entry, array[bad].flat[0].item())
    return array


def _is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool)


def _check_scalar(entry: Notation, value: numbers.Real) -> int | float:
    if entry.kind in (Kind.FRACTION, Kind.RATIO):
        if (0 < value <= 1) if entry.kind is Kind.FRACTION else (1 <= value <= sys.float_info.max):
            return float(value)
        raise _out_of_range(entry, value)
    low = 0 if entry.kind is Kind.STALENESS else 1
    whole = value.denominator == 1 if isinstance(value, numbers.Rational) else float(value).is_integer()
    if not whole or value < low:
        raise _out_of_range(entry, value)
    return int(value)


def _out_of_range(entry: Notation, value: object) -> InputError:
    return InputError(f"{entry.name} is {_shown(value)}; {entry.meaning}: give {entry.range}")


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # Python prints no integer of more than some thousand digits
        return "a number of thousands of digits"
    return text if len(text) <= 40 else text[:37] + "..."


def _check_arrays(values: Mapping[str, object]) -> None:
    arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
    try:
        np.broadcast_shapes(*(array.shape for array in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise InputError(f"arrays that do not go together: {shapes}; give shapes that broadcast") from None
    for name, value in values.items() if arrays else ():
        if name not in arrays and value > sys.float_info.max:
            raise InputError(f"{name} exceeds the range of double precision, in which arrays are computed")


def _check_length(values: Mapping[str, object]) -> None:
    if {"m", "S", "T"} <= values.keys():
        total = values["S"] + values["T"]
        given, total = _first(values["m"] != total, values["m"], total)
        if given is not None:
            raise InputError(f"m is {given} but S + T is {total}; give m = S + T, or leave m out")


def _check_devices(values: Mapping[str, object]) -> None:
    names = [name for name in DEGREES if name in values]
    if "N" in values and names:
        product = _product(names, values)
        given, product = _first(values["N"] != product, values["N"], product)
        if given is not None:
            raise InputError(
                f"N is {given} but {' x '.join(names)} is {product}; give N equal to the product, or leave it out"
            )


def _product(names: Iterable[str], values: Mapping[str, object]) -> object:
    with np.errstate(over="ignore"):  # infinity exceeds every limit too
        return math.prod(values[name] for name in names)


def _check_limits(values: Mapping[str, object]) -> None:
    for part, whole, why in LIMITS:
        for name, size in _wholes(whole, values) if part in values else ():
            pieces, most = _first(values[part] > size, values[part], size)
            if pieces is not None:
                raise InputError(f"{part} is {pieces} but {name} is {most}: {why}; give {part} of at most {name}")


def _wholes(name: str, values: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """The symbol and those that roles have in its place, where they have a value."""
    if available(name, values):
        yield name, _lookup(name, values)
    yield from ((one, value) for one, value in values.items() if notation(one).default == name)


def _first(wrong: object, left: object, right: object) -> tuple[str | None, str | None]:
    """Both values, to print, at the first place that is wrong, or two times None."""
    wrong, left, right = np.broadcast_arrays(wrong, left, right)
    if not wrong.any():
        return None, None
    place = np.unravel_index(np.argmax(wrong), wrong.shape)
    return tuple(_shown(_plain(side[place])) for side in (left, right))


def _plain(value: object) -> object:
    """A number of an array, for a message."""
    value = value.item() if isinstance(value, np.generic) else value
    return int(value) if isinstance(value, float) and value.is_integer() else value


def available(name: str, values: Mapping[str, object]) -> bool:
    """Whether a value for the symbol was given or follows from a default."""
    entry = notation(name)
    if name == "m" and {"S", "T"} <= values.keys():
        return True
    return name in values or entry.default in values


def _lookup(name: str, values: Mapping[str, object]) -> object:
    if name in values:
        return values[name]
    if name == "m" and {"S", "T"} <= values.keys():
        return values["S"] + values["T"]
    entry = notation(name)
    if entry.default is not None and entry.default in values:
        return values[entry.default]
    also = f" (or {entry.default} for all roles)" if entry.default else ""
    also = " (or S and T, whose sum it is)" if name == "m" else also
    raise InputError(f"missing value for {name}{also}: {entry.meaning}, {entry.range}")
