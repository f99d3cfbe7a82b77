"""A tag becomes a release only if everything names one version."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

import elbowroom

ROOT = Path(__file__).parent.parent
SPEC = importlib.util.spec_from_file_location("release_notes", ROOT / "tools" / "release_notes.py")
release_notes = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(release_notes)


@pytest.fixture
def project(tmp_path):
    """What a release is read from, at version 1.2.0 after 1.1.0."""
    (tmp_path / "src/elbowroom").mkdir(parents=True)
    (tmp_path / "src/elbowroom/_version.py").write_text('__version__ = "1.2.0"\n')
    (tmp_path / "CITATION.cff").write_text("cff-version: 1.2.0\nversion: 1.2.0\n")
    (tmp_path / "CHANGELOG.md").write_text(
        "# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2030-01-31\n\n### Added\n- New.\n\n"
        "## [1.1.0] - 2029-01-31\n\n### Added\n- Old.\n"
    )
    return tmp_path


def test_notes_are_the_section_of_the_tag(project):
    assert release_notes.notes("v1.2.0", project) == "### Added\n- New.\n"


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("src/elbowroom/_version.py", '__version__ = "1.3.0"\n', "the package is 1.3.0"),
        ("CITATION.cff", "version: 1.1.0\n", "cites 1.1.0"),
        ("CHANGELOG.md", "## [Unreleased]\n- New.\n", "CHANGELOG.md has no text"),
        ("CHANGELOG.md", "## [1.2.0] - soon\n- New.\n", "CHANGELOG.md has no text"),
        ("CHANGELOG.md", "## [1.2.0] - 2030-01-31\n\n## [1.1.0] - 2029-01-31\n- Old.\n", "has no text"),
    ],
)
def test_what_disagrees_is_said(project, file, text, expected):
    (project / file).write_text(text)
    with pytest.raises(ValueError, match=expected):
        release_notes.notes("v1.2.0", project)


def test_the_citation_names_this_version():
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.M)
    assert cited is not None
    assert cited[1] == elbowroom.__version__
