"""Broken files of every kind: whatever is changed in them, only our own errors come out."""

from __future__ import annotations

import random
import re
import time

import pytest

from elbowroom import formats
from elbowroom.errors import ElbowroomError
from elbowroom.spheres import SphereModel

from .test_foreign_files import CUROBO_V1, CUROBO_V2, SPHERES_FILE, SRDF, XRDF

JSON = """{"format": "elbowroom-spheres", "version": 1, "robot": "two", "links": ["base", "tip"],
"spheres": {"base": [{"center": [0.0, 0.1, 0.2], "radius": 0.03}], "tip": [{"center": [1, 2, 3], "radius": 0.5,
"attached": "cup"}]}, "self_padding": {"base": 0.01}, "world_padding": {}, "evidence": {"seed": 0}}"""
COLLISION = """{"spheres": {"base": {"centers": [[0, 0, 0]], "radii": [0.1]}, "tip": []},
"collision_ignore_pairs": [["base", "tip"]]}"""
INLINE_V1 = CUROBO_V1.replace(
    '"spheres/two.yml"',
    "{base: [{center: [0, 0, 0], radius: 1}], attached_object: [{center: [0, 0, 0], radius: 1}]}",
)
SEEDS = {
    "v1.yml": INLINE_V1,
    "v2.yml": CUROBO_V2,
    "spheres.yml": SPHERES_FILE,
    "two.xrdf": XRDF,
    "two.srdf": SRDF.replace("<group ", '<disable_default_collisions link="far"/><group '),
    "full.json": JSON,
    "pairs.json": COLLISION,
}
TOKENS = [
    *("null", "[]", "{}", ".nan", "NaN", "-.inf", "true", "''", '""', "~", "0", "-1", "1e999", "9" * 400, "0x" + "f" * 4000),
    *("&a", "*a", "!!set", "!!binary x", "2001-13-45", "<<", "? ", "- ", ": ", "\n", "\0", "[[[[", "}}", "base", "[base]"),
    *("{a: b}", "!!omap [a: 1]", "|", ">", "%", "\ufeff", "&#0;", "<a>", "1_000", "0b1", "1:2:3", "@", "`", "\t"),
]  # fmt: skip


def mutate(text: str, rng: random.Random) -> bytes:
    """One to three changes: tokens replaced, lines swapped or deleted, bytes flipped."""
    for _ in range(rng.randint(1, 3)):
        kind = rng.random()
        words = list(re.finditer(r"[\w.\-]+|\[[^\[\]]*\]|\{[^{}]*\}", text))
        if kind < 0.55 and words:
            word = rng.choice(words)
            other = rng.choice([rng.choice(TOKENS), rng.choice(words).group()])
            text = text[: word.start()] + other + text[word.end() :]
        elif kind < 0.7:
            lines = text.split("\n")
            i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
            lines[i], lines[j] = lines[j], lines[i]
            text = "\n".join(lines)
        elif kind < 0.85 and text:
            start = rng.randrange(len(text))
            text = text[:start] + text[start + rng.randint(1, 30) :]
        else:
            data = bytearray(text.encode())
            for _ in range(rng.randint(1, 4)):
                if data:
                    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            text = data.decode("utf-8", errors="replace") if rng.random() < 0.7 else data.decode("latin-1")
    return text.encode("latin-1" if rng.random() < 0.05 else "utf-8", errors="replace")


def try_one(folder, name: str, data: bytes, model: SphereModel, robot=None, write: bool = True) -> None:
    """Reads a file, for a robot if one is given, and writes into it; our own errors are the only ones expected."""
    path = folder / name
    path.write_bytes(data)
    try:
        contents = formats.read(path)
        if contents.spheres is not None:
            contents.spheres.to_json()
        if robot is not None:
            formats.read(path, robot=robot)
    except ElbowroomError:
        pass
    if not write:
        return
    try:
        formats.write(path, spheres=model, pairs={("base", "tip"): "ADJACENT"})
        formats.read(path)
    except ElbowroomError:
        pass


@pytest.mark.long
@pytest.mark.parametrize("name", SEEDS)
def test_only_our_errors_escape(tmp_path, load, name):
    rng = random.Random(f"0 {name}")
    model = SphereModel.from_links(
        ["base", "tip"],
        {"base": ([[0, 0, 0]], [0.1]), "tip": ([[0, 0, 1]], [0.2])},
        world_padding={"tip": 0.01},
    )
    robot = load("rh56") if name.endswith(".srdf") else None
    for index in range(1500 // len(SEEDS)):
        data = mutate(SEEDS[name], rng)
        start = time.process_time()
        try:
            try_one(tmp_path, name, data, model, robot, write=index % 4 == 0)
        except Exception as error:
            raise AssertionError(f"mutation {index} of {name} gave {error!r:.300} for {data!r}") from error
        assert time.process_time() - start < 2.0, f"mutation {index} of {name} took too long: {data!r}"
