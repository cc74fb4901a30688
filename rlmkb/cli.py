"""The command line: parses, calls `rlmkb.api`, prints. Exit codes: 0 fine, 1 a check found problems, 2 wrong input."""

import argparse
import json
import sys
from collections.abc import Sequence

from rlmkb import __version__
from rlmkb.cli_catalogue import add_catalogue
from rlmkb.errors import InputError


class _Parser(argparse.ArgumentParser):
    """argparse that tells a wrong call in one line, without the usage text."""

    def error(self, message: str):
        print(f"{self.prog}: {message}; see '{self.prog} --help'", file=sys.stderr)
        raise SystemExit(2)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Default: those of the process.

    Returns
    -------
    int
        The exit code.

    Examples
    --------
    >>> main(["table", "XIX"])
    2
    """
    options = _parser().parse_args(arguments)
    try:
        done = options.run(options)  # the text to print, and the exit code where it is not 0
    except InputError as problem:
        print(f"rlmkb: {problem}", file=sys.stderr)
        return 2
    text, code = done if isinstance(done, tuple) else (done, 0)
    try:
        print(text, flush=True)
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        sys.stdout = None
    except OSError as problem:
        print(f"rlmkb: standard output: {problem.strerror or problem}; free some space, or write elsewhere",
              file=sys.stderr)  # fmt: skip
        sys.stdout = None  # else it is flushed once more at the end
        return 2
    return code


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="rlmkb",
        description="What reinforcement-learning post-training of a reasoning language model costs.",
    )
    parser.add_argument("--version", action="version", version=f"rlmkb {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Parser)
    _add_table(commands)
    _add_cost(commands)
    _add_architecture(commands)
    add_catalogue(commands, _Parser)
    return parser


def _add_table(commands) -> None:
    table = commands.add_parser("table", help="a table of the paper: symbolic, or with values")
    table.add_argument("id", metavar="ID", help="Roman numeral: I to XI")
    table.add_argument(
        "--at", metavar="FILE|-", help="JSON object from symbol to number, as a file or on standard input"
    )
    table.add_argument("--algorithm", metavar="ppo|grpo|dpo", help="of table IX; default: ppo, as printed")
    form = table.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="one JSON document")
    form.add_argument("--latex", action="store_true", help="one LaTeX equation a line")
    table.set_defaults(run=_run_table)


def _add_cost(commands) -> None:
    cost = commands.add_parser("cost", help="work, depth and memory of one iteration in the paper's model")
    cost.add_argument("--algorithm", required=True, metavar="ppo|grpo|dpo")
    cost.add_argument("--policy", required=True, metavar="ARCH", help="architecture id, or path of a config.json")
    cost.add_argument("--critic", metavar="ARCH", help="default: the policy's shape")
    cost.add_argument("--reward", metavar="ARCH|verifier", help="default: the policy's shape")
    for flag, meaning in (
        ("-B", "prompts in a batch"),
        ("-K", "responses per prompt"),
        ("-S", "prompt length in tokens"),
        ("-T", "response length in tokens"),
    ):
        cost.add_argument(flag, type=_number, metavar="N", help=meaning)
    cost.add_argument("--pairs", type=_number, metavar="N", help="preference pairs (DPO); default: B")
    cost.add_argument("--tp", type=_number, metavar="N", help="tensor-parallel degree of hybrid, combined; default: 1")
    cost.add_argument(
        "--configuration", default="baseline", metavar="ROW", help="row of table IX, such as baseline or async"
    )
    cost.add_argument("--json", action="store_true", help="one JSON document")
    cost.set_defaults(run=_run_cost)


def _add_architecture(commands) -> None:
    shape = commands.add_parser("architecture", help="parameters, FLOPs and cache of a real model")
    shape.add_argument("reference", metavar="ARCH|config.json")
    shape.add_argument("--length", type=_number, default=2048, metavar="N", help="tokens, for FLOPs; default 2048")
    shape.add_argument("--json", action="store_true", help="one JSON document")
    shape.set_defaults(run=_run_architecture)


def _number(text: str) -> int | float | str:
    """A number where it is one; the range check, which knows the symbol's name, refuses the rest."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _run_table(options: argparse.Namespace) -> str:
    from rlmkb.api import read_point, table
    from rlmkb.views.terminal import table_latex, table_text

    point = None if options.at is None else read_point(options.at)
    found = table(options.id, at=point, algorithm=options.algorithm)
    if options.json:
        return _as_json(found.as_dict())
    return table_latex(found) if options.latex else table_text(found)


def _run_cost(options: argparse.Namespace) -> str:
    from rlmkb.api import cost
    from rlmkb.views.terminal import cost_text

    result = cost(
        algorithm=options.algorithm, policy=options.policy, critic=options.critic, reward=options.reward,
        B=options.B, K=options.K, S=options.S, T=options.T, pairs=options.pairs, tp=options.tp,
        configuration=options.configuration,
    )  # fmt: skip
    return _as_json(result.as_dict()) if options.json else cost_text(result)


def _run_architecture(options: argparse.Namespace) -> str:
    from rlmkb.architecture import describe
    from rlmkb.views.terminal import architecture_text

    described = describe(options.reference, length=options.length).as_dict()
    return _as_json(described) if options.json else architecture_text(described)


def _as_json(document: dict) -> str:
    try:
        return json.dumps(document, ensure_ascii=False, allow_nan=False)
    except ValueError:  # Python prints no integer of more than some thousand digits
        raise InputError("the result has thousands of digits; give smaller values") from None
