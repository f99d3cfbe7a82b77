"""The content says which format a file is in, before its extension does."""

from __future__ import annotations

import json

import pytest
from ruamel.yaml import YAML

from elbowroom import formats
from elbowroom.errors import ElbowroomError, FormatError
from elbowroom.formats._by_extension import sniff
from elbowroom.formats.internal import format_of

from .test_foreign_files import CUROBO_V2, SRDF, XRDF, put

URDF = """<robot name="two"><link name="base"><collision><geometry><sphere radius="0.1"/></geometry></collision></link>
<link name="tip"/><joint name="j" type="fixed"><parent link="base"/><child link="tip"/></joint></robot>"""
MJCF = """<mujoco><worldbody><body name="base"><geom type="sphere" size="0.1"/></body></worldbody></mujoco>"""
JSON = '{"base": [{"center": [0, 0, 0], "radius": 0.1}]}'


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.yaml", XRDF, "xrdf"),
        ("a.yml", XRDF.replace("format: xrdf", '"format": "xrdf" # so'), "xrdf"),
        ("a.yml", CUROBO_V2, "curobo"),
        ("a.xml", MJCF, "mjcf"),
        ("a.xml", URDF, "urdf"),
        ("a.xml", SRDF, "srdf"),
        ("a.urdf", SRDF, "srdf"),
        ("a.srdf", URDF, "urdf"),
        ("a.urdf", MJCF, "mjcf"),
        ("a.json", JSON, "json"),
        ("a.txt", JSON, "json"),
        ("a.yml", JSON, "json"),
        ("a.json", json.dumps(YAML(typ="safe").load(CUROBO_V2)), "curobo"),
        ("a.json", json.dumps(YAML(typ="safe").load(XRDF)), "xrdf"),
        ("a.json", SRDF, "srdf"),
        ("a.xrdf", CUROBO_V2, "curobo"),
        ("a.txt", URDF, "urdf"),
        ("a.conf", CUROBO_V2, "curobo"),
        ("a.srdf", "<robot name='two'/>", "srdf"),
    ],
)
def test_by_content(tmp_path, name, text, expected):
    assert formats.read(put(tmp_path, name, text)).format == expected


def test_a_given_format_counts_before_the_content(tmp_path):
    with pytest.raises(FormatError, match="format: xrdf"):
        formats.read(put(tmp_path, "a.yml", CUROBO_V2), format="xrdf")


@pytest.mark.parametrize("text", ["<robot", "<!DOCTYPE a><robot/>", "<other/>", "", "\0\0"])
def test_undecided_content_leaves_it_to_the_extension(tmp_path, text):
    path = put(tmp_path, "a.srdf", text)
    assert sniff(path) == ""
    with pytest.raises(ElbowroomError, match="a.srdf"):
        formats.read(path)
    assert sniff(tmp_path / "none.xml") == ""
    assert sniff(tmp_path) == ""


def test_unknown_extensions_without_telling_content(tmp_path):
    with pytest.raises(FormatError, match=r"unknown format '\.bin'"):
        formats.read(put(tmp_path, "a.bin", "hello"))
    with pytest.raises(FormatError, match="unknown format 'pdf'"):
        format_of("a.yml", "pdf")
    assert format_of("a.yml") == "curobo"
