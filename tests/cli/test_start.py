"""What a command loads before it answers: named modules, for seconds depend on the machine."""

from __future__ import annotations

import subprocess
import sys

import pytest

ALWAYS = {
    "jax",
    "mujoco",
    "viser",
    "matplotlib",
    "joblib",
    "websockets",
    "ruamel",
    "dask",
    "scipy.stats",
}
"""What only some verbs need."""
SHAPES = {"scipy", "networkx", "trimesh", "yourdfpy"}
"""What reads meshes that are not kept, hulls and graphs; hundreds of modules."""
NUMBERS = {"numpy", "tyro", "rich", "jaxtyping", "lxml"}
"""What every verb needs, and a list of the verbs does not."""
RUN = "import sys; from elbowroom.cli import main; main(sys.argv[1:])"


def loaded(code: str, *words: str) -> set[str]:
    """Modules, and the folders they are in, that are there when a program has run."""
    told = "\nimport sys; print('\\nloaded', *sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code + told, *words], capture_output=True, text=True, check=True, timeout=300
    )
    names = done.stdout.rsplit("\nloaded ", 1)[1].split()
    return {".".join(name.split(".")[:k]) for name in names for k in (1, 2)}


def test_importing_the_package_loads_nothing_heavy():
    assert not loaded("import elbowroom") & (ALWAYS | SHAPES | NUMBERS)


@pytest.mark.parametrize("word", ["--help", "--version"])
def test_a_list_of_the_verbs_loads_nothing_heavy(word):
    assert not loaded(RUN, word) & (ALWAYS | SHAPES | NUMBERS)


@pytest.mark.parametrize("words", ["check --help", "check teaarm --named arms_forward --json"])
def test_a_check_loads_what_it_needs(words):
    assert not loaded(RUN, *words.split()) & ALWAYS
