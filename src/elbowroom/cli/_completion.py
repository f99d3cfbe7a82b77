"""Print a script for shell completion of verbs, options and values; tyro writes it.

Run it again after an update.
"""

from __future__ import annotations

import importlib
import io
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from typing import Annotated, Literal

import tyro

from ._common import print_json
from ._options import arguments_of, flat

EXAMPLES = {
    "elbowroom completion bash > ~/.elbowroom.bash": "then add `source ~/.elbowroom.bash` to ~/.bashrc",
    "elbowroom completion zsh > ~/.elbowroom.zsh": "then add `source ~/.elbowroom.zsh` to ~/.zshrc",
    "elbowroom completion fish > ~/.config/fish/completions/elbowroom.fish": "fish finds it by itself",
}

FILES = "complete -o default -F _tyro_elbowroom elbowroom"
"""Where tyro knows no word, bash completes names of files."""


@dataclass(frozen=True)
class Options:
    """Arguments of `elbowroom completion`."""

    shell: Annotated[Literal["bash", "zsh", "fish"], tyro.conf.Positional]
    """The shell."""
    json: bool = False
    """Print the script as JSON."""


def run(options: Options) -> int:
    """Prints the script."""
    script = _script(options.shell)
    if options.json:
        print_json({"shell": options.shell, "script": script})
    else:
        print(script)
    return 0


def _script(shell: str) -> str:
    """What tyro prints for a command line with all verbs; it ends the process when it has printed."""
    from . import VERBS

    verbs = {
        verb: flat(arguments_of(importlib.import_module(f"._{verb}", __package__).Options)) for verb in VERBS
    }
    printed = io.StringIO()
    with redirect_stdout(printed), suppress(SystemExit):
        tyro.extras.subcommand_cli_from_dict(
            verbs,
            prog="elbowroom",
            args=["--tyro-print-completion", shell],
            config=(tyro.conf.DisallowNone,),
        )
    script = printed.getvalue().rstrip("\n")
    return f"{script}\n{FILES}" if shell == "bash" else script
