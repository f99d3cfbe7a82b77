"""Commands of a page, run where they stand: `elbowroom` inside this process where that is the same, else through bash."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from elbowroom.cli import main

_PROGRAM = "elbowroom"
_SHELL_WORDS = re.compile(r"[|<>&;$`*()]")
_EXIT_CODE = re.compile(r"#.*\bexit code (\d+)")
PATIENCE = 120.0
"""Seconds that a command may take, on a machine that does other things too."""
INTERRUPTED = 130


def commands(text: str) -> list[str]:
    """One command a line, joined over backslashes; comments of their own lines and empty lines left out."""
    lines = text.replace("\\\n", " ").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.strip().startswith("#")]


def expected_code(command: str) -> int:
    """What the command's comment says it exits with, 0 if nothing."""
    said = _EXIT_CODE.search(command)
    return int(said[1]) if said else 0


def run(command: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Runs one command in a folder and returns its exit code; servers are interrupted once they serve."""
    plain = not _SHELL_WORDS.search(command.partition(" #")[0])
    words = shlex.split(command, comments=True)
    if plain and words[0] == _PROGRAM and "--serve" not in words:
        with monkeypatch.context() as patch:
            patch.setattr("elbowroom.ui.PageServer.wait", lambda server: None)  # would wait for an interrupt
            patch.setattr("webbrowser.open", lambda url: True)
            return main(_any_port(words[1:]))
    if plain and words[0] == _PROGRAM and "--port" in words:
        return _serve(_any_port(words[1:]), folder)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder,
        env=_environment(folder),
        stdin=subprocess.DEVNULL,
        timeout=PATIENCE,
        check=False,
    )
    return done.returncode


def _any_port(words: list[str]) -> list[str]:
    """Pages run side by side: a port that a page names is replaced by any free one, and so is the usual one of a page."""
    if "--port" in words:
        words[words.index("--port") + 1] = "0"
    elif words[0] == "view":
        words += ["--port", "0"]
    return words


def _serve(words: list[str], folder: Path) -> int:
    """Starts a server, interrupts it when it says where it is; 0 if it then left as interrupted programs do."""
    line = [sys.executable, "-m", _PROGRAM, *words]
    process = subprocess.Popen(line, cwd=folder, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    watchdog = threading.Timer(PATIENCE, process.kill)
    watchdog.start()
    try:
        heard = []
        for text in process.stderr:
            heard.append(text)
            if "://" in text:
                process.send_signal(signal.SIGINT)
                break
        process.stderr.read()
        code = process.wait()
        sys.stderr.writelines(heard)
    finally:
        watchdog.cancel()
        process.kill()
        process.stderr.close()
    return 0 if code == INTERRUPTED else code


def _environment(folder: Path) -> dict[str, str]:
    """The environment of bash: `elbowroom` and `python` are those of this run."""
    programs = folder / ".programs"
    if not programs.exists():
        programs.mkdir()
        for name, line in (("python", ""), ("python3", ""), (_PROGRAM, f"-m {_PROGRAM}")):
            path = programs / name
            path.write_text(f'#!/bin/sh\nexec "{sys.executable}" {line} "$@"\n')
            path.chmod(0o755)
    return {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
