"""Copy the browser libraries of the book into `book/_static/vendor` and of its tests into `tests/site/vendor`.

    python .ci/vendor.py            install the packages locked in .ci/vendor, copy, write MANIFEST.json (needs npm)
    python .ci/vendor.py --check    recompute every hash of the manifests (needs nothing)

The site must not ask a third party for anything, so the few files it needs are committed. npm checks each package
against the sha512 of the lock file; a manifest then holds the sha256 of every copied file.
"""

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / ".ci" / "vendor"
TARGET = ROOT / "book" / "_static" / "vendor"
TESTS = ROOT / "tests" / "site" / "vendor"
MANIFEST = "MANIFEST.json"

# What MathJax loads by itself when a formula uses it; the two large ones (chemistry, proof trees) are left out.
TEX_EXTENSIONS = ["action", "amscd", "bbox", "boldsymbol", "braket", "cancel", "color", "enclose", "extpfeil", "html",
                  "unicode", "verb"]  # fmt: skip

# (package, files inside it, folder below the target)
SHIPPED = [
    ("mathjax", ["es5/tex-chtml.js", "LICENSE"], "mathjax"),
    ("mathjax", [f"es5/input/tex/extensions/{name}.js" for name in TEX_EXTENSIONS], "mathjax/input/tex/extensions"),
    ("mathjax", ["es5/output/chtml/fonts/woff-v2/*.woff"], "mathjax/output/chtml/fonts/woff-v2"),
    ("vega", ["build/vega.min.js", "LICENSE"], "vega"),
    ("vega-lite", ["build/vega-lite.min.js"], "vega"),
    ("vega-embed", ["build/vega-embed.min.js"], "vega"),
]
FOR_TESTS = [("axe-core", ["axe.min.js", "LICENSE", "LICENSE-3RD-PARTY.txt"], "axe")]

# Packages compiled into the three Vega files; their notices are shipped in one text file.
BUNDLED_PREFIXES = ("d3-", "vega", "topojson-client", "delaunator", "robust-predicates", "internmap",
                    "fast-json-patch", "json-stringify-pretty-compact", "semver", "tslib")  # fmt: skip


def problems(target: Path = TARGET) -> list[str]:
    """Differences between the folder and its manifest, one line each; an empty list is a faithful copy."""
    manifest = target / MANIFEST
    if not manifest.is_file():
        return [f"{manifest} is missing: run `python .ci/vendor.py`"]
    recorded = {name: entry["sha256"] for name, entry in json.loads(manifest.read_text())["files"].items()}
    present = {path.relative_to(target).as_posix(): _sha256(path) for path in _files(target)}
    found = [f"{name} is in the manifest but not in the folder" for name in sorted(recorded.keys() - present.keys())]
    found += [f"{name} is in the folder but not in the manifest" for name in sorted(present.keys() - recorded.keys())]
    changed = [name for name in sorted(recorded.keys() & present.keys()) if recorded[name] != present[name]]
    return found + [f"{name} differs from the manifest" for name in changed]


def vendor() -> None:
    """Install the locked packages in a temporary folder and copy what the book and its tests need."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(LOCK / name, folder)
        subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder, check=True)
        modules = Path(folder, "node_modules")
        origin = _copy(SHIPPED, modules, TARGET)
        (TARGET / "vega" / "THIRD-PARTY-LICENSES.txt").write_text(_notices(modules), encoding="utf-8")
        _record(origin | {"vega/THIRD-PARTY-LICENSES.txt": "vega"}, TARGET)
        _record(_copy(FOR_TESTS, modules, TESTS), TESTS)


def _record(origin: dict[str, str], target: Path) -> None:
    """Write the manifest of a folder; `origin` gives the package of each file."""
    locked = json.loads((LOCK / "package-lock.json").read_text())["packages"]
    packages = {
        name: {key: locked[f"node_modules/{name}"][key] for key in ("version", "license", "integrity")}
        for name in sorted(set(origin.values()))
    }
    files = {name: {"package": origin[name], "sha256": _sha256(target / name)} for name in sorted(origin)}
    manifest = json.dumps({"packages": packages, "files": files}, indent=2)
    (target / MANIFEST).write_text(manifest + "\n", encoding="utf-8")


def _copy(copies: list[tuple], modules: Path, target: Path) -> dict[str, str]:
    """Copy files of packages; returns the package each came from."""
    shutil.rmtree(target, ignore_errors=True)
    origin = {}
    for package, patterns, folder in copies:
        (target / folder).mkdir(parents=True, exist_ok=True)
        for pattern in patterns:
            sources = sorted((modules / package).glob(pattern))
            if not sources:
                raise SystemExit(f"vendor: {package} has no file {pattern}; mend .ci/vendor.py")
            for source in sources:
                shutil.copyfile(source, target / folder / source.name)
                origin[f"{folder}/{source.name}"] = package
    return origin


def _notices(modules: Path) -> str:
    """The licence texts of everything that is compiled into the Vega files."""
    parts = ["Licences of the packages compiled into vega.min.js, vega-lite.min.js and vega-embed.min.js.\n"]
    for folder in sorted(modules.iterdir()):
        text = next(iter(sorted(folder.glob("LICENSE*"))), None)
        if folder.name.startswith(BUNDLED_PREFIXES) and text:
            about = json.loads((folder / "package.json").read_text(encoding="utf-8"))
            lines = [line.rstrip() for line in text.read_text(encoding="utf-8").strip().splitlines()]
            parts.append("\n".join([f"{'-' * 80}\n{about['name']} {about['version']}\n", *lines, ""]))
    return "\n".join(parts)


def _files(target: Path) -> list[Path]:
    return [path for path in sorted(target.rglob("*")) if path.is_file() and path.name != MANIFEST]


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only compare the folders with their manifests")
    if not parser.parse_args().check:
        vendor()
    found = problems(TARGET) + problems(TESTS)
    for line in found:
        print(f"vendor: {line}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
