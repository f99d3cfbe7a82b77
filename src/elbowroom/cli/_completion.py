"""Print a script with which a shell completes elbowroom's verbs, options and values.

The script is complete in itself: completing starts no Python. Make it anew after an update.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Annotated, Literal

import tyro

from ._common import print_json
from ._options import OTHER_FLAGS, Argument, arguments_of

EXAMPLES = {
    "elbowroom completion bash > ~/.elbowroom.bash": "then add `source ~/.elbowroom.bash` to ~/.bashrc",
    "elbowroom completion zsh > ~/.elbowroom.zsh": "then add `source ~/.elbowroom.zsh` to ~/.zshrc",
    "elbowroom completion fish > ~/.config/fish/completions/elbowroom.fish": "fish finds it by itself",
}


@dataclass(frozen=True)
class Options:
    """Arguments of `elbowroom completion`."""

    shell: Annotated[Literal["bash", "zsh", "fish"], tyro.conf.Positional]
    """The shell."""
    json: bool = False
    """Print the script as JSON."""


def run(options: Options) -> int:
    """Prints the script."""
    script = {"bash": _bash, "zsh": _zsh, "fish": _fish}[options.shell]()
    if options.json:
        print_json({"shell": options.shell, "script": script})
    else:
        print(script)
    return 0


def _verbs() -> dict[str, tuple[str, tuple[Argument, ...]]]:
    """Verb -> its line of help and its arguments."""
    from . import VERBS

    modules = {verb: importlib.import_module(f"._{verb}", __package__) for verb in VERBS}
    return {verb: (VERBS[verb], arguments_of(module.Options)) for verb, module in modules.items()}


def _flags(argument: Argument) -> list[str]:
    """All that is typed for an argument; nothing for a positional one."""
    if argument.positional:
        return []
    other = OTHER_FLAGS.get(argument.name)
    negated = [argument.flag.replace("--", "--no-", 1)] if argument.default is True else []
    return [argument.flag, *([other] if other else []), *negated]


def _robots() -> list[str]:
    """Robots that need no network."""
    from ..robot import catalogue

    return [entry.name for entry in catalogue() if entry.origin != "robot_descriptions"]


def _words(arguments: tuple[Argument, ...]) -> str:
    """What may come anywhere: flags, and the values of positional arguments."""
    found = [flag for argument in arguments for flag in _flags(argument)]
    for argument in arguments:
        if argument.positional:
            found += _robots() if argument.name == "robot" else argument.choices
    return " ".join(["--help", *found])


def _bash() -> str:
    verbs = _verbs()
    cases: list[str] = []
    for verb, (_, arguments) in verbs.items():
        for argument in arguments:
            if argument.choices and not argument.positional:
                keys = "|".join(f"{verb}:{flag}" for flag in _flags(argument))
                cases.append(f'    {keys}) words="{" ".join(argument.choices)}" files=no ;;')
        cases.append(f'    {verb}:*) words="{_words(arguments)}" ;;')
    return "\n".join(
        [
            "# Completion of elbowroom for bash.",
            "_elbowroom() {",
            '  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" words="" files=yes',
            "  if (( COMP_CWORD == 1 )); then",
            f'    COMPREPLY=($(compgen -W "{" ".join(verbs)} --help --version" -- "$word")); return',
            "  fi",
            '  case "${COMP_WORDS[1]}:$before" in',
            *cases,
            "  esac",
            '  COMPREPLY=($(compgen -W "$words" -- "$word"))',
            '  [[ $files == no || "$word" == -* ]] || COMPREPLY+=($(compgen -f -- "$word"))',
            "}",
            "complete -o filenames -F _elbowroom elbowroom",
        ]
    )


def _zsh() -> str:
    return "\n".join(
        [
            "# Completion of elbowroom for zsh.",
            "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }",
            "autoload -Uz bashcompinit && bashcompinit",
            _bash(),
        ]
    )


def _fish() -> str:
    def quoted(text: str) -> str:
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    verbs = _verbs()
    lines = ["# Completion of elbowroom for fish."]
    for verb, (text, arguments) in verbs.items():
        lines.append(f"complete -c elbowroom -n __fish_use_subcommand -f -a {verb} -d {quoted(text)}")
        here = f"complete -c elbowroom -n '__fish_seen_subcommand_from {verb}'"
        for argument in arguments:
            text = quoted(argument.help.split(". ")[0].split("; ")[0])
            choices = f" -f -r -a {quoted(' '.join(argument.choices))}" if argument.choices else ""
            for flag in _flags(argument):
                kind = f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}"
                lines.append(f"{here} {kind} -d {text}{choices or (' -r' if argument.metavar else '')}")
            if argument.positional and (argument.choices or argument.name == "robot"):
                lines.append(f"{here} -a {quoted(' '.join(argument.choices or _robots()))}")
    return "\n".join(lines)
