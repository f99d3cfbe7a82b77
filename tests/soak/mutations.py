"""Changes to files that people and broken disks make: of XML elements, and of bytes."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from lxml import etree

VALUES = (
    *("", " ", "nan", "NaN", "inf", "-inf", "1e999", "-1", "0", "1e-320", "1 2", "1 2 3", "0 0 0", "1 2 3 4 5 6 7", "zero", "1,2,3"),
    *("true", "0x10", "1e5", "1_0", "９", "1e300", "-1e300", "1e-300", "\u200b", "a b", "é", "x" * 3000, "None", "{}", "$(find x)"),
)  # fmt: skip
PATHS = (
    *("../../../../../../etc/passwd", "/etc/passwd", "file:///etc/passwd", "http://example.org/a.stl", "package://", "."),
    *("package://nobody/a.stl", "", "a.stl\0", "~/a.stl", "//host/share/a.stl", "a" * 3000, "..", "%2e%2e/a.stl", "a.xyz", "/dev/zero"),
    *("file://", "package://../../etc/passwd", "model://a/../../b.stl", "C:\\a.stl", "/proc/self/mem"),
)  # fmt: skip
TYPES = (
    "revolute",
    "continuous",
    "prismatic",
    "fixed",
    "floating",
    "planar",
    "hinge",
    "slide",
    "ball",
    "free",
    "screw",
    "mesh",
    "",
)
HEADS = (
    '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>\n',
    '<!DOCTYPE r SYSTEM "http://example.org/r.dtd">\n',
    '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>\n',
    "<!-- a comment -->\n",
    "<?php echo 1 ?>\n",
)


def mutated_xml(data: bytes, rng: np.random.Generator) -> bytes:
    """One to three changes of elements, now and then of the head, now and then of bytes."""
    root = etree.fromstring(data)
    for _ in range(int(rng.integers(1, 4))):
        _change(root, rng)
    out = etree.tostring(root)
    if rng.uniform() < 0.05:
        out = HEADS[int(rng.integers(len(HEADS)))].encode() + out
    return mutated_bytes(out, rng) if rng.uniform() < 0.1 else out


def _change(root: Any, rng: np.random.Generator) -> None:
    elements = [element for element in root.iter() if isinstance(element.tag, str)]
    element = elements[int(rng.integers(len(elements)))]
    other = elements[int(rng.integers(len(elements)))]
    names = list(element.attrib)
    name = names[int(rng.integers(len(names)))] if names else ""
    parent = element.getparent()
    match int(rng.integers(14)):
        case 0 if names:
            del element.attrib[name]
        case 1 | 2 | 3 if names:
            element.set(name, _value(name, rng))
        case 4 if names:
            element.set(name.upper() if rng.uniform() < 0.5 else f"{name}s", element.attrib.pop(name))
        case 5 if names and other.attrib:
            element.set(name, list(other.attrib.values())[int(rng.integers(len(other.attrib)))])
        case 6 if parent is not None:
            parent.remove(element)
        case 7 if parent is not None:
            parent.insert(int(rng.integers(len(parent) + 1)), copy.deepcopy(element))
        case 8 if parent is not None:
            other.append(copy.deepcopy(element))
        case 9:
            element.tag = other.tag if rng.uniform() < 0.5 else f"{element.tag}2"
        case 10 if names:
            words = element.get(name, "").split()
            if words:
                words[int(rng.integers(len(words)))] = _value("", rng).replace("\n", " ")
                element.set(name, " ".join(words))
        case 11:
            for _ in range(int(10 ** rng.uniform(0, 3.5))):
                element = etree.SubElement(element, element.tag)
        case 12 if len(element) > 1:
            element[:] = [element[k] for k in rng.permutation(len(element))]
        case _:
            element.text = _value("", rng).replace("\0", "")


def _value(name: str, rng: np.random.Generator) -> str:
    pool = PATHS if name in ("filename", "file", "meshdir") else TYPES if name == "type" else VALUES
    if rng.uniform() < 0.2:
        return repr(float(rng.normal() * 10.0 ** rng.uniform(-12, 12)))
    return pool[int(rng.integers(len(pool)))].replace("\0", "\ufffd")  # XML cannot hold a zero


def mutated_bytes(data: bytes, rng: np.random.Generator) -> bytes:
    """Bytes flipped, cut, doubled, in another encoding."""
    out = bytearray(data)
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(len(out))) if out else 0
        match int(rng.integers(8)):
            case 0 | 1 | 2 if out:
                out[at] ^= 1 << int(rng.integers(8))
            case 3:
                del out[at : at + int(rng.integers(1, 200))]
            case 4:
                del out[at:]
            case 5:
                out[at:at] = out[at : at + int(rng.integers(1, 500))]
            case 6:
                out[at:at] = bytes(rng.integers(0, 256, int(rng.integers(1, 9)), dtype=np.uint8))
            case 7 if rng.uniform() < 0.2:
                text = out.decode("utf-8", errors="replace")
                out = bytearray(
                    text.encode(
                        str(rng.choice(["utf-16", "utf-32", "utf-8-sig", "latin-1"])), errors="replace"
                    )
                )
    return bytes(out)
