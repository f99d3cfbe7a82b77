"""Configurations from CSV, NPY, NPZ, JSON lines and JSON: the same rows from every format, and clear refusals."""

from __future__ import annotations

import io
import json
import pickle
import random
import sys

import numpy as np
import pytest

import elbowroom as er
from elbowroom.errors import FormatError, InputError
from elbowroom.recordings import read_configurations

from ..robot.builders import joint, link, robot_xml


@pytest.fixture(scope="module")
def robot(tmp_path_factory):
    """Two hinges and a slide."""
    parts = [link(name) for name in ("base", "one", "two", "three")]
    parts += [
        joint("a", "base", "one"),
        joint("b", "one", "two"),
        joint("slide", "two", "three", kind="prismatic"),
    ]
    path = tmp_path_factory.mktemp("robot") / "arm.urdf"
    path.write_text(robot_xml(*parts))
    return er.load_robot(path)


ROWS = np.array([[0.1, 0.2, 0.01], [0.3, 0.4, 0.02], [0.5, 0.6, 0.03]])
TIMES = np.array([0.0, 0.5, 0.5])


def write(folder, name, content):
    path = folder / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content)
    return path


def saved(**arrays):
    out = io.BytesIO()
    if set(arrays) == {"array"}:
        np.save(out, arrays["array"], allow_pickle=True)
    else:
        np.savez(out, **arrays)
    return out.getvalue()


NAMED = [dict(zip(("slide", "a", "b"), (row[2], row[0], row[1]), strict=True)) for row in ROWS]
SAME = {
    "header.csv": "a,b,slide\n0.1,0.2,0.01\n0.3,0.4,0.02\n0.5,0.6,0.03\n",
    "quoted words.csv": '"a" "b" slide\n0.1 "0.2" 0.01\n0.3 0.4 0.02\n0.5 0.6 0.03\n',
    "order.csv": "0.1,0.2,0.01\n0.3,0.4,0.02\n0.5,0.6,0.03\n",
    "shuffled.csv": "slide, b, a\n0.01, 0.2, 0.1\n0.02, 0.4, 0.3\n\n0.03, 0.6, 0.5\n",
    "semicolons.csv": "a;b;slide\n0.1;0.2;0.01\n0.3;0.4;0.02\n0.5;0.6;0.03\n",
    "spaces.txt": "0.1 0.2 0.01\n0.3   0.4 0.02\n0.5 0.6 0.03",
    "savetxt.txt": "# made by numpy\n# slide b a\n0.01 0.2 0.1\n0.02 0.4 0.3\n0.03 0.6 0.5\n",
    "comment.txt": "# some recording\n0.1 0.2 0.01\n0.3 0.4 0.02\n0.5 0.6 0.03\n",
    "bom.csv": "\ufeffa,b,slide\r\n0.1,0.2,0.01\r\n0.3,0.4,0.02\r\n0.5,0.6,0.03\r\n".encode(),
    "plotjuggler.csv": "/joint_states/a/position,/joint_states/b/position,/joint_states/slide/position,"
    "/joint_states/a/velocity\n0.1,0.2,0.01,9\n0.3,0.4,0.02,9\n0.5,0.6,0.03,9\n",
    "lerobot.csv": "observation.state.a.pos,observation.state.b.pos,observation.state.slide.pos,task\n"
    "0.1,0.2,0.01,pick\n0.3,0.4,0.02,pick\n0.5,0.6,0.03,pick\n",
    "numbered.csv": "frame_index,observation.state.0,observation.state.1,observation.state.2\n"
    "0,0.1,0.2,0.01\n1,0.3,0.4,0.02\n2,0.5,0.6,0.03\n",
    "rows.npy": saved(array=ROWS),
    "singles.npy": saved(array=ROWS.astype(">f4")),
    "fields.npy": saved(
        array=np.array(
            [tuple(row[[2, 0, 1]]) for row in ROWS], dtype=[("slide", "f8"), ("a", "f8"), ("b", "f8")]
        )
    ),
    "names.npz": saved(cfgs=ROWS[:, ::-1], joint_names=np.array(["slide", "b", "a"])),
    "joints.npz": saved(a=ROWS[:, 0], b=ROWS[:, 1], slide=ROWS[:, 2], goal=np.zeros(7)),
    "lists.jsonl": "\n".join(json.dumps(row.tolist()) for row in ROWS),
    "objects.jsonl": "\n".join(json.dumps(row) for row in NAMED),
    "states.jsonl": "\n".join(
        json.dumps({"name": ["b", "a", "slide"], "position": [row[1], row[0], row[2]], "velocity": [0, 0, 0]})
        for row in ROWS
    ),
    "lists.json": json.dumps(ROWS.tolist()),
    "pretty.json": json.dumps(NAMED, indent=2),
    "columns.json": json.dumps(
        {"b": ROWS[:, 1].tolist(), "a": ROWS[:, 0].tolist(), "slide": ROWS[:, 2].tolist()}
    ),
    "document.json": json.dumps({"joint_names": ["a", "b", "slide"], "cfgs": ROWS.tolist()}),
    "misnamed.npy": "a,b,slide\n0.1,0.2,0.01\n0.3,0.4,0.02\n0.5,0.6,0.03\n",
}


@pytest.mark.parametrize("name", SAME)
def test_every_format_gives_the_same_rows(robot, tmp_path, name):
    found = read_configurations(write(tmp_path, name, SAME[name]), robot)
    np.testing.assert_allclose(found.cfgs, ROWS, atol=1e-7)
    assert found.times is None
    assert found.names == ("a", "b", "slide")
    assert not found.cfgs.flags.writeable
    assert len(found) == len(found.lines) == 3


def test_rows_know_their_lines(robot, tmp_path):
    found = read_configurations(write(tmp_path, "x.csv", SAME["shuffled.csv"]), robot)
    assert found.lines.tolist() == [2, 3, 5]
    assert found.where(2) == f"{tmp_path / 'x.csv'}:5"
    assert (
        read_configurations(write(tmp_path, "x.npy", SAME["rows.npy"]), robot)
        .where(1)
        .endswith("x.npy, row 2")
    )


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", "time,a,b,slide\n0,0.1,0.2,0.01\n0.5,0.3,0.4,0.02\n0.5,0.5,0.6,0.03\n"),
        ("ms.csv", "a,b,slide,time_ms\n0.1,0.2,0.01,0\n0.3,0.4,0.02,500\n0.5,0.6,0.03,500\n"),
        ("juggler.csv", "__time,x/a,x/b,x/slide\n0,0.1,0.2,0.01\n0.5,0.3,0.4,0.02\n0.5,0.5,0.6,0.03\n"),
        ("t.npz", saved(q=ROWS, timestamps=TIMES)),
        (
            "stamps.jsonl",
            "\n".join(
                json.dumps({"header": {"stamp": {"sec": 0, "nanosec": int(1e9 * t)}}, "name": ["a", "b", "slide"],
                            "position": row.tolist()})
                for t, row in zip(TIMES, ROWS, strict=True)
            ),
        ),
    ],
)  # fmt: skip
def test_times_are_recognised(robot, tmp_path, name, content):
    found = read_configurations(write(tmp_path, name, content), robot)
    np.testing.assert_allclose(found.cfgs, ROWS)
    np.testing.assert_allclose(found.times, TIMES, atol=1e-12)


def test_ros2_topic_echo_as_csv(robot, tmp_path):
    lines = [
        "1700000000,250000000,,slide,a,b,0.01,0.1,0.2,0.0,0.0,0.0",
        "1700000001,0,,slide,a,b,0.02,0.3,0.4,0.0,0.0,0.0",
    ]
    found = read_configurations(write(tmp_path, "echo.csv", "\n".join(lines)), robot)
    np.testing.assert_allclose(found.cfgs, ROWS[:2])
    np.testing.assert_allclose(np.diff(found.times), 0.75, atol=1e-6)
    assert found.lines.tolist() == [1, 2]
    lines.append("1700000002,0,,gripper,a,b,0.02,0.3,0.4,0.0,0.0,0.0")
    with pytest.raises(FormatError, match=r"echo.csv:3: column 4 is 'gripper'.*'slide'"):
        read_configurations(write(tmp_path, "echo.csv", "\n".join(lines)), robot)


def test_a_time_column_without_a_name_is_said_by_number(robot, tmp_path):
    path = write(tmp_path, "t.npy", saved(array=np.column_stack([TIMES, ROWS])))
    with pytest.raises(FormatError, match="4 columns without names.*3 joints.*--time-column 1"):
        read_configurations(path, robot)
    found = read_configurations(path, robot, time_column=1)
    np.testing.assert_allclose(found.cfgs, ROWS)
    np.testing.assert_allclose(found.times, TIMES)
    with pytest.raises(InputError, match="no column 9"):
        read_configurations(path, robot, time_column="9")


def test_nanoseconds_since_1970_become_seconds_and_are_said(robot, tmp_path):
    text = "timestamp,a,b,slide\n1700000000000000000,0,0,0\n1700000000500000000,0,0,0\n"
    found = read_configurations(write(tmp_path, "ns.csv", text), robot)
    np.testing.assert_allclose(np.diff(found.times), 0.5, atol=1e-6)
    assert any("nanoseconds" in note for note in found.notes)


def test_degrees_turn_hinges_and_leave_slides(robot, tmp_path):
    found = read_configurations(write(tmp_path, "d.csv", "a,b,slide\n180,-90,0.02\n"), robot, degrees=True)
    np.testing.assert_allclose(found.cfgs, [[np.pi, -np.pi / 2, 0.02]])


def test_joints_that_are_not_given_are_refused_or_held(robot, tmp_path):
    path = write(tmp_path, "part.csv", "a,extra\n0.1,7\n0.2,8\n")
    with pytest.raises(InputError, match="no column for b, slide of .*--missing"):
        read_configurations(path, robot)
    found = read_configurations(path, robot, missing=[9.0, 0.5, 0.03])
    np.testing.assert_allclose(found.cfgs, [[0.1, 0.5, 0.03], [0.2, 0.5, 0.03]])
    assert any("held: b at 0.5" in note for note in found.notes)
    assert any("left out: extra" in note for note in found.notes)


def test_two_columns_for_a_joint_are_told_apart_by_their_beginning(robot, tmp_path):
    keys = [f"{group}.{name}" for group in ("observation.state", "action") for name in ("a", "b", "slide")]
    path = write(tmp_path, "two.csv", ",".join(keys) + "\n0.1,0.2,0.01,1,2,3\n")
    with pytest.raises(InputError, match="both 'observation.state.a' and 'action.a'.*--columns"):
        read_configurations(path, robot)
    np.testing.assert_allclose(read_configurations(path, robot, columns="action").cfgs, [[1, 2, 3]])
    path = write(tmp_path, "two.npz", saved(action=ROWS, state=ROWS + 1))
    with pytest.raises(InputError, match="action, state could each"):
        read_configurations(path, robot)
    np.testing.assert_allclose(read_configurations(path, robot, columns="state").cfgs, ROWS + 1)
    with pytest.raises(InputError, match="no column starts with 'x'"):
        read_configurations(path, robot, columns="x")


def test_standard_input(robot, monkeypatch):
    class Stdin:
        buffer = io.BufferedReader(io.BytesIO(SAME["shuffled.csv"].encode()))

    monkeypatch.setattr(sys, "stdin", Stdin)
    found = read_configurations("-", robot)
    np.testing.assert_allclose(found.cfgs, ROWS)
    assert found.where(0) == "standard input:2"


BAD = {
    "nan.csv": ("a,b,slide\n0,0,0\n0,nan,0\n", r"nan.csv:3: 'b' is nan"),
    "inf.csv": ("0,0,0\n0,0,-inf\n", r"inf.csv:2: column 3 is -inf"),
    "word.csv": ("a,b,slide\n0,0,0\n\n0,oops,0\n", r"word.csv:4: 'b' is 'oops', not a number"),
    "hole.csv": ("a,b,slide\n0,,0\n", r"hole.csv:2: 'b' is empty"),
    "comma.csv": ("a;b;slide\n0,5;1;2\n", r"comma.csv:2: 'a' is '0,5', not a number .*decimal comma"),
    "short.csv": ("a,b,slide\n0,0,0\n0,0\n", r"short.csv:3: 2 columns, where the first row has 3"),
    "long.csv": ("a,b,slide\n0,0,0,0\n", r"long.csv:2: 4 columns"),
    "quote.csv": ('a,b,slide\n0,"0,0\n0,0,0\n', r'quote.csv:2: a quoted cell'),
    "back.csv": ("t,a,b,slide\n0,0,0,0\n1,0,0,0\n0.5,0,0,0\n", r"back.csv:4: time goes back from 1.0+ to 0.50+ s"),
    "twice.csv": ("a,a,b,slide\n0,0,0,0\n", r"columns of the same name: a"),
    "stranger.csv": ("x,y,z\n0,0,0\n", r"no column names a joint of .*; the joints are a, b, slide, the columns x, y, z"),
    "wide.csv": ("0,0,0,0,0\n", r"5 columns without names.*3 joints \(a, b, slide\); name them in a header"),
    "nothing.csv": ("", "it is empty"),
    "header.csv": ("a,b,slide\n", "no rows"),
    "comments.csv": ("# a\n# b\n", "only comments"),
    "latin.csv": ("a,b,slide\n0,0,\xe9\n".encode("latin-1"), r"latin.csv:\d: not UTF-8"),
    "binary.dat": (b"\x7fELF\0\0\0\0", "other binary data"),
    "pickled.npy": (saved(array=np.array([{"a": 1}], dtype=object)), "pickled Python objects"),
    "cut.npy": (saved(array=ROWS)[:100], "not a readable NumPy file"),
    "lie.npy": (saved(array=ROWS).replace(b"(3, 3)", b"(9999999999, 3)"), "not a readable NumPy file"),
    "cube.npy": (saved(array=np.zeros((2, 2, 3))), r"found shape \(2, 2, 3\)"),
    "text.npy": (saved(array=np.array(["a"])), "expected an array of numbers"),
    "nan.npy": (saved(array=np.where(np.eye(3) > 0, np.nan, 0.0)), r"nan.npy, row 1: column 1 is nan"),
    "empty.npy": (saved(array=np.zeros((0, 3))), "no rows"),
    "cut.npz": (saved(q=ROWS, t=TIMES)[:200], "not a readable NumPy file"),
    "texts.npz": (saved(q=np.array(["x"]), t=np.array(["y"])), "expected arrays"),
    "broken.jsonl": ('[0,0,0]\n[0,0\n', r"broken.jsonl:2: not JSON"),
    "broken.json": ('[\n[0,0,0],\n[0,0,\n', r"broken.json:3: not JSON"),
    "missing.jsonl": ('{"a":0,"b":0,"slide":0}\n{"a":0,"slide":0}\n', r"missing.jsonl:2: 'b' is empty"),
    "mixed.jsonl": ('{"a":0,"b":0,"slide":0}\n[0,0,0]\n', r"mixed.jsonl:2: \[0, 0, 0\], where the first"),
    "ragged.json": ("[[0,0,0],[0,0]]", r"ragged.json, entry 2: 2 columns"),
    "null.json": ("[[0,null,0]]", r"null.json, entry 1: column 2 is empty"),
    "true.json": ("[[0,true,0]]", r"column 2 is True, not a number"),
    "huge.json": ("[[0,1" + "0" * 400 + ",0]]", r"column 2 is an integer of .* bits, not a number"),
    "deep.json": ("[" * 100_000, "not readable as JSON|not JSON"),
    "number.json": ("[3,{}]", "found 3"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_is_said_with_its_place(robot, tmp_path, name):
    content, message = BAD[name]
    with pytest.raises((FormatError, InputError), match=message):
        read_configurations(write(tmp_path, name, content), robot)


def test_a_single_column_may_be_quoted(tmp_path):
    """Without a comma on the line, the quotes were taken for a part of the name."""
    elements = (link("base"), link("one"), joint("a joint", "base", "one"))
    robot = er.load_robot(write(tmp_path, "one.urdf", robot_xml(*elements)))
    found = read_configurations(write(tmp_path, "x.csv", '"a joint"\n"0.1"\n0.2\n'), robot)
    np.testing.assert_array_equal(found.cfgs, [[0.1], [0.2]])


def test_files_that_cannot_be_read(robot, tmp_path):
    with pytest.raises(InputError, match=r"cannot read .*ghost.csv: No such file"):
        read_configurations(tmp_path / "ghost.csv", robot)
    with pytest.raises(InputError, match="Is a directory"):
        read_configurations(tmp_path, robot)


def test_long_files_are_read_in_blocks(robot, tmp_path, monkeypatch):
    """Blocks are put together in order; the rows of every block are checked."""
    monkeypatch.setattr("elbowroom.recordings._tables.BLOCK", 7)
    rows = np.random.default_rng(0).uniform(-1, 1, (1000, 3))
    path = tmp_path / "long.csv"
    np.savetxt(path, rows, delimiter=",", header="a,b,slide")
    np.testing.assert_allclose(read_configurations(path, robot).cfgs, rows)
    path.write_text(path.read_text() + "0,0,x\n")
    with pytest.raises(FormatError, match=r"long.csv:1002: 'slide' is 'x'"):
        read_configurations(path, robot)


def test_streams_without_end_are_cut_off(robot, tmp_path, monkeypatch):
    monkeypatch.setattr("elbowroom.recordings._configurations.MAX_NUMBERS", 5)
    with pytest.raises(FormatError, match="more than 5 numbers"):
        read_configurations(write(tmp_path, "x.csv", SAME["order.csv"]), robot)


def test_the_value_travels(robot, tmp_path):
    found = read_configurations(write(tmp_path, "x.csv", SAME["header.csv"]), robot)
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.cfgs, found.cfgs)
    assert not again.cfgs.flags.writeable
    assert "3 rows of 3 joints" in repr(found)


def test_broken_files_of_every_format_raise_our_errors_only(robot):
    """Bytes changed, cut and mixed: what is read is finite and has the robot's width, everything else is refused."""
    rng = random.Random(0)
    seeds = [text if isinstance(text, bytes) else text.encode() for text in SAME.values()]
    read = 0
    for _ in range(1500):
        data = bytearray(rng.choice(seeds))
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(data) + 1)
            piece = rng.choice(seeds)[at : at + rng.randint(0, 20)]
            data[at : at + rng.randint(0, 8)] = rng.choice(
                [piece, bytes([rng.randrange(256)]), b'"', b"nan", b"["]
            )
        try:
            found = read_configurations(io.BufferedReader(io.BytesIO(bytes(data))), robot)
        except er.ElbowroomError:
            continue
        read += 1
        assert found.cfgs.shape == (len(found.lines), 3)
        assert np.isfinite(found.cfgs).all()
    assert 20 < read < 1200
