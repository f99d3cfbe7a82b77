"""What "covered" is about: links proved, links without collision geometry, links left out, and frames.

Looks inside: every place that states the count (verdict, page, proof of one mesh) must state the same.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import elbowroom as er
from elbowroom.cli import main
from elbowroom.collision.internal import one_ball_a_link
from elbowroom.spheres.internal import prove_mesh_coverage
from elbowroom.ui.panels._spheres import headline as page_headline

BOX = '<{0}><geometry><box size="{1}"/></geometry></{0}>'
SOLID, SEEN, FLAT = (
    BOX.format("collision", ".2 .2 .2"),
    BOX.format("visual", ".2 .2 .2"),
    BOX.format("collision", "1 1 0"),
)
ALL = "proved to cover every link"
SHORT = "proved to cover 2 of 4 links; 2 have no collision geometry: shell, cap"

pytestmark = pytest.mark.filterwarnings("ignore::elbowroom.errors.ApproximationWarning")


def chain(folder: Path, links: dict[str, str]) -> Path:
    """A robot of links in a row, each with the geometry given."""
    names = list(links)
    joints = "".join(
        f'<joint name="j_{b}" type="revolute"><parent link="{a}"/><child link="{b}"/><origin xyz="1 0 0"/>'
        '<axis xyz="0 0 1"/><limit lower="-1" upper="1" velocity="1" effort="1"/></joint>'
        for a, b in pairwise(names)
    )
    path = folder / "chain.urdf"
    path.write_text(
        f'<robot name="chain">{"".join(f"<link name={n!r}>{g}</link>" for n, g in links.items())}{joints}</robot>'
    )
    return path


@pytest.fixture
def partly(tmp_path: Path) -> Path:
    return chain(tmp_path, {"base": SOLID, "shell": SEEN, "mount": "", "arm": SOLID, "cap": SEEN})


def proof_of(path: Path, **options: bool) -> er.spheres.CoverageProof:
    robot = er.load_robot(path, **options)
    return er.prove_coverage(robot, one_ball_a_link(robot), measure=False)


def test_links_without_collision_geometry_are_counted_and_frames_are_not(partly):
    proof = proof_of(partly)
    assert proof.proved
    assert not proof.complete
    assert proof.headline == SHORT
    assert proof.counts() == {
        "links_proved": 2,
        "links_with_geometry": 4,
        "not_covered": [],
        "without_collision_geometry": ["shell", "cap"],
        "left_out": [],
        "frames": ["mount"],
    }
    assert SHORT in repr(proof)
    assert "2 have no collision geometry: shell, cap" in str(proof)
    taken = proof_of(partly, use_visual=True)
    assert (taken.complete, taken.headline) == (True, ALL)


def test_frames_alone_do_not_spoil_the_sentence(tmp_path):
    proof = proof_of(chain(tmp_path, {"base": SOLID, "mount": "", "tool": ""}))
    assert (proof.headline, proof.frames) == (ALL, ("mount", "tool"))


def test_geometry_that_could_not_be_taken_is_left_out(tmp_path):
    proof = proof_of(chain(tmp_path, {"base": SOLID, "plate": FLAT, "arm": SOLID + FLAT}))
    assert proof.left_out == ("plate", "arm")
    assert proof.covered == ("base",)  # of the arm a part is missing
    assert proof.headline == "proved to cover 1 of 3 links; 2 have geometry that was left out: plate, arm"


def test_planes_of_an_mjcf_are_left_out_but_not_its_floor(tmp_path):
    path = tmp_path / "plane.xml"
    path.write_text(
        '<mujoco><worldbody><geom type="plane" size="1 1 1"/><body name="a"><joint name="j" range="-1 1" limited="true"/>'
        '<geom type="box" size=".1 .1 .1"/><body name="b" pos="1 0 0"><joint name="k" range="-1 1" limited="true"/>'
        '<geom type="sphere" size=".1"/><geom type="box" size=".1 .1 .1" contype="0" conaffinity="0"/></body>'
        '<body name="c" pos="0 1 0"><geom type="box" size=".1 .1 .1" contype="0" conaffinity="0"/></body></body>'
        "</worldbody></mujoco>"
    )
    robot = er.load_robot(path)
    assert robot.left_out == ()
    assert robot.visual_only == ("c",)
    assert proof_of(path).headline == "proved to cover 2 of 3 links; 1 has no collision geometry: c"


def test_uncovered_links_come_first_and_many_names_are_counted(tmp_path):
    links = {f"link{k}": SOLID for k in range(11)} | {"shell": SEEN}
    robot = er.load_robot(chain(tmp_path, links))
    spheres = one_ball_a_link(robot)
    small = replace(spheres, radii=np.where(spheres.link_idx < 10, 0.5, 1.0) * spheres.radii)
    proof = er.prove_coverage(robot, small, measure=False)
    assert proof.headline == (
        "NOT covering: link0, link1, link2, link3, link4, link5, link6, link7 and 2 more; "
        "proved to cover 1 of 12 links; 1 has no collision geometry: shell"
    )


def test_every_place_tells_the_same(partly, tmp_path, capsys):
    """`spheres`, `setup`, its report and the page: one sentence."""

    def said(*words: object) -> str:
        assert main([*map(str, words)]) == 0
        return capsys.readouterr().out

    assert SHORT in said("spheres", partly)
    assert json.loads(said("spheres", partly, "--json"))["coverage"]["links_with_geometry"] == 4
    first = said("setup", partly, "--out", tmp_path / "files").splitlines()[0]
    assert SHORT in first
    report = (tmp_path / "files" / "report.md").read_text()
    assert SHORT in report
    assert ALL not in report
    attention = report.split("## Needs attention")[1].split("##")[0]
    assert "no check sees 2 links: shell, cap" in attention
    assert report.index("## Needs attention") < report.index("<details>")
    about = said("info", partly)
    assert "2 of 5 links have some, 1 frame without any geometry" in about
    assert "2 links have visual geometry only and no check sees them (shell, cap)" in about
    robot = er.load_robot(partly)
    spheres = one_ball_a_link(robot)
    found = {
        link: prove_mesh_coverage(robot.link_mesh(link), *spheres.link(link), measure=False)
        for link in robot.mesh_links
    }
    page = unescape(page_headline(robot, spheres, dict(found), True))
    assert SHORT in page
    assert re.search("^### .*not of every link", page)


@pytest.mark.parametrize(
    ("name", "unseen"), [("b1-z1", ("base", "link01", "link05")), ("tiago_pro", ("torso_fixed_column_link",))]
)
def test_robots_with_visual_links(name, unseen, load):
    """The two in which it was seen; one ball a link covers as well as any fit."""
    robot = load(name)
    proof = er.prove_coverage(robot, one_ball_a_link(robot), measure=False)
    total = len(robot.mesh_links) + len(unseen)
    has = "1 has" if len(unseen) == 1 else f"{len(unseen)} have"
    assert proof.headline == (
        f"proved to cover {len(robot.mesh_links)} of {total} links; {has} no collision geometry: {', '.join(unseen)}"
    )
