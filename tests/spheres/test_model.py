from __future__ import annotations

import json

import numpy as np
import pytest

from elbowroom.errors import ElbowroomError, FormatError, InputError, UnknownLinkError
from elbowroom.spheres import SphereModel

LINKS = ("base", "arm", "tool")


def model() -> SphereModel:
    return SphereModel.from_links(
        LINKS,
        {"arm": ([[0.1, 0, 0], [0.2, 0, 0]], [0.05, 0.04]), "base": ([[0, 0, 0]], [0.1])},
        robot_name="toy",
        evidence={"seed": 3, "method": "tight"},
    )


def test_spheres_are_ordered_by_link_and_read_only() -> None:
    m = model()
    assert len(m) == 3
    assert m.link_idx.tolist() == [0, 1, 1]
    assert m.counts == {"base": 1, "arm": 2}
    centers, radii = m.link("arm")
    assert radii.tolist() == [0.05, 0.04]
    for array in (m.centers, m.radii, m.link_idx, centers, radii):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    assert m.link("tool")[1].shape == (0,)
    with pytest.raises(UnknownLinkError, match="arm"):
        m.link("arn")


def test_prints_as_a_table() -> None:
    text = str(model().attach("tool", [[0, 0, 0.1]], [0.03], "cup"))
    assert "base" in text
    assert "cup" in text
    assert text.splitlines()[-1].split() == ["all", "4"]
    assert repr(model()) == "SphereModel('toy': 3 spheres on 2 of 3 links)"


def test_json_round_trip_is_exact() -> None:
    m = (
        model()
        .attach("tool", [[0, 0, 1 / 3]], [0.1 / 3], "cup")
        .with_padding(self_collision=0.01, world={"arm": 0.02})
    )
    text = json.dumps(m.to_json())
    again = SphereModel.from_json(text)
    assert again == m
    assert again.robot_name == "toy"
    assert dict(again.evidence) == dict(m.evidence)
    assert SphereModel.from_json(m.to_json(), LINKS) == m


def test_plain_json_forms_are_read() -> None:
    a = SphereModel.from_json({"arm": [{"center": [0, 0, 1], "radius": 0.5}]}, LINKS)
    b = SphereModel.from_json({"arm": {"centers": [[0, 0, 1]], "radii": [0.5]}}, LINKS)
    c = SphereModel.from_json({"spheres": {"arm": [{"center": [0, 0, 1], "radius": 0.5}]}}, LINKS)
    assert a == b == c
    assert a.link_names == LINKS


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("", "empty"),
        ("{", "not JSON"),
        ("[]", "expected an object"),
        ("{}", "empty"),
        ('{"arm": [], "arm": []}', "'arm' is given twice"),
        ({"arm": [{"center": [0, 0, 0], "radius": float("nan")}]}, "link 'arm', sphere 0.*radius"),
        (
            {"arm": [{"center": [0, 0, 0], "radius": 1}, {"center": [0, 0, 0], "radius": -0.1}]},
            "'arm', sphere 1.*-0.1",
        ),
        ({"arm": [{"center": [0, 0], "radius": 1}]}, "sphere 0: the center must be three"),
        ({"arm": [{"radius": 1}]}, "expected 'center' and 'radius'"),
        ({"arm": {"centers": [[0, 0, 0]]}}, "expected 'centers' and 'radii'"),
        ({"arm": {"centers": [[0, 0, 0]], "radii": []}}, "same length"),
        ({"arm": 3}, "expected a list"),
        ({"format": "elbowroom-spheres", "version": 99, "spheres": {}}, "version 99"),
        ({"format": "elbowroom-spheres", "version": 1}, "'spheres' must be an object"),
    ],
)
def test_bad_json_names_the_place(data, message) -> None:
    with pytest.raises(FormatError, match=message):
        SphereModel.from_json(data, LINKS)


def test_unknown_link_in_json() -> None:
    with pytest.raises(UnknownLinkError, match="did you mean 'arm'"):
        SphereModel.from_json({"arm_": [{"center": [0, 0, 0], "radius": 1}]}, LINKS)


@pytest.mark.parametrize(
    ("centers", "radii", "message"),
    [
        ([[0, 0, 0]], [np.nan], "link 'arm', sphere 0: the radius"),
        ([[0, 0, 0], [0, 0, 0]], [1, 0], "link 'arm', sphere 1: the radius"),
        ([[0, np.inf, 0]], [1], "link 'arm', sphere 0: the center"),
        ([[0, 0, 0]], [1, 2], r"link 'arm': expected centers \(n, 3\)"),
        ([["a", 0, 0]], [1], "link 'arm', centers: expected numbers"),
    ],
)
def test_bad_numbers_name_the_place(centers, radii, message) -> None:
    with pytest.raises(InputError, match=message):
        SphereModel.from_links(LINKS, {"arm": (centers, radii)})


def test_duplicate_links_and_wrong_indices() -> None:
    with pytest.raises(InputError, match="'arm' is given twice"):
        SphereModel(("arm", "arm"), np.zeros((0, 3)), np.zeros(0), np.zeros(0, dtype=int))
    with pytest.raises(InputError, match="link_idx must be in"):
        SphereModel(("arm",), np.zeros((1, 3)), np.ones(1), np.array([1]))
    with pytest.raises(InputError, match="one entry per sphere"):
        SphereModel(("arm",), np.zeros((1, 3)), np.ones(2), np.array([0, 0]))
    with pytest.raises(InputError, match="link 'arm', sphere 0"):
        SphereModel(("base", "arm"), np.zeros((2, 3)), np.array([1.0, -1.0]), np.array([0, 1]))


def test_padding_is_apart_for_self_and_world() -> None:
    m = model().with_padding(self_collision={"arm": 0.01}, world=0.02)
    assert m.radii.tolist() == [0.1, 0.05, 0.04]
    assert m.padded_radii("self") == pytest.approx([0.1, 0.06, 0.05])
    assert m.padded_radii("world") == pytest.approx([0.12, 0.07, 0.06])
    with pytest.raises(UnknownLinkError):
        model().with_padding(world={"hand": 0.1})
    with pytest.raises(InputError, match="finite"):
        model().with_padding(world={"arm": np.nan})
    with pytest.raises(InputError, match="purpose"):
        m.padded_radii("other")  # type: ignore[arg-type]


def test_attach_and_detach() -> None:
    m = model()
    held = m.attach("arm", [[0, 0, 1], [0, 0, 2]], [0.1, 0.2], "bottle")
    assert len(held) == 5
    assert held.objects == ("bottle",)
    assert held.counts["arm"] == 4
    assert held.link("arm", attached=False)[1].tolist() == [0.05, 0.04]
    assert held.detach("bottle") == m
    with pytest.raises(InputError, match="already"):
        held.attach("base", [[0, 0, 0]], [1], "bottle")
    with pytest.raises(InputError, match="no object 'cup'"):
        held.detach("cup")
    with pytest.raises(UnknownLinkError):
        m.attach("hand", [[0, 0, 0]], [1], "cup")
    with pytest.raises(InputError, match="object 'cup' on link 'arm', sphere 0"):
        m.attach("arm", [[0, 0, 0]], [-1], "cup")


def test_for_links_of_another_robot() -> None:
    moved = model().for_links(("tool", "base", "extra", "arm"), "bigger")
    assert moved.counts == {"base": 1, "arm": 2}
    assert moved.link("arm")[1].tolist() == [0.05, 0.04]
    with pytest.raises(UnknownLinkError, match="not of robot 'other'"):
        model().for_links(("base", "leg"), "other")


def test_errors_have_one_base() -> None:
    for error in (FormatError, InputError, UnknownLinkError):
        assert issubclass(error, ElbowroomError)
