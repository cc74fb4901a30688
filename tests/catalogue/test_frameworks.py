"""The frameworks: 13 cells each, grounded in evidence that stays put, and every rule seen to fail."""

import re
import time
from collections import Counter

import pytest
import yaml
from pybtex.database import parse_file

from rlmkb.catalogue import entries, read_folder
from rlmkb.catalogue.features import FEATURES
from rlmkb.catalogue.frameworks import SCHEMA, STATES
from rlmkb.catalogue.loading import read_entry
from rlmkb.data import data_path
from rlmkb.errors import InputError

ENTRIES = entries("frameworks")
CELLS = {(id, feature): cell for id, entry in ENTRIES.items() for feature, cell in entry.features.items()}
EVIDENCE = [(where, found) for where, cell in CELLS.items() for found in cell.evidence]
FILES = {path.stem: path.read_text(encoding="utf-8") for path in data_path("frameworks").glob("*.yml")}

TABLE_XI = {
    *("trl", "colossalchat", "deepspeed-chat", "openrlhf", "verl", "nemo-rl", "real", "rlhfuse", "flexrlhf", "areal"),
    *("mindspeed-rl", "slime", "roll", "streamrl", "asyncflow", "laminar", "staleflow"),
}
ONLY_TEXT = {"skyrl", "pipe-rlhf", "async-rlhf", "oppo"}
NEWER = {"miles", "oat", "open-instruct", "prime-rl", "rlinf", "rllm", "torchforge", "verifiers"}
SECTION_VI_B = {
    "library": {"trl", "deepspeed-chat", "colossalchat"},
    "orchestrator": {"openrlhf", "verl", "skyrl", "nemo-rl", "slime", "roll", "real"},
    "scheduling": {
        *("rlhfuse", "pipe-rlhf", "streamrl", "areal", "asyncflow", "laminar", "staleflow", "mindspeed-rl"),
    },
}


def test_the_frameworks_of_the_paper_are_there_and_marked():
    assert len(TABLE_XI) == 17
    assert set(ENTRIES) >= TABLE_XI | ONLY_TEXT | NEWER
    assert {id for id, entry in ENTRIES.items() if entry.in_paper == "table_xi"} == TABLE_XI
    assert {id for id, entry in ENTRIES.items() if entry.in_paper == "text"} >= ONLY_TEXT
    for centre, ids in SECTION_VI_B.items():
        assert {ENTRIES[id].centre for id in ids} == {centre}


@pytest.mark.parametrize("id", ENTRIES)
def test_a_framework_states_thirteen_of_thirteen(id):
    entry = ENTRIES[id]
    assert tuple(entry.states) == FEATURES
    assert set(entry.states.values()) <= set(STATES)
    assert list(yaml.safe_load(FILES[id])["features"]) == list(FEATURES), "the file has them in this order too"


def test_a_state_has_evidence_and_partial_has_a_note():
    for where, cell in CELLS.items():
        grounded = bool(cell.evidence) and cell.verified is not None
        assert grounded or cell.state == "unknown", where
        assert cell.note or cell.state not in ("partial", "not_applicable"), where


def test_evidence_cannot_change_under_the_reader():
    assert len(EVIDENCE) > 400
    for where, found in EVIDENCE:
        if "github.com" in found.url:
            assert re.search(r"/(blob|tree)/[0-9a-f]{40}(/|$)", found.url), where
            assert re.search(r"#L\d+(-L\d+)?$", found.url) or found.section or found.searched, where
        else:
            assert found.section, where
        if found.searched:
            assert re.compile(found.searched)


def test_few_cells_of_public_systems_are_unknown():
    ours = [ENTRIES[id] for id in TABLE_XI | ONLY_TEXT | NEWER]
    public = [state for entry in ours if entry.repository for state in entry.states.values()]
    assert Counter(public)["unknown"] / len(public) < 0.1


def test_what_an_entry_names_exists():
    keys = set(parse_file(str(data_path("references.bib"))).entries)
    for id, entry in ENTRIES.items():
        assert set(entry.references) <= keys, id
        assert entry.references or entry.in_paper == "no", id
        assert entry.upstream is None or entry.upstream in ENTRIES, id


def test_closed_systems_rest_on_papers():
    closed = {id for id, entry in ENTRIES.items() if entry.repository is None}
    assert closed == {id for id, entry in ENTRIES.items() if entry.status == "paper_only"} | {
        id for id in closed if ENTRIES[id].status == "unknown"
    }
    assert not [id for id in closed if ENTRIES[id].releases]


def test_an_entry_prints_in_the_promised_shape():
    found = ENTRIES["verl"].model_dump(mode="json")
    assert found["id"] == "verl"
    assert list(found["features"]) == list(FEATURES)
    cell = found["features"]["DP"]
    assert cell["state"] == "yes"
    assert cell["note"] is None
    assert {"url", "says"} <= set(cell["evidence"][0])
    assert set(cell["verified"]) == {"on", "version"}


def test_all_frameworks_are_read_in_six_tenths_of_a_second():
    start = time.perf_counter()
    read_folder(data_path("frameworks"), SCHEMA)
    assert time.perf_counter() - start < 0.6


FILE = "https://github.com/deepspeedai/DeepSpeedExamples/blob/45b4b7156c8794a3452a5a7d03dbd8d797068569"
DP = '  DP:\n    state: "yes"\n    evidence:\n'
BACKWARD = "    note: Only generation is sliced, inside the hybrid engine; training gathers whole layers.\n"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("  CP:\n", "  CPP:\n"), "features.CP is missing"),
        (("  CP:\n", "  XP:\n    state: unknown\n  CP:\n"), "features.XP is not a known key; allowed: "),
        (('state: "yes"', "state: full"), 'features.DP.state is "full"; allowed: yes, partial'),
        ((DP, '  DP:\n    state: "yes"\n    sources:\n'), "features.DP.sources is not a known key"),
        ((BACKWARD, ""), "a note for partial"),
        ((DP, DP.replace("    evidence", '    since: "9.9"\n    evidence')), "features.DP.since among the releases"),
        (('    state: "no"\n', '    state: "no"\n    since: "1.0"\n'), "since only for yes and partial, not for no"),
        ((f"{FILE}/", f"{FILE[:-33]}/"), "a permalink, https://github.com/OWNER/NAME/blob/COMMIT/PATH#L1-L9"),
        ((FILE, f"{FILE[:-40]}master"), "the commit with all 40 digits"),
        (("rlhf_engine.py#L82-L87", "rlhf_engine.py"), "lines at the end of the permalink (#L1-L9), or a section"),
        (("/tree/45b4b7156c8794a3452a5a7d03dbd8d797068569", "/tree/master"), "a search in https://github.com/"),
        ((f"{FILE}/applications/DeepSpeed-Chat/dschat/rlhf/rlhf_engine.py#L82-L87", "https://x.org"), "a section,"),
        ((f"{FILE}/applications/DeepSpeed-Chat/dschat/rlhf/rlhf_engine.py#L82-L87", "javascript:alert(1)"), "url is"),
        ((f"{FILE}/applications/DeepSpeed-Chat/dschat/rlhf/rlhf_engine.py#L82-L87", "https://arxiv.org/pdf/2308.01320"),
         "the paper's page, https://arxiv.org/abs/NUMBER"),
        (('{"on": "2026-11-29"', '{"on": "2026-02-30"'), "a day of the calendar"),
        (('{"on": "2026-11-29"', '{"on": "29.11.2026"'), 'verified.on is "29.11.2026"'),
        (('version: "45b4b71"', "version: 1.10"), "verified.version is 1.1"),
        (("centre: library", "centre: middle"), 'centre is "middle"'),
        (("#L82-L87", "#L87-L82"), "lines that run forwards"),
        (("        searched: ", "        searched: '(' # "), "searched with a regular expression; this one is wrong"),
        (('{"on": "2026-11-29"', '{"on": "2099-01-01"'), "a day that has come"),
        (("https://github.com/deepspeedai/DeepSpeedExamples\n", "https://127.0.0.1/x\n"), "the name of a host"),
        ((f"{FILE}/applications/DeepSpeed-Chat/dschat/rlhf/rlhf_engine.py#L82-L87",
          "https://www.github.com/a/b/blob/main/c#L1"), "a permalink, https://github.com/OWNER"),
        ((f"url: {FILE}/applications/DeepSpeed-Chat/dschat/rlhf/rlhf_engine.py#L82-L87",
          "section: x\n        url: https://huggingface.co/a/b/blob/main/c"), "a link to a commit"),
        ((f"url: {FILE}/applications/DeepSpeed-Chat/dschat/rlhf/rlhf_engine.py#L82-L87",
          "section: x\n        url: https://gitlab.example.org/a/b/-/tree/v1/c"), "a link to a commit"),
        (("algorithms: [PPO, DPO]", "algorithms: [PPO, DPO, PPO]"), "each item once, and not 'PPO' again"),
        (("license: Apache-2.0", "license: NotALicence"), "an SPDX identifier"),
        (("remark: ", f"remark: {'a' * 2001} # "), "at most 2,000 characters"),
        (("references: [yao2023deepspeed]", "references: []"), "references for a framework that the paper cites"),
        (("status: dormant", "status: paper_only"), "paper_only where there is no repository"),
        (("repository: https://github.com/deepspeedai/DeepSpeedExamples", "repository: null\nno_repository: Lost."),
         "no releases, and status paper_only"),
        (("id: deepspeed-chat", "id: deepspeed"), "table_xi for the 17 frameworks"),
        (("in_paper: table_xi", "in_paper: text"), "remark for a framework of table XI"),
        (("repository: https://github.com/deepspeedai/DeepSpeedExamples", "repository: null"), "no_repository"),
        (("license:", "no_repository: It is lost.\nlicense:"), "and not both"),
        (("status: dormant", "status: dormant\nstars: 9000"), "stars is not a known key"),
        (("status: dormant", "status: dormant\nupstream: deepspeed-chat"), "upstream another framework"),
        (("[yao2023deepspeed]", '["Yao 2023"]'), "references.0 is"),
        (("algorithms: [PPO, DPO]", "algorithms: []"), "algorithms"),
    ],
)  # fmt: skip
def test_a_broken_framework_is_refused(change, words, tmp_path):
    text = FILES["deepspeed-chat"]
    assert change[0] in text
    path = tmp_path / "deepspeed-chat.yml"
    path.write_text(text.replace(*change, 1), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_entry(path, SCHEMA)
    assert words in str(caught.value)


def test_a_version_is_released_once(tmp_path):
    first = re.search(r"  - \{version: .*\n", FILES["trl"])[0]
    path = tmp_path / "trl.yml"
    for more, words in (
        (first, "allowed: each item once, and not "),
        (first.replace('notes: "https://', 'notes: "https://www.'), "allowed: each version once among the releases"),
    ):
        path.write_text(FILES["trl"].replace(first, first + more), encoding="utf-8")
        with pytest.raises(InputError, match=re.escape(words)):
            read_entry(path, SCHEMA)


def test_evidence_and_verification_can_be_left_out_for_unknown_only(tmp_path):
    head, _, _ = FILES["deepspeed-chat"].partition("features:\n")
    path = tmp_path / "deepspeed-chat.yml"

    def read(first):
        cells = [first, *(f"  {feature}: {{state: unknown}}" for feature in FEATURES[1:])]
        path.write_text(head + "features:\n" + "\n".join(cells) + "\n", encoding="utf-8")
        return read_entry(path, SCHEMA)

    assert set(read("  DP: {state: unknown}").states.values()) == {"unknown"}
    with pytest.raises(InputError, match="evidence for yes, or the state unknown"):
        read('  DP: {state: "yes"}')
    with pytest.raises(InputError, match="verified for no, the day and the version"):
        read(f'  DP: {{state: "no", evidence: [{{url: "{FILE}/a.py#L1", says: "None."}}]}}')
