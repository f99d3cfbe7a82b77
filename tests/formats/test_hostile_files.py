"""Values that parsers stumble over: endless numbers, endless nesting, aliases that multiply, empty sections."""

from __future__ import annotations

import time

import pytest

from elbowroom import formats
from elbowroom.errors import ElbowroomError, FormatError, InputError
from elbowroom.formats._contents import short
from elbowroom.spheres import SphereModel

from .test_foreign_files import CUROBO_V2, XRDF, put

HUGE = "9" * 400
SPHERE = '{"a": [{"center": [0, 0, 0], "radius": %s}]}'


def bomb(levels=9, width=9):
    """Aliases of aliases: `width ** levels` values in less than 1 KB."""
    lines = ["x0: &x0 [1]"]
    for k in range(1, levels + 1):
        lines.append(f"x{k}: &x{k} [{', '.join([f'*x{k - 1}'] * width)}]")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.json", SPHERE % HUGE, "radius must be finite"),
        ("a.json", SPHERE % ("9" * 5000), "a.json"),
        ("a.json", (SPHERE % "1").replace("[0,", f"[{HUGE},"), "three finite numbers"),
        ("a.json", "[" * 200_000, "nested too deeply"),
        ("a.json", '{"a": ' * 200_000, "nested too deeply"),
        ("a.yml", CUROBO_V2.replace("radius: 0.03", f"radius: {HUGE}"), "found an integer of 1329 bits"),
        ("a.yml", CUROBO_V2.replace("radius: 0.03", "radius: 0x" + "f" * 9000), "expected a finite number"),
        ("a.yml", CUROBO_V2.replace("base: [{", "? {x: [1]}\n    : [{"), "a.yml"),
        ("a.yml", "? [{a: 1}]\n: 2\n", "a.yml"),
        ("a.yml", CUROBO_V2 + "x: " + "[" * 200_000, "line 15: the YAML is nested too deeply"),
        ("a.yml", "kinematics: &k\n  collision_spheres: *k\n", "refers to what it is part of"),
        ("a.yml", CUROBO_V2.replace("unknown_key: [1, 2, 3]", "collision_link_names: 2001-99-99"), "a.yml"),
        ("a.xrdf", XRDF[: XRDF.index("  balls:")] + "  balls: null\n", "links to spheres, found None"),
        ("a.xrdf", XRDF.replace("collision:\n  geometry: balls", "collision:\n  geometry: [balls]"), "name of a geom"),
        ("a.xrdf", XRDF[: XRDF.index("  balls:")] + "  balls: [1]\n", "balls: expected a mapping"),
    ],
)  # fmt: skip
def test_they_are_refused_with_the_place(tmp_path, name, text, expected):
    with pytest.raises(FormatError, match=expected) as caught:
        formats.read(put(tmp_path, name, text))
    assert name in str(caught.value)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    "text",
    [
        "a: 2001-99-99\n",  # ValueError
        "? [{a: 1}]\n: 2\n",  # TypeError
        "a: !!bool x\n",  # KeyError
        "a: !!int ''\n",  # IndexError
        "a: !!set x\n",  # AttributeError
        "%YAML 1.1\n---\na: " + ":".join(["59"] * 400) + ".5\n",  # OverflowError
        "a: # c\n  |\n\nb: 1\n",  # NotImplementedError
        "%YAML 1.9\n---\na: 1\n",  # AssertionError
    ],
)
def test_what_the_yaml_parser_lets_through_is_refused(tmp_path, text):
    """Beside each file what ruamel.yaml 0.19 raises, none of which is an error of its own."""
    with pytest.raises(FormatError, match="a.yml: not readable as YAML"):
        formats.read(put(tmp_path, "a.yml", text))


@pytest.mark.parametrize(
    "text",
    [
        bomb() + "kinematics:\n  collision_spheres: *x9\n",
        bomb() + "kinematics: *x9\n",
        bomb() + "kinematics:\n  collision_spheres: {base: []}\n  collision_link_names: *x9\n",
        bomb() + "kinematics:\n  collision_spheres:\n    base: [{center: *x9, radius: 1}]\n",
        bomb() + "kinematics:\n  ? *x9\n  : 3\n",
        bomb() + "format: xrdf\nformat_version: *x9\n",
        bomb() + "a: *x9\na: *x9\n",
    ],
)
def test_aliases_that_multiply_are_refused_at_once(tmp_path, text):
    path = put(tmp_path, "a.yml", text)
    model = SphereModel.from_links(["base"], {"base": ([[0, 0, 0]], [0.1])})
    start = time.process_time()
    with pytest.raises(FormatError, match="aliases written out"):
        formats.read(path)
    with pytest.raises(FormatError, match="aliases written out"):
        formats.write(path, spheres=model)
    assert time.process_time() - start < 2.0


def test_honest_aliases_are_read(tmp_path):
    text = CUROBO_V2.replace("tip: [{center: [1.0, 2.0, 3.0], radius: 0.5}]", "tip: *b")
    path = put(tmp_path, "a.yml", text.replace("base: [{center", "base: &b [{center"))
    assert formats.read(path).spheres.counts == {"base": 1, "tip": 1}


def test_messages_show_values_in_bounded_time():
    value: list[object] = [1]
    for _ in range(60):
        value = [value] * 10  # 10 ** 60 entries if written out
    start = time.process_time()
    assert len(short(value)) <= 80
    assert len(short({"a": value, "b": {"c": value}})) <= 80
    assert time.process_time() - start < 0.5
    assert short("abc") == "'abc'"
    assert short([1, 2.5, None]) == "[1, 2.5, None]"
    assert short({"a": [1]}) == "{'a': [1]}"
    assert len(short("x" * 10**6)) <= 80


@pytest.mark.parametrize(("name", "text"), [("a.xrdf", XRDF), ("a.yml", CUROBO_V2)])
def test_keys_that_ruamel_reads_and_cannot_write_leave_the_file_as_it_is(tmp_path, name, text):
    """A mapping as a key came out on a line without its colon, and the file could not be read any more."""
    path = put(tmp_path, name, text + "{}:\n  a: 1\n")
    before, model = path.read_bytes(), formats.read(path).spheres
    with pytest.raises(FormatError, match=rf"{name}: it cannot be written again"):
        formats.write(path, spheres=model)
    assert path.read_bytes() == before


def test_spheres_of_a_link_that_is_not_listed_name_the_file(tmp_path):
    text = '{"format": "elbowroom-spheres", "version": 1, "links": ["a"], "spheres": {"b": []}}'
    with pytest.raises(ElbowroomError, match=r"a\.json: .*no link 'b'"):
        formats.read(put(tmp_path, "a.json", text))


@pytest.mark.parametrize("key", ["collision", "self_collision", "geometry"])
@pytest.mark.parametrize("value", ["", " {}"])
def test_empty_sections_of_an_xrdf_are_filled(tmp_path, key, value):
    others = {"collision", "self_collision", "geometry"} - {key}
    text = f"format: xrdf\nformat_version: 1.0\n{key}:{value}\ntool_frames: [tip]  # kept\n"
    path = put(tmp_path, "a.xrdf", text)
    model = SphereModel.from_links(["base"], {"base": ([[0, 0, 0]], [0.1])}, self_padding={"base": 0.01})
    formats.write(path, spheres=model)
    assert formats.read(path).spheres == model
    assert "tool_frames: [tip]  # kept" in path.read_text()
    for other in others:
        assert f"{other}:" in path.read_text()


def test_other_keys_of_the_group_stay(tmp_path):
    path = put(tmp_path, "a.xrdf", XRDF + "    made_by: hand\n")
    formats.write(path, spheres=formats.read(path).spheres)
    assert "made_by: hand" in path.read_text()


@pytest.mark.parametrize("value", [None, [1, 2], {}, "0.1", True, 10**400, float("nan"), object()])
def test_paddings_that_are_no_numbers(value):
    with pytest.raises(InputError, match="self_padding of link 'a': expected a finite number of metres"):
        SphereModel.from_links(["a"], {}, self_padding={"a": value})


@pytest.mark.parametrize(
    "fields",
    [
        {"self_padding": 3},
        {"world_padding": [1]},
        {"self_padding": {"a": None}},
        {"robot": 3},
        {"evidence": 3},
    ],
)
def test_fields_of_the_wrong_kind_in_json(fields):
    data = {"format": "elbowroom-spheres", "version": 1, "links": ["a"], "spheres": {}, **fields}
    with pytest.raises(FormatError):
        SphereModel.from_json(data)


def test_pairs_that_are_no_pairs(tmp_path):
    model = SphereModel.from_links(["a"], {"a": ([[0, 0, 0]], [0.1])})
    for pairs in (3, "ab", [3], ["ab"], [("a", "b", "c")]):
        with pytest.raises(ElbowroomError):
            formats.write(tmp_path / "a.json", spheres=model, pairs=pairs)
