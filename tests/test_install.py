"""`make` installs by uv with pip's own settings, and by pip where uv is not there or fails."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SPEC = importlib.util.spec_from_file_location("install", ROOT / "tools" / "install.py")
install = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(install)

LISTING = """\
:env:.find-links='/wheels /more wheels'
global.cert='/etc/certificates.pem'
global.extra-index-url='https://a.invalid/simple\\nhttps://b.invalid/simple'
global.index-url='https://mirror.invalid/simple'
install.index-url='https://user:secret@installs.invalid/simple'
list.index-url='https://elsewhere.invalid/simple'
global.quiet='1'
"""


def test_what_pip_is_set_up_with_is_passed_on():
    assert install.settings_for_uv(LISTING, {}) == {
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_DEFAULT_INDEX": "https://user:secret@installs.invalid/simple",
        "UV_INDEX": "https://a.invalid/simple https://b.invalid/simple",
        "UV_FIND_LINKS": "/wheels,/more,wheels",
        "SSL_CERT_FILE": "/etc/certificates.pem",
    }


def test_what_the_user_set_for_uv_stays():
    mine = {
        "UV_INDEX_URL": "https://mine.invalid",
        "SSL_CERT_FILE": "mine.pem",
        "UV_INDEX_STRATEGY": "first-index",
    }
    assert set(install.settings_for_uv(LISTING, mine)) == {"UV_INDEX", "UV_FIND_LINKS"}


def test_the_listing_is_that_of_pip(monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", "https://mirror.invalid/it's/simple")
    command = [sys.executable, "-m", "pip", "config", "list"]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = install.settings_for_uv(listing, {})
    assert found["UV_DEFAULT_INDEX"] == "https://mirror.invalid/it's/simple"


@pytest.mark.parametrize(
    ("uv", "calls", "said"),
    [
        ("works", ["uv"], ""),
        ("fails", ["uv", "pip"], "uv failed; pip installs instead, which takes longer\n"),
        ("absent", ["pip"], ""),
    ],
)
def test_pip_takes_over_where_uv_cannot(uv, calls, said, monkeypatch, tmp_path, capsys):
    if uv != "absent":
        (tmp_path / "uv").write_text("")
    monkeypatch.setattr(install.sysconfig, "get_path", lambda name: str(tmp_path))
    seen = []

    def run(command, **options):
        if command[-2:] != ["config", "list"]:
            seen.append(Path(command[0]).name if Path(command[0]).name == "uv" else command[2])
            assert command[-2:] == ["-r", "pins.txt"]
        return subprocess.CompletedProcess(command, int(seen[-1:] == ["uv"] and uv == "fails"), stdout="")

    monkeypatch.setattr(install.subprocess, "run", run)
    assert install.main(["-r", "pins.txt"]) == 0
    assert seen == calls
    assert capsys.readouterr().out == said


def test_uv_has_one_pin():
    """constraints/uv.txt, which pip reads first, is the entry of constraints/dev.txt."""
    first = (ROOT / "constraints/uv.txt").read_text()
    entry = re.search(r"^uv==.*?sha256:[0-9a-f]+$", first, re.M | re.S)
    assert entry is not None
    assert entry[0] + "\n" in (ROOT / "constraints/dev.txt").read_text()


def test_no_registry_is_written_down():
    for path in [ROOT / "Makefile", ROOT / "tools/install.py", *(ROOT / "constraints").iterdir()]:
        assert not re.search(r"^\s*(-i|--(extra-)?index-url|--find-links)\b", path.read_text(), re.M), path
