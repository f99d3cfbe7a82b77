"""The checker starts without JAX."""

from __future__ import annotations

import subprocess
import sys


def test_the_checker_needs_no_jax():
    code = "import sys, elbowroom.distance, elbowroom.pairs; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
