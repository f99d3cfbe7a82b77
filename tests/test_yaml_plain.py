"""The reader of plain YAML agrees with ruamel.yaml, or answers nothing."""

from __future__ import annotations

import random
from typing import Any

import pytest
from ruamel.yaml import YAML

from elbowroom._yaml_plain import MAX_DEPTH, read_plain

SCENE = """---
world:
  collision_objects:
    - header:
        frame_id: base_link
      id: Can 1
      primitives:
        - type: cylinder
          dimensions: [0.14, 0.03]
      primitive_poses:
        - position: {x: 0.9, y: 0, z: 1.08}
          orientation: [0, 0, 0, -1.5e-3]
# a comment
    - id: "a: b"
      meshes:
      - vertices:
        - [1, 2.5, -3]
        - [.5, 2., +3]
        triangles:
        - [0, 1, 2]
      operation: 0
      empty:
      none: []

    - - 1
      - 'two words'
      - "a \\"quote\\" and\\nmore"
    - {on: 1, y: 2}
    -
      id: 3
      list:
      -
        - 1
name: (noname)
flag: true
"""


def by_ruamel(text: str) -> Any:
    return YAML(typ="safe", pure=True).load(text)


def same(a: Any, b: Any) -> bool:
    """Equal in value, type and order."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    return len(a) == len(b) and all(map(same, a, b)) if isinstance(a, list) else a == b


def test_a_scene_is_read():
    found = read_plain(SCENE)
    assert found is not None
    assert same(found, by_ruamel(SCENE))


@pytest.mark.parametrize(
    "text",
    [
        "a: &x 1\nb: *x\n",
        "a: !!str 1\n",
        "a: |\n  text\n",
        "a: >\n  text\n",
        "a: 1 # so\n",
        "a: one\n  two\n",
        "a: [1,\n  2]\n",
        "a: 1\na: 2\n",
        "a:\t1\n",
        "a: 1\r\nb: 2\r\n",
        "a: 1\n---\nb: 2\n",
        "a: yes\n",
        "a: No\n",
        "a: 010\n",
        "a: 0x10\n",
        "a: 1_000\n",
        "a: 1:30\n",
        "a: .inf\n",
        "a: ~\n",
        "a: 2001-01-01\n",
        'a: "x\\u0041"\n',
        "a: 'it''s'\n",
        "a: [[1, 2], 3]\n",
        "a: [1, 2,]\n",
        "a: {b: c: d}\n",
        "a: {b, c}\n",
        "? a\n: b\n",
        "a:\n   b: 1\n  c: 2\n",
        "  a: 1\n",
        "a: b: c\n",
        "a: - 1\n",
        "just text\n",
        "7\n",
        "",
        "# nothing\n",
        "True: 1\n",
        "-\na: 1\n",
        "a:\n-\n",
        "-\n-\n",
        f"a: {'9' * 5000}\n",
        "\n".join(" " * k + "a:" for k in range(MAX_DEPTH + 3)) + "\n",
        "%YAML 1.1\n---\na: 1\n",
        "a: @b\n",
        "a: `b`\n",
        "{a: 1}\nb: 2\n",
    ],
)
def test_what_is_not_plain_is_left_to_ruamel(text):
    assert read_plain(text) is None


@pytest.mark.parametrize("seed", range(4))
def test_texts_with_faults_are_read_alike_or_not_at_all(seed):
    """Pieces of a scene with characters changed at random: whatever is answered is what ruamel.yaml says."""
    rng = random.Random(seed)
    signs = list(" -:[]{},#\n\"'0123.eExyn~&*!|>%@ab\\?+_/(")
    lines, answered = SCENE.split("\n"), 0
    for _ in range(3000):
        first = rng.randrange(len(lines))
        piece = lines[first : first + rng.randrange(1, 12)]
        indent = min((len(line) - len(line.lstrip()) for line in piece if line.strip()), default=0)
        text = "\n".join(line[indent:] for line in piece)
        for _ in range(rng.choice([1, 1, 2, 3, 5])):
            at = rng.randrange(len(text) + 1)
            text = text[:at] + rng.choice([*signs, ""]) + text[at + rng.choice([0, 1]) :]
        found = read_plain(text)
        if found is not None:
            answered += 1
            assert same(found, by_ruamel(text)), text
    assert answered > 100
