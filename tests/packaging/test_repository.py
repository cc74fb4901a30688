"""What is committed: no registry, no machine, one address, faithful copies, licences."""

import re
import subprocess
import tomllib

import pytest
import yaml

import guards
import vendor

ROOT = guards.ROOT
# In two halves, so that this file does not name them either.
REGISTRIES = ["pypi" + ".org", "python" + "hosted.org", "npm" + "js.", "deb.debian" + ".org", "ana" + "conda.org"]
MACHINE = re.compile(r"(?<![\w.\-/])/(?:work|root|home|Users)/\w")
ADDRESS = re.compile(r"github\.com/[\w.-]+/rlmkb\b")


def committed():
    """Path and text of every file that is or would be committed, except binary ones."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        path = ROOT / name
        if path.is_file() and path.suffix not in {".png", ".woff", ".webp", ".jpg"}:
            yield name, path.read_text(encoding="utf-8")


def findings(pattern, files):
    found = (f"{name}: {match[0]}" for name, text in files for match in re.finditer(pattern, text))
    return list(dict.fromkeys(found))


@pytest.fixture(scope="module")
def files():
    found = dict(committed())
    assert "pyproject.toml" in found
    return found


@pytest.fixture(scope="module")
def pyproject():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_no_file_names_a_registry(files):
    pattern = "|".join(map(re.escape, REGISTRIES))
    assert findings(pattern, files.items()) == []
    assert findings(pattern, [("x", "index-url = https://" + REGISTRIES[0])])


def test_no_file_names_a_folder_of_someones_machine(files):
    ours = {name: text for name, text in files.items() if not name.startswith(("book/_static/vendor/", ".ci/vendor/"))}
    assert findings(MACHINE, ours.items()) == []
    assert findings(MACHINE, [("x", 'path = "/ho' + 'me/someone/x"')])


def test_the_address_is_configured_once_and_copies_agree(files):
    address = yaml.safe_load(files["_config.yml"])["repository"]["url"]
    assert address.startswith("https://")
    copies = findings(ADDRESS, files.items())
    assert {copy.split(": ")[1] for copy in copies} == {address.removeprefix("https://")}
    # A citation file and a README are read outside the book, so they need the address written out.
    assert {copy.split(": ")[0] for copy in copies} <= {"_config.yml", "CITATION.cff", "README.md"}
    assert yaml.safe_load(files["CITATION.cff"])["repository-code"] == address


def test_the_authors_agree(files, pyproject):
    author = yaml.safe_load(files["_config.yml"])["author"]
    assert pyproject["project"]["authors"] == [{"name": author}]
    assert yaml.safe_load(files["CITATION.cff"])["authors"] == [{"name": author}]


def test_the_version_agrees(files, pyproject):
    import rlmkb

    assert pyproject["project"]["version"] == rlmkb.__version__
    assert yaml.safe_load(files["CITATION.cff"])["version"] == rlmkb.__version__


def test_licences_are_whole(files, pyproject):
    assert pyproject["project"]["license"] == "Apache-2.0"
    assert "TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION" in files["LICENSE"]
    assert "Attribution 4.0 International" in files["LICENSE-text"]
    assert len(files["LICENSE"]) > 11_000
    assert len(files["LICENSE-text"]) > 18_000


@pytest.mark.parametrize("folder", [vendor.TARGET, vendor.TESTS], ids=["book", "tests"])
def test_vendored_files_are_those_of_the_manifest(folder):
    assert vendor.problems(folder) == []


def test_a_changed_lost_or_added_vendored_file_is_noticed(tmp_path):
    import shutil

    copy = tmp_path / "vendor"
    shutil.copytree(vendor.TARGET, copy)
    (copy / "vega" / "vega.min.js").write_text("alert(1)")
    (copy / "vega" / "vega-lite.min.js").unlink()
    (copy / "extra.js").write_text("")
    assert len(vendor.problems(copy)) == 3
    assert len(vendor.problems(tmp_path)) == 1


@pytest.mark.parametrize(
    ("folder", "kind"), [(vendor.TARGET, "dependencies"), (vendor.TESTS, "devDependencies")], ids=["book", "tests"]
)
def test_vendored_versions_are_the_locked_ones_and_named_in_notice(files, folder, kind):
    import json

    manifest = json.loads((folder / vendor.MANIFEST).read_text())
    wanted = json.loads(files[".ci/vendor/package.json"])[kind]
    locked = json.loads(files[".ci/vendor/package-lock.json"])["packages"]
    assert {name: entry["version"] for name, entry in manifest["packages"].items()} == wanted
    for name, entry in manifest["packages"].items():
        assert entry["integrity"] == locked[f"node_modules/{name}"]["integrity"]
        assert entry["integrity"].startswith("sha512-")
        assert re.search(rf"^{name}\s+{entry['license']}", files["NOTICE"], re.MULTILINE)
    folders = {name.split("/")[0] for name in manifest["files"]}
    assert all(f"{folder}/LICENSE" in manifest["files"] for folder in folders)


def test_the_newest_change_is_of_this_version(files):
    import rlmkb

    assert re.findall(r"^## (\d[\w.]*)", files["CHANGELOG.md"], re.MULTILINE)[0] == rlmkb.__version__
