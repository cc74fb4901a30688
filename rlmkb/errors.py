"""The one exception that means: the caller's input was wrong."""

import difflib
from collections.abc import Iterable


class InputError(ValueError):
    """A wrong call or wrong input, told in one line.

    The message names the argument, file or line, what was found, what is allowed and how to mend it.
    The command line prints it on standard error and exits with code 2.

    Examples
    --------
    >>> raise InputError("B is 0; sizes are integers of at least 1")
    Traceback (most recent call last):
    ...
    rlmkb.errors.InputError: B is 0; sizes are integers of at least 1
    """


def nearest(word: str, allowed: Iterable[str], count: int = 3) -> str:
    """The allowed words nearest to `word` first, then the rest, as one readable list.

    Examples
    --------
    >>> nearest("polcy", ["reward", "policy"])
    'policy, reward'
    """
    allowed = list(allowed)
    close = difflib.get_close_matches(word, allowed, n=count, cutoff=0.5)
    return ", ".join(close + [name for name in allowed if name not in close])
