"""GitHub workflows: pinned actions, least privileges, nothing that runs foreign code with rights."""

import copy
import re

import pytest
import yaml

import guards

FOLDER = guards.ROOT / ".github" / "workflows"
NAMES = sorted(path.name for path in FOLDER.glob("*.y*ml"))
PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}")
WRITES = {("publish.yml", "deploy", "pages"), ("publish.yml", "deploy", "id-token")}  # all that is needed


def workflow_problems(name, flow):
    """What is wrong with a parsed workflow."""
    triggers = flow[True]  # YAML 1.1 reads the key `on` as true
    triggers = {triggers} if isinstance(triggers, str) else set(triggers)
    found = [f"trigger {trigger}" for trigger in triggers & {"pull_request_target", "workflow_run", "issue_comment"}]
    if flow.get("permissions") != {"contents": "read"}:
        found.append("permissions are not contents: read at the top")
    if "concurrency" not in flow:
        found.append("no concurrency")
    for job_name, job in flow["jobs"].items():
        for scope, level in job.get("permissions", {}).items():
            if level != "read" and (name, job_name, scope) not in WRITES:
                found.append(f"{job_name}: may {level} {scope}")
        if "uses" in job:
            found += [] if job["uses"].startswith("./") else [f"{job_name}: uses {job['uses']}"]
            continue
        if job.get("timeout-minutes", 999) > 90:
            found.append(f"{job_name}: no time limit")
        for step in job["steps"]:
            found += [f"{job_name}: {line}" for line in step_problems(step)]
    return found


def step_problems(step):
    used = step.get("uses", "")
    if used and not PINNED.fullmatch(used):
        yield f"{used} is not pinned by commit"
    if used.startswith("actions/checkout") and step.get("with", {}).get("persist-credentials") is not False:
        yield "checkout keeps credentials"
    if "${{ github.event" in step.get("run", "") or "${{ github.head_ref" in step.get("run", ""):
        yield "a command contains text that a stranger can choose"


@pytest.fixture(scope="module")
def flows():
    return {name: yaml.safe_load((FOLDER / name).read_text(encoding="utf-8")) for name in NAMES}


def test_the_workflows_are_there():
    assert NAMES == ["catalogue.yml", "fresh.yml", "publish.yml", "test.yml"]


@pytest.mark.parametrize("name", NAMES)
def test_workflows_have_no_problems(flows, name):
    assert workflow_problems(name, flows[name]) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_pinned_action_names_its_version_and_one_commit(name):
    text = (FOLDER / name).read_text(encoding="utf-8")
    for line in re.findall(r"uses: actions/.*", text):
        assert re.search(r"@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line), line


def test_an_action_has_one_version_everywhere():
    found = {}
    for name in NAMES:
        for action, version in re.findall(r"uses: ([\w./-]+)@(.*)", (FOLDER / name).read_text(encoding="utf-8")):
            found.setdefault(action, set()).add(version)
    assert {action: versions for action, versions in found.items() if len(versions) > 1} == {}


def test_publishing_waits_for_the_tests(flows):
    jobs = flows["publish.yml"]["jobs"]
    assert jobs["test"]["uses"] == "./.github/workflows/test.yml"
    assert jobs["build"]["needs"] == "test"
    assert jobs["deploy"]["needs"] == "build"
    assert flows["publish.yml"][True] == {"push": {"branches": ["main"]}}


def test_a_pull_request_that_runs_no_notebook_changes_nothing_that_notebooks_read(flows):
    ignored = flows["test.yml"][True]["pull_request"]["paths-ignore"]
    kinds = {path.split("/")[1] for path in ignored if path != "data/references.bib"}
    assert set(ignored) == {f"data/{kind}/**" for kind in kinds} | {"data/references.bib"}
    assert kinds == {"algorithms", "features", "frameworks", "models"}
    sources = [path for path in (guards.ROOT / "rlmkb").rglob("*.py") if "catalogue" not in str(path)]
    sources += (guards.ROOT / "book").rglob("*.ipynb")
    read = {kind for path in sources for kind in re.findall(r'\bentry\(\\?"(\w+)', path.read_text(encoding="utf-8"))}
    assert read == {"architectures", "hardware"}
    steps = [step.get("run", "") for step in flows["catalogue.yml"]["jobs"]["check"]["steps"]]
    assert steps[-3:] == [".venv/bin/rlmkb catalogue check", "make unit", "make book"]


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda flow: flow.update({True: {"pull_request_target": None}}), "trigger"),
        (lambda flow: flow.pop("permissions"), "permissions"),
        (lambda flow: flow["jobs"]["test"].update(permissions={"contents": "write"}), "may write contents"),
        (lambda flow: flow["jobs"]["test"]["steps"][0].update(uses="actions/checkout@v7"), "not pinned"),
        (lambda flow: flow["jobs"]["test"]["steps"][0].pop("with"), "keeps credentials"),
        (lambda flow: flow["jobs"]["test"]["steps"][2].update(run="echo ${{ github.event.issue.title }}"), "stranger"),
        (lambda flow: flow["jobs"]["test"].pop("timeout-minutes"), "no time limit"),
        (lambda flow: flow.pop("concurrency"), "no concurrency"),
    ],
)
def test_a_careless_workflow_is_noticed(flows, spoil, told):
    flow = copy.deepcopy(flows["test.yml"])
    spoil(flow)
    assert any(told in line for line in workflow_problems("test.yml", flow))


def test_ci_script_is_executable_and_calls_the_documented_command():
    import os
    import subprocess

    script = guards.ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert subprocess.run(["bash", "-n", script], check=False).returncode == 0
    text = script.read_text()
    assert "set -euo pipefail" in text
    assert text.rstrip().endswith("make test")
    assert "make test" in (guards.ROOT / "README.md").read_text()
