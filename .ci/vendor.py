"""Copy the browser libraries that the book ships into `book/_static/vendor`, or check the copy.

    python .ci/vendor.py            install the packages locked in .ci/vendor, copy, write MANIFEST.json (needs npm)
    python .ci/vendor.py --check    recompute every hash of the manifest (needs nothing)

The site must not ask a third party for anything, so the few files it needs are committed. npm checks each package
against the sha512 of the lock file; the manifest then holds the sha256 of every copied file.
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
MANIFEST = "MANIFEST.json"

# What MathJax loads by itself when a formula uses it; the two large ones (chemistry, proof trees) are left out.
TEX_EXTENSIONS = ["action", "amscd", "bbox", "boldsymbol", "braket", "cancel", "color", "enclose", "extpfeil", "html",
                  "unicode", "verb"]  # fmt: skip

# (package, files inside it, folder below TARGET)
COPIES = [
    ("mathjax", ["es5/tex-chtml.js", "LICENSE"], "mathjax"),
    ("mathjax", [f"es5/input/tex/extensions/{name}.js" for name in TEX_EXTENSIONS], "mathjax/input/tex/extensions"),
    ("mathjax", ["es5/output/chtml/fonts/woff-v2/*.woff"], "mathjax/output/chtml/fonts/woff-v2"),
    ("vega", ["build/vega.min.js", "LICENSE"], "vega"),
    ("vega-lite", ["build/vega-lite.min.js"], "vega"),
    ("vega-embed", ["build/vega-embed.min.js"], "vega"),
]

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


def vendor(target: Path = TARGET) -> None:
    """Install the locked packages in a temporary folder and copy what the book needs."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(LOCK / name, folder)
        subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder, check=True)
        modules = Path(folder, "node_modules")
        origin = _copy(modules, target)
        (target / "vega" / "THIRD-PARTY-LICENSES.txt").write_text(_notices(modules), encoding="utf-8")
        origin["vega/THIRD-PARTY-LICENSES.txt"] = "vega"
    locked = json.loads((LOCK / "package-lock.json").read_text())["packages"]
    packages = {
        name: {key: locked[f"node_modules/{name}"][key] for key in ("version", "license", "integrity")}
        for name in sorted({package for package, _, _ in COPIES})
    }
    files = {name: {"package": origin[name], "sha256": _sha256(target / name)} for name in sorted(origin)}
    manifest = json.dumps({"packages": packages, "files": files}, indent=2)
    (target / MANIFEST).write_text(manifest + "\n", encoding="utf-8")


def _copy(modules: Path, target: Path) -> dict[str, str]:
    """Copy the files of COPIES; returns the package each came from."""
    shutil.rmtree(target, ignore_errors=True)
    origin = {}
    for package, patterns, folder in COPIES:
        (target / folder).mkdir(parents=True, exist_ok=True)
        for pattern in patterns:
            sources = sorted((modules / package).glob(pattern))
            if not sources:
                raise SystemExit(f"vendor: {package} has no file {pattern}; mend COPIES in .ci/vendor.py")
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
    parser.add_argument("--check", action="store_true", help="only compare the folder with its manifest")
    if not parser.parse_args().check:
        vendor()
    found = problems()
    for line in found:
        print(f"vendor: {line}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
