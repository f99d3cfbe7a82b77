"""Every number that we write is as short as it can be and still reads back equal."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

import elbowroom as er
from elbowroom import formats
from elbowroom._text import nine_digits, shortest
from elbowroom.formats import ExportOptions

NUMBER = re.compile(r"-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")


def digits(word: str) -> str:
    """Significant digits of a number's text."""
    return re.sub(r"[eE].*|[-+.]", "", word).strip("0")


def is_short(word: str) -> bool:
    """Whether no text of fewer digits reads back as the same number: Python's own text is the shortest."""
    return len(digits(word)) <= len(digits(repr(float(word))))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_shortest_reads_back_equal(value):
    text = shortest(value)
    assert float(text) == value
    assert is_short(text)
    assert len(text) <= len(repr(value))
    assert not text.startswith("-0") or value != 0


@given(st.lists(st.floats(-10, 10), min_size=1, max_size=5))
def test_several_are_joined_by_spaces(values):
    assert [float(word) for word in shortest(values).split(" ")] == values
    assert shortest(np.array(values)) == shortest(values)


@given(st.floats(-1e6, 1e6))
def test_nine_digits_are_near(value):
    rounded = nine_digits(value)
    assert len(digits(repr(rounded))) <= 9
    assert abs(rounded - value) <= 0.5000001e-8 * abs(value)
    assert nine_digits(rounded) == rounded
    assert nine_digits(value, "ROUND_CEILING") >= value >= nine_digits(value, "ROUND_FLOOR")


@pytest.fixture(scope="module")
def folder(load, tmp_path_factory):
    """Every format, written for an arm whose spheres have awkward numbers."""
    robot = load("teaarm")
    rng = np.random.default_rng(2)
    balls = {link: (rng.normal(size=(3, 3)), rng.uniform(0.01, 0.1, 3)) for link in robot.mesh_links}
    spheres = er.SphereModel.from_links(robot.link_names, balls, self_padding={"torso_link": 0.1 + 0.2})
    pairs = er.compute_pairs(robot, spheres, er.PairOptions(samples=30, proof_boxes=4))
    made = tmp_path_factory.mktemp("short")
    for name in ("a.json", "a.yml", "a.xrdf", "a.srdf", "a.urdf", "a.xml"):
        formats.write(made / name, robot=robot, spheres=spheres, pairs=pairs)
    formats.write(
        made / "b.yml", robot=robot, spheres=spheres, pairs=pairs, options=ExportOptions(curobo_version=1)
    )
    pairs.write(made / "pairs.json")
    return made


def words_of(path) -> list[str]:
    """Texts of all numbers in a file; in a URDF those of ours, between the numbers of the description."""
    if path.suffix == ".json":
        found: list[str] = []
        json.loads(path.read_text(), parse_float=lambda word: found.append(word) or 0.0)
        return found
    if path.suffix in (".yml", ".xrdf"):
        text = "\n".join(line for line in path.read_text().splitlines() if not line.startswith("#"))
        return [word for word in re.split(r"[\s,\[\]:]+", text) if NUMBER.fullmatch(word)]
    root = etree.parse(str(path)).getroot()
    if path.suffix == ".urdf":
        elements = [part for shape in root.iter("collision") for part in shape.iter() if part.tag != "mesh"]
    else:
        elements = [element for element in root.iter() if isinstance(element.tag, str)]
    values = [value for element in elements for key, value in element.attrib.items() if key != "evidence"]
    return [word for value in values for word in value.split() if NUMBER.fullmatch(word)]


@pytest.mark.parametrize(
    "name", ["a.json", "pairs.json", "a.yml", "b.yml", "a.xrdf", "a.srdf", "a.urdf", "a.xml"]
)
def test_files_hold_short_numbers(folder, name):
    words = words_of(folder / name)
    assert len(words) > 30
    assert [word for word in words if not is_short(word)] == []


def test_a_long_number_would_be_seen():
    assert not is_short("0.10000000000000001")
    assert not is_short("0.3000000000000000444")
    assert is_short("0.30000000000000004")
