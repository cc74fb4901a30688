"""Which function implements which line: read from the comments `# line 27` of the programs, without running them."""

import ast
import io
import re
import tokenize
from importlib.util import find_spec
from pathlib import Path

_NUMBERS = re.compile(r"#.*?\blines? (?P<numbers>\d+(?:(?:-|, | and )\d+)*)")
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")


def numbers(comment: str) -> tuple[int, ...]:
    """The line numbers that a comment names.

    Examples
    --------
    >>> numbers("# lines 57 and 64-65: per token")
    (57, 64, 65)
    """
    found = _NUMBERS.match(comment)
    if not found:
        return ()
    ranges = _RANGE.findall(found["numbers"])
    return tuple(number for first, last in ranges for number in range(int(first), int(last or first) + 1))


def implemented(id: str) -> dict[int, str]:
    """From the number of a line to the function that carries it out.

    Parameters
    ----------
    id : str
        ``rollout``, ``ppo``, ``grpo`` or ``dpo``: the module of that name.

    Examples
    --------
    >>> implemented("ppo")[31]
    'advantages_and_returns'
    """
    source = Path(find_spec(f"rlmkb.algorithms.{id}").origin).read_text(encoding="utf-8")
    functions = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    found: dict[int, str] = {}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        row = token.start[0]
        here = next((node.name for node in functions if node.lineno <= row <= node.end_lineno), None)
        if here:
            found |= dict.fromkeys(numbers(token.string), here)
    return found
