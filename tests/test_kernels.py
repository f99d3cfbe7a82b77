"""Compiled kernels: when they are found, when they are refused, what is compiled once, what a wait says."""

from __future__ import annotations

import json
import logging
import subprocess
import sys

import numba
import numpy as np
import pytest
from llvmlite import binding

from elbowroom import _kernel_cache, _progress
from elbowroom._jit import njit
from elbowroom._kernel_cache import NEEDED, SHIPPED_CPU, source_stamp

RUN = """
import json, sys
from pathlib import Path
from elbowroom import _kernel_cache
_kernel_cache.PACKAGE = Path(sys.argv[1])
_kernel_cache.SHIPPED = Path(sys.argv[2])
sys.path.insert(0, str(Path(sys.argv[1]).parent))
from thing import outer
answer = outer.twice_and_one(3.0)
stats = outer.twice_and_one.stats
print(json.dumps([answer, sum(stats.cache_hits.values()), sum(stats.cache_misses.values())]))
"""


@pytest.fixture
def package(tmp_path):
    """A package of two modules, one kernel each; the outer one calls the inner one."""
    folder = tmp_path / "here" / "thing"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    head = "from elbowroom._jit import njit\n"
    (folder / "inner.py").write_text(f"{head}@njit()\ndef twice(x):\n    return 2.0 * x\n")
    (folder / "outer.py").write_text(
        f"{head}from .inner import twice\n@njit()\ndef twice_and_one(x):\n    return twice(x) + 1.0\n"
    )
    return folder


def run(package, cache, shipped, **environment):
    """Answer, cache hits and misses of the outer kernel in a new process."""
    import os

    clean = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA")}
    call = [sys.executable, "-c", RUN, str(package), str(shipped)]
    done = subprocess.run(
        call, capture_output=True, text=True, env={**clean, "NUMBA_CACHE_DIR": str(cache), **environment}
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_shipped_kernels_are_used_elsewhere_and_refused_when_a_source_changed(package, tmp_path):
    features = binding.get_host_cpu_features()
    if not all(features.get(name) for name in NEEDED):
        pytest.skip("this machine cannot run the shipped kernels")
    built, none = tmp_path / "built", tmp_path / "none"
    assert run(package, built, none, NUMBA_CPU_NAME=SHIPPED_CPU, NUMBA_CPU_FEATURES="") == [7.0, 0, 1]
    elsewhere = package.parent.rename(tmp_path / "there") / "thing"
    shipped = built / "elbowroom"
    assert run(elsewhere, tmp_path / "new", shipped) == [7.0, 1, 0]
    assert not list((tmp_path / "new").rglob("*.nbc"))
    # What the outer kernel inlined has changed, in a file of its own: numba alone would not notice.
    inner = elsewhere / "inner.py"
    inner.write_text(inner.read_text().replace("2.0", "5.0"))
    assert run(elsewhere, tmp_path / "new", shipped) == [16.0, 0, 1]
    assert run(elsewhere, tmp_path / "new", shipped) == [16.0, 1, 0]


def test_a_cpu_set_for_numba_is_respected(monkeypatch, tmp_path):
    monkeypatch.setattr(_kernel_cache, "SHIPPED", tmp_path)
    monkeypatch.setattr(numba.config, "CPU_NAME", "generic")
    assert not _kernel_cache.runs_shipped.__wrapped__()


def test_a_machine_without_the_instructions_compiles(monkeypatch, tmp_path):
    monkeypatch.setattr(_kernel_cache, "SHIPPED", tmp_path)
    monkeypatch.setattr(numba.config, "CPU_NAME", None)
    host = dict.fromkeys(NEEDED, True)
    monkeypatch.setattr(binding, "get_host_cpu_features", lambda: host)
    assert _kernel_cache.runs_shipped.__wrapped__()
    host["avx2"] = False
    assert not _kernel_cache.runs_shipped.__wrapped__()


def test_stamp_covers_imports_and_llvmlite_but_no_paths(monkeypatch, package, tmp_path):
    def stamp():
        return source_stamp.__wrapped__(package / "outer.py")

    monkeypatch.setattr(_kernel_cache, "PACKAGE", package)
    first = stamp()
    monkeypatch.setattr(_kernel_cache.llvmlite, "__version__", "0.0.0")
    assert stamp() != first
    monkeypatch.undo()
    monkeypatch.setattr(_kernel_cache, "PACKAGE", package)
    (package / "inner.py").write_text((package / "inner.py").read_text() + "\n")
    assert stamp() != first


def test_constants_do_not_make_specialisations():
    @njit(cache=False)
    def add(values, at):
        return values[at] + at

    @njit(cache=False)
    def both(values):
        return add(values, 0) + add(values, 1) + add(values, len(values) - 1)

    assert both(np.array([1.0, 2.0, 3.0])) == 9.0
    assert len(add.signatures) == 1


def test_collector_is_left_as_it_was():
    import gc

    @njit(cache=False)
    def half(x):
        return 0.5 * x

    gc.disable()
    try:
        half(1.0)
        assert not gc.isenabled()
    finally:
        gc.enable()
    half(1)
    assert gc.isenabled()


def test_the_users_numba_is_left_alone():
    @numba.njit
    def own(x):
        return x + 1

    assert own(1) == 2
    assert type(own).__module__.startswith("numba")
    assert numba.config.CPU_NAME is None


def test_many_short_waits_are_announced_once(caplog):
    wait = _progress.Wait("grinding")
    with caplog.at_level(logging.INFO, "elbowroom.progress"):
        wait.report(0.9 * _progress.PATIENCE)
        assert caplog.messages == []
        wait.report(0.9 * _progress.PATIENCE)
        wait.report(9.0 * _progress.PATIENCE)
    assert caplog.messages == ["grinding ..."]


def test_one_long_wait_is_announced_and_a_short_one_is_not(caplog, monkeypatch):
    import time

    monkeypatch.setattr(_progress, "PATIENCE", 0.2)
    with caplog.at_level(logging.INFO, "elbowroom.progress"):
        with _progress.waiting("short"):
            pass
        with _progress.waiting("long"):
            time.sleep(1.0)
    assert caplog.messages == ["long ..."]


def test_an_index_of_classes_that_are_gone_holds_nothing(tmp_path, monkeypatch):
    index = _kernel_cache._Index(str(tmp_path), "kernel", "stamp")
    module = type(sys)("gone_module")
    module.Gone = type("Gone", (tuple,), {"__module__": "gone_module"})
    monkeypatch.setitem(sys.modules, "gone_module", module)
    index._save_index({module.Gone: "kernel.1.nbc"})
    assert index._load_index() == {module.Gone: "kernel.1.nbc"}
    monkeypatch.delattr(module, "Gone")
    assert index._load_index() == {}
    monkeypatch.delitem(sys.modules, "gone_module")
    assert index._load_index() == {}
