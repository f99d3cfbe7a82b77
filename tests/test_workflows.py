"""The workflows cannot run here; what can be known of them without running is held to account."""

from __future__ import annotations

import re
import shutil
import subprocess
import sysconfig
import tomllib
from pathlib import Path

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parent.parent
GITHUB = ROOT / ".github"
WORKFLOWS = sorted(GITHUB.glob("workflows/*.yml"))
PINNED = re.compile(r"uses: [\w./-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+$")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

pytestmark = pytest.mark.skipif(not GITHUB.is_dir(), reason="an sdist has no workflows")


def jobs(path: Path) -> dict:
    return YAML(typ="safe").load(path)["jobs"]


def commands(path: Path) -> list[str]:
    """Every line that a workflow has a shell run."""
    steps = [step for job in jobs(path).values() for step in job.get("steps", ())]
    return [line for step in steps for line in step.get("run", "").splitlines()]


def tool(name: str) -> str | None:
    return shutil.which(name, path=sysconfig.get_path("scripts")) or shutil.which(name)


def test_there_are_workflows_for_what_is_promised():
    names = {path.stem for path in WORKFLOWS}
    assert names >= {"tests", "dependencies", "docs", "wheel", "benchmarks", "changelog", "release"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_what_is_called_exists(path):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    for line in commands(path):
        words = line.split()
        if words[:1] == ["make"]:
            asked = {word for word in words[1:] if "=" not in word}
            assert asked <= targets, f"{path.name}: no make target {sorted(asked - targets)}"
        for name in re.findall(r"(?:^|\s)((?:tools|\.ci)/[\w./]+)", line):
            assert (ROOT / name).is_file(), f"{path.name}: no file {name}"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_foreign_actions_are_pinned_and_nothing_may_do_more_than_it_needs(path):
    text = path.read_text()
    for line in re.findall(r"uses: .*", text):
        assert PINNED.search(line) or line.startswith("uses: ./"), (
            f"{path.name}: {line} is not pinned by commit"
        )
    assert YAML(typ="safe").load(path)["permissions"] == {}
    for name, job in jobs(path).items():
        assert "permissions" in job, f"{path.name}: {name} does not say what it may"
        for step in job.get("steps", ()):
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False


def test_pythons_are_those_of_the_classifiers():
    named = [text.split(" :: ")[-1] for text in PROJECT["classifiers"] if ":: Python :: 3." in text]
    assert PROJECT["requires-python"] == f">={named[0]}"
    tested = jobs(GITHUB / "workflows/tests.yml")["newest"]["strategy"]["matrix"]
    assert tested["python"] == named
    assert [name.split("-")[0] for name in tested["system"]] == ["ubuntu", "macos", "windows"]
    wheel = jobs(GITHUB / "workflows/wheel.yml")
    assert wheel["try"]["strategy"]["matrix"]["python"] == named


def test_wheels_are_built_for_every_system_and_python():
    """One for the oldest Python; from 3.12 on the stable ABI serves all later ones."""
    systems = jobs(GITHUB / "workflows/wheel.yml")["wheel"]["strategy"]["matrix"]["system"]
    assert {name.split("-")[0] for name in systems} == {"ubuntu", "macos", "windows"}
    assert any(name.endswith("-arm") for name in systems)
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    assert settings["scikit-build"]["wheel"]["py-api"] == "cp312"
    assert settings["cibuildwheel"]["build"] == ["cp311-*", "cp312-*"]
    assert settings["cibuildwheel"]["windows"]["environment"]["CXX"] == "clang-cl"


def test_publishing_is_by_trust_alone():
    """Only the job that publishes may prove who it is, in an environment of its own, and no secret is stored."""
    release = jobs(GITHUB / "workflows/release.yml")
    assert release["pypi"]["permissions"] == {"id-token": "write"}
    assert release["pypi"]["environment"] == "pypi"
    for path in WORKFLOWS:
        assert "secrets." not in path.read_text(), path.name
        for name, job in jobs(path).items():
            assert name == "pypi" or "id-token" not in job["permissions"]


@pytest.mark.skipif(tool("zizmor") is None, reason="zizmor is not installed")
def test_zizmor_finds_nothing():
    call = [tool("zizmor"), "--offline", "--persona", "pedantic", "--no-progress", str(GITHUB)]
    done = subprocess.run(call, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(tool("actionlint") is None, reason="actionlint is not installed")
def test_actionlint_finds_nothing():
    done = subprocess.run([tool("actionlint"), *map(str, WORKFLOWS)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
