"""The command `rlmkb catalogue`: parses, calls `rlmkb.catalogue`, returns the text to print and the exit code."""

import argparse
import json
import sys

KINDS = "models, frameworks, features, algorithms, architectures, hardware, measurements"


def add_catalogue(commands, parser_class: type[argparse.ArgumentParser]) -> None:
    """Add the command and its own commands."""
    catalogue = commands.add_parser("catalogue", help="models, frameworks, algorithms, hardware, with their evidence")
    inner = catalogue.add_subparsers(
        dest="catalogue_command", required=True, metavar="COMMAND", parser_class=parser_class
    )
    _add_list(inner)
    show = inner.add_parser("show", help="one entry")
    show.add_argument("id", metavar="ID", help="an id, or KIND/ID where several kinds have it")
    show.add_argument("--json", action="store_true", help="one JSON document")
    show.set_defaults(run=_run_show)
    _add_check(inner)
    new = inner.add_parser("new", help="write a new entry, full of unknown, that passes the check")
    new.add_argument("kind", metavar="KIND", help="models, frameworks, algorithms or hardware")
    new.add_argument("id", metavar="ID", help="lower case with hyphens")
    new.set_defaults(run=_run_new)
    export = inner.add_parser("export", help="everything as one JSON document")
    export.add_argument("--out", metavar="FILE", help="write it there; default: standard output")
    export.set_defaults(run=_run_export)


def _add_list(inner) -> None:
    listed = inner.add_parser("list", help="the entries of a kind")
    listed.add_argument("kind", metavar="KIND", help=KINDS)
    listed.add_argument(
        "--where",
        metavar="KEY=VALUE,...",
        help="only those that meet all conditions, such as async=yes,in_paper=no; A|B for one or the other",
    )
    form = listed.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="one JSON document")
    form.add_argument("--csv", action="store_true", help="one line an entry")
    listed.set_defaults(run=_run_list)


def _add_check(inner) -> None:
    check = inner.add_parser("check", help="every problem of some files, or of the whole catalogue")
    check.add_argument("paths", nargs="*", metavar="PATH", help="files data/KIND/ID.yml, or folders of them")
    check.add_argument("--fix", action="store_true", help="mend first what is mere form: quotes, order, spaces, links")
    check.add_argument("--json", action="store_true", help="one JSON document")
    check.add_argument("--rules", action="store_true", help="what each code means and how to mend it")
    check.set_defaults(run=_run_check)


def _run_list(options: argparse.Namespace) -> str:
    from rlmkb.catalogue import list_entries
    from rlmkb.catalogue.queries import as_csv, conditions
    from rlmkb.views.catalogue_text import listed_text

    found = list_entries(options.kind, None if options.where is None else conditions(options.where))
    if options.json:
        return _as_json({"kind": options.kind, "entries": found})
    return as_csv(found).rstrip("\r\n") if options.csv else listed_text(options.kind, found)


def _run_show(options: argparse.Namespace) -> str:
    from rlmkb.catalogue import show
    from rlmkb.catalogue.queries import kinds_of
    from rlmkb.views.catalogue_text import entry_text

    kind, _, name = options.id.rpartition("/")
    others = kinds_of(name, kind)[1:]
    if others:
        also = " or ".join(f"{other}/{name}" for other in others)
        print(f"rlmkb: {name} is there more than once; for the other say {also}", file=sys.stderr)
    found = show(options.id)
    return _as_json(found) if options.json else entry_text(found)


def _run_check(options: argparse.Namespace) -> str | tuple[str, int]:
    if options.rules:
        from rlmkb.catalogue.problems import rules_text

        return rules_text()
    from rlmkb.catalogue import check
    from rlmkb.catalogue_rules import RULES

    report = check(options.paths, fix=options.fix, rules=RULES)
    return _as_json(report.as_dict()) if options.json else str(report), 0 if report.passed else 1


def _run_new(options: argparse.Namespace) -> str:
    from rlmkb.catalogue import new
    from rlmkb.catalogue.templates import reachable

    path = reachable(new(options.kind, options.id))
    return f"{path} is there; fill it in, then run: rlmkb catalogue check {path}"


def _run_export(options: argparse.Namespace) -> str:
    from rlmkb.catalogue import export

    found = export(options.out)
    return _as_json(found) if options.out is None else f"{options.out} is written"


def _as_json(document: object) -> str:
    return json.dumps(document, ensure_ascii=False, allow_nan=False)
