"""From a verb's `Options` dataclass to its arguments: parsing, help and what is refused.

A verb writes a frozen dataclass with a docstring under each field. A field may be the options of an algorithm, such as
`FitOptions`, with `Shared(...)` naming those of its fields that are arguments: their types, defaults and help texts are
those of the algorithm and are written nowhere else. Fields with `tyro.conf.Positional` come without a flag.

A verb module may also define `EXAMPLES` (command -> what it does), shown in its help, and `NO_EFFECT`, the combinations
in which an option would be ignored, which are refused instead.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import math
import textwrap
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import tyro

from .._files import is_stdout
from ..errors import InputError

OTHER_FLAGS = {"n_spheres": "-n", "default_cfgs": "--pose"}
"""Shorter names of options."""
METAVARS = {
    "robot": "ROBOT",
    "package_dirs": "DIR",
    "per_link": "LINK NUMBER",
    "ignore": "LINK LINK",
    "allow": "LINK OBSTACLE",
    "check": "LINK LINK",
    "base_link": "LINK",
    "ee_link": "LINK",
    "lock": "JOINT[=NUMBER]",
}
"""By name, where the type does not tell."""
METAVAR_OF_TYPE = {Path: "FILE", str: "NAME", int: "NUMBER", float: "NUMBER"}


@dataclasses.dataclass(frozen=True)
class Shared:
    """Mark of a field that holds the options of an algorithm: the names of those that are arguments."""

    names: tuple[str, ...]

    def __init__(self, *names: str) -> None:
        object.__setattr__(self, "names", names)


@dataclasses.dataclass(frozen=True)
class NoEffect:
    """Options that change nothing under a condition, and are refused then."""

    options: tuple[str, ...]
    """Names of fields."""
    when: Callable[[Any], bool]
    """Told the parsed options."""
    because: str
    """Why, and what to do."""


@dataclasses.dataclass(frozen=True)
class Argument:
    """One argument of a verb."""

    name: str
    type: Any
    """Without marks."""
    marks: tuple[Any, ...]
    default: Any
    """`dataclasses.MISSING` when it must be given."""
    help: str
    group: str = ""
    """Field of `Options` that holds it, if it is one of an algorithm."""

    @property
    def flag(self) -> str:
        """As it is typed."""
        return "--" + self.name.replace("_", "-")

    @property
    def positional(self) -> bool:
        """Whether it is given without its flag."""
        return tyro.conf.Positional in self.marks

    @property
    def inner(self) -> Any:
        """Type without None."""
        parts = [part for part in get_args(self.type) if part is not type(None)]
        is_union = get_origin(self.type) in (Union, types.UnionType)
        return parts[0] if is_union and len(parts) < len(get_args(self.type)) else self.type

    @property
    def choices(self) -> tuple[str, ...]:
        """The words it takes, if they are few."""
        return tuple(map(str, get_args(self.inner))) if get_origin(self.inner) is Literal else ()

    @property
    def metavar(self) -> str | None:
        """What stands for its value in the help; None for flags and choices."""
        kind, several = self.inner, ""
        if get_origin(kind) is tuple:
            kind, several = get_args(kind)[0], " ..."
        if kind is bool or get_origin(kind) is Literal:
            return None
        if get_origin(kind) is Mapping:
            several = " ..."
        own = next((mark.metavar for mark in self.marks if getattr(mark, "metavar", None)), None)
        return own or METAVARS.get(self.name, METAVAR_OF_TYPE.get(kind, "VALUE")) + several

    def annotation(self) -> Any:
        """The type with everything that tyro is to know."""
        other = OTHER_FLAGS.get(self.name)
        needed = self.default is dataclasses.MISSING
        bare = self.default is None or self.default is False or self.default in ((), "")
        hint: dict[str, Any] = {}
        if needed or bare:
            hint["help_behavior_hint"] = "(required)" if needed else ""
        told = tyro.conf.arg(
            metavar=self.metavar, help=self.help, aliases=(other,) if other else None, **hint
        )
        one_way = (tyro.conf.FlagCreatePairsOff,) if self.default is False else ()
        return Annotated[(self.type, *self.marks, *one_way, told)]


@cache
def arguments_of(options: type) -> tuple[Argument, ...]:
    """All arguments of a verb, those of algorithms in their place."""
    return tuple(_arguments(options))


def _arguments(options: type) -> Iterator[Argument]:
    hints, helps = get_type_hints(options, include_extras=True), field_texts(options)
    for field in dataclasses.fields(options):
        kind, marks = _parted(hints[field.name])
        shared = next((mark for mark in marks if isinstance(mark, Shared)), None)
        if shared is None:
            default = field.default
            if field.default_factory is not dataclasses.MISSING:
                default = field.default_factory()
            yield Argument(field.name, kind, marks, default, helps[field.name])
            continue
        inner = {argument.name: argument for argument in arguments_of(kind)}
        for name in shared.names:
            yield dataclasses.replace(inner[name], group=field.name, type=_typed(inner[name].type))


def _typed(kind: Any) -> Any:
    """What can be typed, of a type that Python code may also give otherwise: the first of several, or names."""
    parts = get_args(kind)
    if get_origin(kind) in (Union, types.UnionType) and type(None) not in parts:
        return parts[0]
    if get_origin(kind) is Sequence:
        return tuple[str if parts[0] is Any else parts[0], ...]  # pyright: ignore[reportInvalidTypeArguments]
    return kind


def _parted(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """Type and marks of an annotation."""
    if get_origin(hint) is Annotated:
        kind, *marks = get_args(hint)
        return kind, tuple(marks)
    return hint, ()


def field_texts(options: type) -> dict[str, str]:
    """The docstring under each field of a dataclass, its bases included."""
    found: dict[str, str] = {}
    for base in reversed(options.__mro__):
        if not dataclasses.is_dataclass(base):
            continue
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(base))).body
        body: list[ast.stmt] = getattr(tree, "body", [])
        for line, after in pairwise(body):
            if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
                text = after.value if isinstance(after, ast.Expr) else None
                if isinstance(text, ast.Constant) and isinstance(text.value, str):
                    found[line.target.id] = " ".join(text.value.replace("`", "").split())
    return found


def flat(arguments: Sequence[Argument]) -> type:
    """All arguments of a verb as the fields of one dataclass, which tyro parses."""
    return dataclasses.make_dataclass(
        "Arguments",
        [
            (argument.name, argument.annotation())
            if argument.default is dataclasses.MISSING
            else (argument.name, argument.annotation(), dataclasses.field(default=argument.default))
            for argument in arguments
        ],
        kw_only=True,  # what must be given may come after what need not
    )


def parse(module: Any, words: Sequence[str], prog: str) -> Any:
    """The verb's options from the words of the command line.

    Raises:
        InputError: a value is empty or not finite, or an option would have no effect.
        SystemExit: tyro has printed help, or what is wrong with the words.
    """
    for word in words:
        if word == "" or (word.startswith("--") and word.endswith("=")):
            raise InputError(f"an argument is empty{f': {word}' if word else ''}")
    arguments = arguments_of(module.Options)
    parsed = tyro.cli(
        flat(arguments),
        args=_merged(words, arguments),
        prog=prog,
        description=description(module),
        config=(tyro.conf.DisallowNone,),
    )
    values = {argument.name: getattr(parsed, argument.name) for argument in arguments}
    given = _given(words, arguments)
    for argument in arguments:
        _check_value(argument, values[argument.name], argument.name in given)
        if (
            values.get("json")
            and isinstance(values[argument.name], Path)
            and is_stdout(values[argument.name])
        ):
            raise InputError(f"{argument.flag} and --json cannot both go to standard output")
    options = _assembled(module.Options, arguments, values)
    for rule in getattr(module, "NO_EFFECT", ()):
        idle = [name for name in rule.options if name in given]
        if idle and rule.when(options):
            flag = "--" + idle[0].replace("_", "-")
            raise InputError(f"{flag} has no effect here: {rule.because}")
    return options


def description(module: Any) -> str:
    """The verb's text, with its examples."""
    lines = [inspect.cleandoc(module.__doc__ or "")]
    examples: Mapping[str, str] = getattr(module, "EXAMPLES", {})
    if examples:
        lines += ["", "Examples:" if len(examples) > 1 else "Example:"]
        lines += [line for command, text in examples.items() for line in (f"  {command}", f"      {text}")]
    return "\n".join(lines)


def _merged(words: Sequence[str], arguments: Sequence[Argument]) -> list[str]:
    """The words with all values of an option that takes several behind its first flag; of others the last counts."""
    several = {argument.flag for argument in arguments if get_origin(argument.inner) in (tuple, Mapping)}
    short = {flag for name, flag in OTHER_FLAGS.items() if any(a.name == name for a in arguments)}
    target: list[str] = []
    groups, first = [target], dict[str, list[str]]()
    for word in words:
        if word in first:
            target = first[word]
            continue
        if word.startswith("--") or word in short:
            target = []
            groups.append(target)
        if word in several:
            first[word] = target
        target.append(word)
    return [word for group in groups for word in group]


def _given(words: Sequence[str], arguments: Sequence[Argument]) -> set[str]:
    """Names of the options that were typed."""
    names = {argument.name for argument in arguments}
    short = {flag: name for name, flag in OTHER_FLAGS.items() if name in names}
    found: set[str] = set()
    for word in words:
        flag = word.split("=", 1)[0]
        if flag in short:
            found.add(short[flag])
        elif flag.startswith("--"):
            name = flag[2:].replace("-", "_")
            found.add(name if name in names else name.removeprefix("no_"))
    return found


def _check_value(argument: Argument, value: Any, given: bool) -> None:
    if argument.name in ("seed", "buffer") and value < 0:
        raise InputError(f"{argument.flag}: expected a number from 0 up, found {value}")
    for number in value if isinstance(value, tuple) else (value,):
        if isinstance(number, float) and not math.isfinite(number):
            raise InputError(f"{argument.flag}: expected a finite number, found {number}")
    if given and not argument.default and isinstance(value, (tuple, Mapping)) and not value:
        raise InputError(f"{argument.flag}: expected at least one value, found none")


def _assembled(options: type, arguments: Sequence[Argument], values: Mapping[str, Any]) -> Any:
    """The verb's options, those of algorithms made of their own arguments."""
    parts: dict[str, dict[str, Any]] = {}
    plain: dict[str, Any] = {}
    for argument in arguments:
        place = parts.setdefault(argument.group, {}) if argument.group else plain
        place[argument.name] = values[argument.name]
    hints = get_type_hints(options, include_extras=True)
    groups = {name: _parted(hints[name])[0](**fields) for name, fields in parts.items()}
    return options(**plain, **groups)
