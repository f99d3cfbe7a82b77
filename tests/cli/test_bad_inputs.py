"""Every verb with hundreds of bad inputs: exit code 2, a message, no traceback, no hang, and no file touched.

A folder of witnesses, one file of each kind that people have, is compared by content before and after each call.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from elbowroom import _cache
from elbowroom.cli import main

LONGEST = 20.0
"""Seconds that the refusal of a bad input may take."""
HUGE = str(10**11)
LONG = "9" * 5000

BOX = b'<collision><geometry><box size="1 1 1"/></geometry></collision>'
WITNESSES = {
    "arm.urdf": b'<robot name="arm"><link name="b">%b</link><link name="c">%b</link><joint name="j" type="revolute">'
    b'<parent link="b"/><child link="c"/><origin xyz="3 0 0"/><axis xyz="0 0 1"/>'
    b'<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>' % (BOX, BOX),
    "robot.urdf": b'<robot name="a"><link name="b">%b</link></robot>' % BOX,
    "robot.srdf": b'<robot name="a"><group name="g"><link name="b"/></group></robot>',
    "scene.xml": b'<mujoco><worldbody><body name="b"><geom type="box" size="1 1 1"/></body></worldbody></mujoco>',
    "picture.png": b"\x89PNG\r\n\x1a\n" + bytes(range(64)),
    "package.json": b'{"name": "mine", "version": 1}',
    "list.json": b"[1, 2, 3]",
    "broken.json": b'{"spheres": {"a": [',
    "spheres.json": b'{"torso_link": [{"center": [0, 0, 0], "radius": 0.1}]}',
    "other_robot.json": b'{"nobody": [{"center": [0, 0, 0], "radius": 0.1}]}',
    "negative.json": b'{"torso_link": [{"center": [0, 0, 0], "radius": -1}]}',
    "compose.yml": b"services:\n  a: b\n",
    "broken.yml": b"a: [1, 2\nb: }\n",
    "robot.xrdf": b"format: xrdf\nformat_version: 1.0\n",
    "notes.txt": b"buy milk\n",
    "empty.urdf": b"",
    "binary.urdf": bytes(range(256)),
    "cut.urdf": b'<robot name="a"><link name="b">',
    "bomb.urdf": b'<!DOCTYPE a [<!ENTITY x "y">]><robot name="&x;"><link name="b"/></robot>',
    "entities.xml": b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><mujoco>&x;</mujoco>',
    "cycle.urdf": b'<robot name="a"><link name="b"/><link name="c"/>'
    b'<joint name="j" type="fixed"><parent link="b"/><child link="c"/></joint>'
    b'<joint name="k" type="fixed"><parent link="c"/><child link="b"/></joint></robot>',
    "cube.stl": b"solid a\nendsolid a\n",
    "data.npz": _cache.npz_bytes({"cfgs": np.zeros(3)}),
    "cell.yaml": b"world:\n  collision_objects:\n    - id: table\n      primitives: [{type: 1, dimensions: [1, 1, 1]}]\n",
    "cell.json": b'{"format": "elbowroom-world", "version": 1, "obstacles": [{"kind": "box", "size": [1, 1, -1]}]}',
    "table.csv": b"a,b\n1,2\n",
    "read_only.json": b'{"torso_link": [{"center": [0, 0, 0], "radius": 0.1}]}',
}

BAD_ROBOTS = (
    "ghost", "", "no/such.urdf", "/", ".", "..", "folder", "empty.urdf", "binary.urdf", "cut.urdf", "bomb.urdf",
    "entities.xml", "cycle.urdf", "picture.png", "package.json", "notes.txt", "robot.srdf", "teaarm\n", "x" * 300,
    "nul\0nul", "\udcff", "-", "teaarm teaarm", "loop", "data.npz", "compose.yml",
)  # fmt: skip
BAD_PLACES = (
    "missing/a{}", "folder", "notes.txt/a{}", "full{}", "loop", "dangling", "x" * 300 + "{}", "a.unknown", "a",
    "nul\0nul{}", "/proc/a{}",
)  # fmt: skip
"""Where nothing can be written; {} is the extension that the option expects."""
QUICK = "arm.urdf --method centerline"
FEW = f"{QUICK} --samples 64 --proof-boxes 8"


def cases() -> list[list[str]]:
    """All command lines, each wrong in one way."""
    found: list[list[str]] = [["inof"], ["--nonsense"], [""], ["spheres pairs"]]
    for robot in BAD_ROBOTS:
        found += [[verb, robot] for verb in ("info", "spheres", "pairs", "check") if robot or verb != "info"]
    lines = """
    info teaarm extra|info --nonsense|info teaarm --srdf|info teaarm --srdf ghost.srdf|info teaarm --srdf robot.urdf
    info teaarm --srdf picture.png|info --srdf robot.srdf|info --use-visual|info teaarm --package-dirs
    info teaarm --json=maybe|info teaarm --srdf=|info teaarm --use-visual 3|info teaarm --srdf folder
    spheres|spheres teaarm rh56|spheres teaarm -n 0|spheres teaarm -n -5|spheres teaarm -n 1.5|spheres teaarm -n nan
    spheres teaarm -n LONG|spheres teaarm -n HUGE|spheres teaarm -n|spheres teaarm --seed -1|spheres teaarm --seed x
    spheres teaarm --seed LONG|spheres teaarm --margin nan|spheres teaarm --margin inf|spheres teaarm --margin -1
    spheres teaarm --margin abc|spheres teaarm --margin|spheres teaarm --method tigth|spheres teaarm --workers 0
    spheres teaarm --workers -2|spheres teaarm --ratio-cap 0.5|spheres teaarm --ratio-cap nan
    spheres teaarm --per-link torso_link|spheres teaarm --per-link ghost 3|spheres teaarm --per-link torso_link 0
    spheres teaarm --per-link torso_link x|spheres teaarm --per-link|spheres teaarm --format json
    spheres teaarm --out a.json --format pdf|spheres teaarm --spheres spheres.json -n 5
    spheres teaarm --spheres spheres.json --method tight|spheres teaarm --spheres spheres.json --margin 0.1
    spheres teaarm --spheres spheres.json --seed 3|spheres QUICK -n 20|spheres QUICK --seed 2|spheres QUICK --workers 2
    spheres teaarm --spheres ghost.json|spheres teaarm --spheres picture.png|spheres teaarm --spheres package.json
    spheres teaarm --spheres broken.json|spheres teaarm --spheres other_robot.json|spheres teaarm --spheres negative.json
    spheres teaarm --spheres list.json|spheres teaarm --spheres compose.yml|spheres teaarm --spheres broken.yml
    spheres teaarm --spheres folder|spheres teaarm --spheres robot.srdf|spheres teaarm --spheres notes.txt
    spheres teaarm --spheres data.npz|spheres teaarm --spheres empty.urdf|spheres teaarm --json --out /dev/stdout --format json
    pairs|pairs teaarm --samples 0|pairs teaarm --samples -1|pairs teaarm --samples HUGE|pairs teaarm --samples 1.5
    pairs teaarm --samples nan|pairs teaarm --samples LONG|pairs teaarm --seed -1|pairs teaarm --buffer nan
    pairs teaarm --buffer -1|pairs teaarm --buffer inf|pairs teaarm --proof-boxes -1|pairs teaarm --proof-boxes HUGE
    pairs FEW --workers 0|pairs FEW --pose ghost|pairs FEW --ignore b|pairs FEW --ignore ghost b
    pairs FEW --ignore b b|pairs FEW --check b ghost|pairs FEW --ignore|pairs teaarm --check
    pairs teaarm --diff --no-use-srdf|pairs teaarm --format json|pairs teaarm --spheres spheres.json --method tight
    pairs QUICK -n 7|pairs teaarm --spheres ghost.json|pairs teaarm --spheres other_robot.json|pairs teaarm --n-spheres 0
    pairs FEW --out a.json --format nonsense|pairs teaarm --out a.urdf|pairs teaarm --checkpoint robot.urdf
    pairs teaarm --checkpoint picture.png|pairs teaarm --checkpoint notes.txt|pairs teaarm --checkpoint data.npz
    pairs teaarm --checkpoint missing/a.npz|pairs teaarm --checkpoint folder|pairs teaarm --checkpoint package.json
    pairs teaarm --plot a.gif|pairs teaarm --plot picture|pairs teaarm --all 3|pairs teaarm --json --out /dev/stdout --format json
    check|check QUICK --cfg|check teaarm --method centerline --cfg 1 2|check robot.urdf --method centerline --cfg 1 2|check QUICK --cfg a|check QUICK --cfg=|check QUICK --named ghost
    check QUICK --named|check QUICK --random -1|check QUICK --random x|check QUICK --random 3 --seed -1
    check QUICK --ignore b|check QUICK --ignore ghost b|check QUICK --buffer nan|check QUICK --buffer -1
    check QUICK --by luck|check QUICK --pairs ghost.json|check QUICK --pairs picture.png|check QUICK --pairs robot.urdf
    check QUICK --pairs package.json|check QUICK --pairs folder|check QUICK --pairs notes.txt|check QUICK --samples 0
    check QUICK --samples HUGE|check QUICK --samples nan|check QUICK -n 7|check teaarm --spheres other_robot.json
    check teaarm --spheres spheres.json --method tight|check QUICK --random HUGE
    check QUICK --scene|check QUICK --scene ghost.yaml|check QUICK --scene folder|check QUICK --scene picture.png
    check QUICK --scene robot.urdf|check QUICK --scene spheres.json|check QUICK --scene compose.yml
    check QUICK --scene broken.yml|check QUICK --scene broken.json|check QUICK --scene cell.json
    check QUICK --scene data.npz|check QUICK --scene notes.txt|check QUICK --scene loop|check QUICK --allow b table
    check QUICK --scene cell.yaml --allow|check QUICK --scene cell.yaml --allow b|check QUICK --scene list.json
    check QUICK --scene cell.yaml --allow ghost table|check QUICK --scene cell.yaml --allow b ghost
    check QUICK --pairs cell.yaml|spheres teaarm --spheres cell.yaml|info cell.json
    convert cell.yaml a|convert cell.yaml a.xrdf|convert cell.yaml robot.urdf --target-format json|convert cell.json a.yaml
    convert cell.yaml a.json --robot teaarm|convert cell.yaml spheres.json|convert spheres.json cell.yaml
    convert cell.yaml missing/a.json|convert cell.yaml folder --target-format json|convert cell.yaml a.json --target-format pdf
    mesh|mesh cube.stl|mesh ghost.stl ghost.stl|mesh cube.stl cube.stl|mesh notes.txt notes.txt|mesh folder folder
    mesh picture.png cube.stl|mesh robot.urdf robot.urdf|mesh empty.urdf cube.stl|mesh data.npz cube.stl
    mesh cube.stl cube.stl --scale 0|mesh cube.stl cube.stl --scale nan|mesh cube.stl cube.stl --pose-a 1 2
    mesh cube.stl cube.stl --pose-b 0 0 0 0 0 0 0|mesh cube.stl cube.stl --pose-a nan 0 0|mesh cube.stl cube.stl --max-points 0
    grasp knot|grasp line --width-mm nan|grasp line --width-mm -5|grasp line --width-mm 1e9|grasp line --finger toe
    grasp plane --fingers 9|grasp plane --fingers 0|grasp line --method quick|grasp line --hand ghost
    grasp line --revision ghost|grasp line --height-mm nan|grasp line --height-mm inf|grasp line --plot a.gif
    grasp line --plot missing/a.png|grasp line --plot robot.urdf|grasp line --export a.txt|grasp line --export missing/a.csv
    grasp line --export table.csv|grasp line --export package.json|grasp line --check --object ghost.stl
    grasp line --check --object notes.txt|grasp line --self-test --hand allegro_right_hand|grasp line --plot notes.txt
    convert|convert spheres.json|convert ghost.json a.yml|convert spheres.json a.unknown|convert spheres.json a
    convert spheres.json a.urdf|convert spheres.json a.xml|convert spheres.json missing/a.yml|convert spheres.json folder
    convert spheres.json robot.urdf --robot teaarm|convert spheres.json picture.png|convert spheres.json compose.yml
    convert spheres.json package.json|convert spheres.json robot.srdf --target-format json|convert notes.txt a.yml
    convert picture.png a.yml|convert broken.json a.yml|convert broken.yml a.json|convert list.json a.yml
    convert robot.srdf a.yml|convert robot.urdf a.yml|convert spheres.json a.yml --robot ghost
    convert other_robot.json a.yml --robot teaarm|convert spheres.json a.yml --srdf robot.srdf
    convert spheres.json a.yml --package-dirs folder|convert spheres.json a.yml --pairs ghost.json
    convert spheres.json a.yml --pairs spheres.json|convert spheres.json a.yml --robot teaarm --srdf picture.png
    convert spheres.json a.yml --source-format pdf|convert spheres.json a.yml --target-format pdf
    convert spheres.json a.yml --source-format srdf|convert spheres.json read_only.json|convert folder a.yml
    convert spheres.json notes.txt --target-format json|convert spheres.json data.npz --target-format curobo
    setup|setup arm.urdf|setup ghost --out new|setup arm.urdf --out missing/new|setup arm.urdf --out notes.txt
    setup arm.urdf --out loop|setup arm.urdf --out new --ee-link ghost|setup arm.urdf --out new --base-link ghost
    setup arm.urdf --out new --lock ghost|setup arm.urdf --out new --lock j=nan|setup arm.urdf --out new --lock j=x
    setup arm.urdf --out new --pose ghost|setup arm.urdf --out new --cfg|setup arm.urdf --out new --cfg 1 2
    setup arm.urdf --out new --cfg nan|setup arm.urdf --out new --seed -1|setup arm.urdf --out new --samples HUGE
    setup arm.urdf --out new -n 0|setup arm.urdf --out new -n HUGE|setup arm.urdf --out new --per-link ghost 3
    setup arm.urdf --out new --ignore ghost b|setup arm.urdf --out new --paths sideways|setup arm.urdf --out
    setup arm.urdf --out new --workers 0|setup arm.urdf --out new --buffer nan|setup arm.urdf --out new --srdf ghost
    demo --out missing/report|demo --out notes.txt|demo --out notes.txt/report|demo --out|demo extra|demo --out loop
    doctor extra|doctor --nonsense|completion|completion tcsh|completion bash zsh
    """
    for line in lines.replace("\n", "|").split("|"):
        if line.strip():
            text = (
                line.replace("QUICK", QUICK).replace("FEW", FEW).replace("HUGE", HUGE).replace("LONG", LONG)
            )
            found.append(text.split())
    for place in BAD_PLACES:
        found += [
            ["spheres", *QUICK.split(), "--out", place.format(".json")],
            ["spheres", *QUICK.split(), "--plot", place.format(".png")],
            ["pairs", *FEW.split(), "--out", place.format(".json")],
            ["pairs", *FEW.split(), "--plot", place.format(".png")],
            ["convert", "spheres.json", place.format(".yml")],
            ["grasp", "line", "--export", place.format(".csv")],
        ]
    for kind in ("robot.urdf", "scene.xml", "package.json", "compose.yml", "read_only.json"):
        found += [["pairs", *FEW.split(), "--out", kind], ["spheres", *QUICK.split(), "--out", kind]]
    return found


CASES = cases()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("witnesses")
    for name, data in WITNESSES.items():
        (place / name).write_bytes(data)
    (place / "folder").mkdir()
    (place / "loop").symlink_to("loop")
    (place / "dangling").symlink_to("missing/target")
    for extension in ("json", "png", "yml", "csv"):
        (place / f"full.{extension}").symlink_to("/dev/full")
    (place / "read_only.json").chmod(0o444)
    good, arm = tmp_path_factory.mktemp("good"), [str(place / "arm.urdf"), "--method", "centerline"]
    for words in (  # compiled once, so that what is timed is the refusal
        ["spheres", *arm, "--plot", str(good / "a.png")],
        ["pairs", *arm, "--plot", str(good / "b.png")],
        ["setup", arm[0], "--out", str(good / "c")],
        ["check", *arm, "--random", "3"],
        ["grasp", "line", "--check", "--export", str(good / "a.csv")],
    ):
        assert main(words) in (0, 1)
    return place


def contents(folder: Path) -> dict[str, str]:
    """Every name below a folder, with what it holds or where it points."""
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            found[path.name] = os.readlink(path)
        elif path.is_file():
            found[path.name] = f"{path.stat().st_mode:o} {hashlib.sha256(path.read_bytes()).hexdigest()}"
        else:
            found[path.name] = "folder"
    return found


def test_there_are_enough():
    assert len(CASES) >= 200
    assert {case[0] for case in CASES} >= {
        "info",
        "spheres",
        "pairs",
        "check",
        "mesh",
        "grasp",
        "convert",
        "demo",
    }


@pytest.mark.filterwarnings("ignore::elbowroom.errors.ApproximationWarning")
@pytest.mark.parametrize("words", CASES, ids=lambda words: ascii(" ".join(words))[1:60])
def test_bad_inputs_are_refused_and_harm_nothing(folder, capsys, monkeypatch, words):
    monkeypatch.chdir(folder)
    before, start = contents(folder), time.monotonic()
    code = main(words)
    seconds = time.monotonic() - start
    out, err = capsys.readouterr()
    assert code == 2, (out, err)
    assert err.strip()
    assert "Traceback" not in err
    assert "bug in elbowroom" not in err
    assert contents(folder) == before
    assert seconds < LONGEST


SOME = [
    "inof",
    "info ghost",
    "info \udcff",
    "spheres teaarm --seed -1",
    "pairs teaarm --checkpoint robot.urdf",
]


@pytest.mark.parametrize("line", SOME)
def test_the_same_as_a_process(folder, line):
    before = contents(folder)
    command = [sys.executable, "-m", "elbowroom", *line.split()]
    result = subprocess.run(command, cwd=folder, capture_output=True, timeout=4 * LONGEST)
    assert result.returncode == 2
    assert b"Traceback" not in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert contents(folder) == before
