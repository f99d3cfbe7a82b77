"""Installs what is pinned, by uv where it is there and by pip where it is not (`make` runs this).

    python tools/install.py --no-deps --require-hashes -r constraints/run.txt

The arguments are those of `pip install`, and the environment is that of the Python that runs this. uv does not read
pip's configuration, so what `pip config list` says of indexes, folders of wheels, certificates, proxies and time limits
is passed on in uv's own variables; one that is already set stays as it is. pip looks in all indexes at once and uv in
the first that knows a name: it is told to look in all, which is safe where every file is known by its hash.

pip takes over when uv fails, as it may behind an index that asks for a password in a way that only pip knows. A wrong
hash fails both.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

VARIABLES = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "no-index": "UV_NO_INDEX",
    "trusted-host": "UV_INSECURE_HOST",
    "timeout": "UV_HTTP_TIMEOUT",
    "default-timeout": "UV_HTTP_TIMEOUT",
    "cert": "SSL_CERT_FILE",
    "client-cert": "SSL_CLIENT_CERT",
    "proxy": "ALL_PROXY",
}
"""Setting of pip -> variable that uv reads."""
OLD_NAMES = {"UV_DEFAULT_INDEX": "UV_INDEX_URL", "UV_INDEX": "UV_EXTRA_INDEX_URL"}
"""What a user may have set instead."""
RANKS = {"global": 0, "install": 1, ":env:": 2}
"""Sections of pip's settings, as pip ranks them: a variable counts most, settings for all commands count least."""


def main(words: list[str]) -> int:
    """Installs; returns the exit code."""
    pip = [sys.executable, "-m", "pip"]
    uv = Path(sysconfig.get_path("scripts")) / "uv"
    if uv.is_file():
        listing = subprocess.run([*pip, "config", "list"], capture_output=True, text=True, check=False).stdout
        environment = os.environ | settings_for_uv(listing, os.environ)
        command = [uv, "pip", "install", "--quiet", "--python", sys.executable]
        if not subprocess.run([*command, *words], env=environment, check=False).returncode:
            return 0
        print("uv failed; pip installs instead, which takes longer", flush=True)
    command = [*pip, "install", "--quiet", "--disable-pip-version-check"]
    return subprocess.run([*command, *words], check=False).returncode


def settings_for_uv(listing: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Variables for uv that say what pip is set up with.

    Args:
        listing: what `pip config list` prints, a line like `global.index-url='https://...'` for each setting.
        environment: variables that are set; those stay.
    """
    found: dict[str, tuple[int, str]] = {"UV_INDEX_STRATEGY": (0, "unsafe-best-match")}
    for line in listing.splitlines():
        key, separator, value = line.partition("=")
        section, _, name = key.rpartition(".")
        if separator and section in RANKS and name in VARIABLES:
            variable = VARIABLES[name]
            if RANKS[section] >= found.get(variable, (0, ""))[0]:
                found[variable] = RANKS[section], str(ast.literal_eval(value))
    return {
        # pip parts lists by spaces or lines; uv by spaces, folders of wheels by commas
        variable: ("," if variable == "UV_FIND_LINKS" else " ").join(value.split())
        for variable, (_, value) in found.items()
        if not {variable, OLD_NAMES.get(variable, variable)} & environment.keys()
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
