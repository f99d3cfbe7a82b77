"""What a tag promises, checked: prints the notes of a release, or says why the tag is not one.

    python tools/release_notes.py v0.1.0 > notes.md

Tag, `_version.py`, CITATION.cff and the dated heading in CHANGELOG.md must name one version. Needs nothing but Python.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def notes(tag: str, root: Path = ROOT) -> str:
    """The section of the changelog that belongs to a tag.

    Raises:
        ValueError: something names another version than the tag.
    """
    version = _found(root / "src/elbowroom/_version.py", r'^__version__ = "(.+)"$')
    if tag != f"v{version}":
        raise ValueError(f"the tag is {tag!r}, the package is {version}: expected the tag v{version}")
    cited = _found(root / "CITATION.cff", r'^version: "?([^"\n]+)"?$')
    if cited != version:
        raise ValueError(f"CITATION.cff cites {cited}, the package is {version}")
    section = _found(
        root / "CHANGELOG.md", rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d\n(.*?)(?=^## |\Z)"
    )
    return section.strip() + "\n"


def _found(path: Path, pattern: str) -> str:
    match = re.search(pattern, path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    if match is None or not match[1].strip():
        raise ValueError(f"{path.name} has no text of the form {pattern}")
    return match[1]


if __name__ == "__main__":
    try:
        print(notes(sys.argv[1]), end="")
    except ValueError as error:
        sys.exit(f"not a release: {error}")
