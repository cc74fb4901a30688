"""The palette is legible and colour-blind safe in both modes, and the files made from it are current.

Contrast: WCAG 2.2. Colour blindness: matrices of Machado, Oliveira and Fernandes (2009) at full severity, applied to
linear RGB. Difference: CIEDE2000, where 2 can just be seen and 10 at a glance.
"""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

from rlmkb.errors import InputError
from rlmkb.views import design, logo

STATIC = Path(__file__).parents[2] / "book" / "_static"
SHEETS = sorted(set(STATIC.glob("*.css")) - {STATIC / "design.css"})  # that file has the colours
SIGHT = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
TO_XYZ = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]])  # fmt: skip # noqa: E501
WHITE = np.array([0.95047, 1.0, 1.08883])
NAMES = [name for group in design.GROUPS.values() for name in group]
GROUNDS = ("page", "surface")


def linear(colour: str) -> np.ndarray:
    channels = np.array(list(bytes.fromhex(colour[1:]))) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    dark, light = sorted(float(TO_XYZ[1] @ linear(colour)) for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


def lab(colour: str, sight: str = "normal") -> np.ndarray:
    seen = np.clip(SIGHT[sight] @ linear(colour), 0, 1)
    ratio = TO_XYZ @ seen / WHITE
    f = np.where(ratio > 216 / 24389, np.cbrt(ratio), (24389 / 27 * ratio + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def ciede2000(one: np.ndarray, other: np.ndarray) -> float:
    lightness, chroma = (one[0] + other[0]) / 2, (np.hypot(*one[1:]) + np.hypot(*other[1:])) / 2
    stretch = 1.5 - 0.5 * np.sqrt(chroma**7 / (chroma**7 + 25**7))
    a, b = np.array([one[1], other[1]]) * stretch, np.array([one[2], other[2]])
    c, hue = np.hypot(a, b), np.degrees(np.arctan2(b, a)) % 360
    turn = (hue[1] - hue[0] + 180) % 360 - 180
    middle = (hue[0] + turn / 2) % 360
    mean = c.mean()
    t = (
        1 - 0.17 * np.cos(np.radians(middle - 30)) + 0.24 * np.cos(np.radians(2 * middle))
        + 0.32 * np.cos(np.radians(3 * middle + 6)) - 0.20 * np.cos(np.radians(4 * middle - 63))
    )  # fmt: skip
    away = (lightness - 50) ** 2
    by_l = (other[0] - one[0]) / (1 + 0.015 * away / np.sqrt(20 + away))
    by_c = (c[1] - c[0]) / (1 + 0.045 * mean)
    by_h = 2 * np.sqrt(c.prod()) * np.sin(np.radians(turn) / 2) / (1 + 0.015 * mean * t)
    rotation = -2 * np.sqrt(mean**7 / (mean**7 + 25**7)) * np.sin(
        np.radians(60 * np.exp(-(((middle - 275) / 25) ** 2)))
    )
    return float(np.sqrt(by_l**2 + by_c**2 + by_h**2 + rotation * by_c * by_h))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [  # from the test data of Sharma, Wu and Dalal (2005)
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, 2.5, 0), (58, 24, 15), 19.4535),
        ((22.7233, 20.0904, -46.694), (23.0331, 14.973, -42.5619), 2.0373),
    ],
)
def test_the_measure_of_difference_is_ciede2000(one, other, expected):
    assert ciede2000(np.array(one), np.array(other)) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("mode", design.MODES)
@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("group", design.GROUPS)
def test_members_of_a_group_are_told_apart(group, sight, mode):
    colours = design.tokens(mode)
    for one, other in itertools.combinations(design.GROUPS[group], 2):
        difference = ciede2000(lab(colours[one], sight), lab(colours[other], sight))
        assert difference >= 15, f"{one} and {other} differ by {difference:.1f}"


@pytest.mark.parametrize("mode", design.MODES)
def test_members_of_different_groups_are_told_apart(mode):
    colours = design.tokens(mode)
    for one, other in itertools.combinations(NAMES, 2):
        difference = ciede2000(lab(colours[one]), lab(colours[other]))
        assert difference >= 10, f"{one} and {other} differ by {difference:.1f}"


@pytest.mark.parametrize("mode", design.MODES)
def test_text_is_legible(mode):
    colours = design.tokens(mode)
    pairs = [(text, ground) for text in ("ink", "muted", "accent") for ground in (*GROUNDS, "accent-soft")]
    for name in NAMES:
        pairs += [(f"{name}-ink", ground) for ground in (*GROUNDS, f"{name}-soft")]
        pairs.append(("ink", f"{name}-soft"))
    poor = {pair: contrast(colours[pair[0]], colours[pair[1]]) for pair in pairs}
    assert {pair: ratio for pair, ratio in poor.items() if ratio < 4.5} == {}


@pytest.mark.parametrize("mode", design.MODES)
def test_strokes_stand_out(mode):
    colours = design.tokens(mode)
    poor = {
        (name, ground): contrast(colours[name], colours[ground])
        for name in [*NAMES, "line", "accent"]
        for ground in GROUNDS
    }
    assert {pair: ratio for pair, ratio in poor.items() if ratio < 3} == {}


def test_a_light_colour_names_one_token():
    assert len(design.names_by_light_colour()) == len(design.tokens("light"))


@pytest.mark.parametrize("name", ["design.css", "logo.svg", "logo-dark.svg", "favicon.svg"])
def test_generated_files_are_current(name, tmp_path):
    design.write(tmp_path)
    stored = (STATIC / name).read_text(encoding="utf-8")
    assert stored == (tmp_path / name).read_text(encoding="utf-8"), "run python -m rlmkb.views.design"


@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.name)
def test_stylesheets_take_every_colour_from_the_tokens(path):
    sheet = path.read_text(encoding="utf-8")
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b(?![\w-])", re.sub(r"#[a-z][\w-]*\s*[.{a-z]", "", sheet)) == []
    known = set(design.tokens("light")) | {"own", "own-soft", "own-ink", "sans", "mono"}
    known |= {"measure", "radius", "box", "share"}
    assert set(re.findall(r"var\(--rl-([a-z-]+)", sheet)) <= known


def test_every_token_is_in_the_stylesheet_in_both_modes():
    for name in design.tokens("dark"):
        assert len(re.findall(rf"^  --rl-{name}: #[0-9a-f]{{6}};$", design.css(), re.MULTILINE)) == 2


@pytest.mark.parametrize("mode", design.MODES)
def test_the_mark_uses_the_tokens(mode):
    assert set(re.findall(r"#[0-9a-f]{6}", logo.svg(mode))) <= set(design.tokens(mode).values())


def test_unknown_names_are_refused():
    with pytest.raises(InputError, match="policy"):
        design.variable("polcy")
    with pytest.raises(InputError, match="light, dark"):
        design.tokens("sepia")
