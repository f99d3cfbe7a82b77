"""The door through which files are written: nothing harmed, nothing half."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from elbowroom import _cache
from elbowroom._files import check_place, is_template, make_folder, replacing, write_bytes
from elbowroom._kinds import kind_of
from elbowroom.errors import InputError

URDF = b'<robot name="a"><link name="b"/></robot>'
SRDF = b'<robot name="a"><group name="g"><link name="b"/></group></robot>'
PNG = b"\x89PNG\r\n\x1a\n...."
SPHERES = b'{"a": [{"center": [0, 0, 0], "radius": 1}]}'
FULL_SPHERES = b'{"format": "elbowroom-spheres", "spheres": {}}'
CHECKPOINT = _cache.npz_bytes({"key": np.array("k"), "done": np.array(1), "counts": np.zeros(2)})
SAMPLES = {
    "urdf": URDF,
    "srdf": SRDF,
    "xacro": b'<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="a"><xacro:include filename="b"/></robot>',
    "mjcf": b"<mujoco/>",
    "our_mjcf": b"<mujoco><!-- written by Elbowroom --></mujoco>",
    "our_urdf": b'<robot name="a"><link name="b"/><!-- written by Elbowroom --></robot>',
    "sdf": b"<sdf/>",
    "png": PNG,
    "spheres": SPHERES,
    "pairs": b'{"format": "elbowroom pairs", "pairs": []}',
    "package": b'{"name": "mine", "version": 1}',
    "curobo": b"robot_cfg:\n  kinematics: {}\n",
    "xrdf": b"format: xrdf\n",
    "compose": b"services:\n  a: b\n",
    "checkpoint": CHECKPOINT,
    "arrays": _cache.npz_bytes({"cfgs": np.zeros(3)}),
    "world": b'{"format": "elbowroom-world", "version": 1, "obstacles": []}',
    "scene": b"world:\n  collision_objects: []\n",
    "scene_arrays": _cache.npz_bytes({"elbowroom_world": np.array(1), "cfgs": np.zeros(3)}),
    "csv": b"time,phase\n0,1\n",
    "notes": b"buy milk\n",
    "binary": b"abc\0def",
}


def left_in(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()}


def test_every_kind_is_told_from_every_other():
    kinds = {name: kind_of(data) for name, data in SAMPLES.items()}
    assert len(set(kinds.values())) == len(kinds), kinds


@pytest.mark.parametrize("there", SAMPLES)
def test_only_the_same_kind_is_replaced(tmp_path, there):
    path = tmp_path / "file"
    for name, data in SAMPLES.items():
        path.write_bytes(SAMPLES[there])
        if name == there:
            write_bytes(path, data + (b"" if name in ("checkpoint", "arrays", "scene_arrays") else b"\n"))
            assert path.read_bytes().startswith(data)
        else:
            with pytest.raises(InputError, match="would replace it"):
                write_bytes(path, data)
            assert path.read_bytes() == SAMPLES[there]
    assert left_in(tmp_path) == {"file"}


def test_styles_of_spheres_replace_each_other_and_empty_files_anything(tmp_path):
    path = tmp_path / "a.json"
    path.touch()
    for data in (SPHERES, FULL_SPHERES, SPHERES):
        write_bytes(path, data)
        assert path.read_bytes() == data


def test_links_stay_and_their_targets_are_replaced(tmp_path):
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real/target", tmp_path / "link"
    target.write_bytes(PNG)
    link.symlink_to("real/target")
    before = target.stat().st_ino
    write_bytes(link, PNG + b"new")
    assert link.is_symlink()
    assert target.read_bytes() == PNG + b"new"
    assert target.stat().st_ino != before  # replaced as a whole, not written into
    dangling = tmp_path / "dangling"
    dangling.symlink_to("real/later")
    write_bytes(dangling, PNG)
    assert (tmp_path / "real/later").read_bytes() == PNG
    assert left_in(tmp_path / "real") == {"target", "later"}
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    with pytest.raises(InputError, match="cannot write"):
        write_bytes(loop, PNG)


def test_files_with_two_names_keep_both(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_bytes(PNG + b"a long old tail")
    two.hardlink_to(one)
    write_bytes(one, PNG)
    assert two.read_bytes() == PNG
    assert one.stat().st_nlink == 2


def test_pipes_are_written_into(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    data = PNG + b"x" * 300_000  # more than a pipe holds
    write_bytes(pipe, data)
    reader.join()
    assert read == [data]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_devices_stay_devices():
    write_bytes(Path("/dev/null"), PNG)
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    with pytest.raises(InputError, match="No space left"):
        write_bytes(Path("/dev/full"), PNG)
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


@pytest.mark.parametrize("name", ["/dev/stdout", "/proc/self/fd/1"])
@pytest.mark.parametrize("to_file", [False, True])
def test_standard_output_is_written_in_order(tmp_path, name, to_file):
    script = (
        "from pathlib import Path; from elbowroom._files import write_bytes\n"
        f"print('before'); write_bytes(Path({name!r}), b'middle\\n'); print('after')"
    )
    command = [sys.executable, "-c", script]
    if to_file:
        with (tmp_path / "out").open("wb") as file:
            subprocess.run(command, stdout=file, check=True)
        text = (tmp_path / "out").read_text()
    else:
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert text == "before\nmiddle\nafter\n"


def test_permissions_are_kept_and_new_files_follow_the_umask(tmp_path):
    path, new = tmp_path / "old", tmp_path / "new"
    path.write_bytes(PNG)
    path.chmod(0o640)
    write_bytes(path, PNG)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    before = os.umask(0o027)
    try:
        write_bytes(new, PNG)
    finally:
        os.umask(before)
    assert stat.S_IMODE(new.stat().st_mode) == 0o640
    path.chmod(0o440)
    with pytest.raises(InputError, match="read-only"):
        write_bytes(path, PNG)


def test_no_folder_is_invented(tmp_path):
    with pytest.raises(InputError, match="there is no folder"):
        write_bytes(tmp_path / "missing/a.png", PNG)
    with pytest.raises(InputError, match="it is a folder"):
        write_bytes(tmp_path, PNG)
    with pytest.raises(InputError, match="there is no folder"):
        make_folder(tmp_path / "a/b")
    assert make_folder(make_folder(tmp_path / "a") / "b").is_dir()
    for bad in ("x" * 300, "nul\0nul"):
        with pytest.raises(InputError, match="cannot write"):
            check_place(tmp_path / bad)
    assert left_in(tmp_path) == {"a"}


FULL = """
import resource, signal, sys
from pathlib import Path
import numpy as np
from elbowroom.errors import InputError
from elbowroom._files import write_bytes
from elbowroom.ui.draw import save_figure, save_png
from matplotlib.figure import Figure
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
folder = Path(sys.argv[1])
noise = np.random.default_rng(0).random((64, 64, 3))
for write in (
    lambda: write_bytes(folder / "new", b"x" * 5000),
    lambda: write_bytes(folder / "two_names", b"old " * 2000),
    lambda: save_png(folder / "new.png", noise),
    lambda: save_png(folder / "old.png", noise),
    lambda: save_figure(Figure(), folder / "figure.png"),
):
    try:
        write()
    except InputError as error:
        assert "File too large" in str(error), error
    else:
        raise AssertionError("it was written")
"""


def test_a_disk_that_is_full_leaves_everything_as_it_was(tmp_path):
    (tmp_path / "old.png").write_bytes(PNG)
    (tmp_path / "two_names").write_bytes(b"old but short")
    (tmp_path / "other").hardlink_to(tmp_path / "two_names")
    result = subprocess.run([sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert left_in(tmp_path) == {"old.png", "two_names", "other"}
    assert (tmp_path / "old.png").read_bytes() == PNG
    assert (tmp_path / "other").read_bytes() == b"old but short"


def test_whatever_stops_the_writing_leaves_nothing_behind(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def stopped():
        with replacing(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert path.read_bytes() == b"old"
    assert left_in(tmp_path) == {"a"}


def test_templates_are_files_with_content(tmp_path):
    (tmp_path / "empty").touch()
    (tmp_path / "full").write_text("a")
    found = [
        is_template(Path(name)) for name in (tmp_path / "empty", tmp_path / "full", "/dev/stdout", tmp_path)
    ]
    assert found == [False, True, False, False]
