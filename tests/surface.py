"""The public surface as its sources say it: what a folder lists, what type checkers see, what is lazy, who uses it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True)
class Surface:
    """What the `__init__.py` of one folder says of its names."""

    listed: tuple[str, ...]
    """`__all__`, in its order."""
    at_once: dict[str, str]
    """Names that are there after the import, and the module each comes from (dots as written; "" if defined here)."""
    typed: dict[str, str]
    """The same for names imported for type checkers alone."""
    lazy: dict[str, str]
    """The table of `__getattr__`: name -> module."""
    borrowed: frozenset[str]
    """Names of other packages, which type checkers take for private."""

    @classmethod
    def of(cls, text: str) -> Surface:
        """Reads the text of an `__init__.py`."""
        listed, at_once, typed, lazy, borrowed = (), {}, {}, {}, set()
        for node in ast.parse(text).body:
            if isinstance(node, ast.If):  # TYPE_CHECKING
                typed |= {n: home for entry in node.body for n, home in _exports(entry)}
                continue
            at_once |= dict(_exports(node))
            if isinstance(node, ast.ImportFrom | ast.Import) and not getattr(node, "level", 0):
                borrowed |= {alias.asname or alias.name for alias in node.names}
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                if node.targets[0].id == "__all__":
                    listed = tuple(ast.literal_eval(node.value))
                elif isinstance(node.value, ast.Dict) and node.targets[0].id.startswith("_"):
                    lazy = ast.literal_eval(node.value)
        return cls(listed, at_once, typed, lazy, frozenset(borrowed))

    def faults(self) -> list[str]:
        """Where list, imports and table disagree; empty when they do not."""
        seen = {**self.at_once, **self.typed}
        found = [f"{name} is listed twice" for name in set(self.listed) if self.listed.count(name) > 1]
        found += [f"{name} is listed and not there" for name in self.listed if name not in seen]
        found += [f"{name} is there and not listed" for name in seen if name not in self.listed]
        found += [f"{name} is for type checkers alone" for name in self.typed if name not in self.lazy]
        found += [f"{name} is hidden from type checkers" for name in self.lazy if name not in self.typed]
        homes = {name: home.lstrip(".") for name, home in self.typed.items()}
        found += [
            f"{name} is in {home}, type checkers look in {homes[name]}"
            for name, home in self.lazy.items()
            if homes.get(name, home) != home
        ]
        return found


def is_public(name: str) -> bool:
    """Whether a name is meant for users."""
    return not name.startswith("_") or name == "__version__"


def _exports(node: ast.stmt) -> Iterator[tuple[str, str]]:
    """Public names that a statement of an `__init__.py` makes, and the module they come from."""
    if isinstance(node, ast.ImportFrom) and node.level:
        for alias in node.names:
            if is_public(alias.asname or alias.name):
                yield alias.asname or alias.name, "." * node.level + (node.module or "")
    elif isinstance(node, ast.FunctionDef | ast.ClassDef) and is_public(node.name):
        yield node.name, ""
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            if isinstance(target, ast.Name) and is_public(target.id):
                yield target.id, ""


@dataclass(frozen=True)
class Definition:
    """The statement that defines a name."""

    module: Path
    node: ast.stmt
    speaks: bool
    """Whether it has a docstring."""

    def family(self) -> list[Definition]:
        """Itself and, of a class, the classes of this package that it inherits from."""
        found = [self]
        for base in self.node.bases if isinstance(self.node, ast.ClassDef) else ():
            with suppress(LookupError):  # a class of another package
                found += definition(self.module, ast.unparse(base)).family()
        return found

    def undocumented(self) -> list[str]:
        """Public methods and properties that say nothing of themselves."""
        return [
            f"{self.node.name}.{entry.name}"
            for entry in getattr(self.node, "body", ())
            if isinstance(self.node, ast.ClassDef) and isinstance(entry, ast.FunctionDef)
            if is_public(entry.name) and ast.get_docstring(entry) is None
        ]  # fmt: skip

    def handed_out(self) -> set[str]:
        """Names in what a function returns, what an alias stands for, what fields and methods of a class give."""
        if isinstance(self.node, ast.FunctionDef):
            return _words(self.node.returns)
        if isinstance(self.node, ast.Assign):
            return _words(self.node.value)
        found: set[str] = set()
        for entry in ast.walk(self.node):  # fields, and attributes that methods set
            if isinstance(entry, ast.FunctionDef) and is_public(entry.name):
                found |= _words(entry.returns)
            elif isinstance(entry, ast.AnnAssign):
                target = entry.target
                name = target.attr if isinstance(target, ast.Attribute) else ast.unparse(target)
                found |= _words(entry.annotation) if is_public(name) else set()
        return found


@cache
def _body(module: Path) -> list[ast.stmt]:
    return ast.parse(module.read_text(encoding="utf-8")).body


def definition(module: Path, name: str) -> Definition:
    """Where a name is defined.

    Args:
        module: the file to look in; relative imports are followed from there.
        name: what to look for.

    Raises:
        LookupError: it is not defined there.
    """
    body = _body(module)
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name:
            return Definition(module, node, ast.get_docstring(node) is not None)
        if name in dict(_exports(node)) and not isinstance(node, ast.ImportFrom):
            told = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            return Definition(module, node, told)
    for node in ast.walk(ast.Module(body, [])):
        if isinstance(node, ast.ImportFrom) and node.level:
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    home = module.parents[node.level - 1].joinpath(*(node.module or "").split("."))
                    file = home.with_suffix(".py")
                    return definition(file if file.is_file() else home / "__init__.py", alias.name)
    raise LookupError(f"{module}: no {name}")


def _words(node: ast.expr | None) -> set[str]:
    return set(re.findall(r"\w+", ast.unparse(node))) if node is not None else set()


def used_names(code: str, folders: Iterable[str]) -> set[str]:
    """Names of the package that Python code uses: "mesh.collide" of a folder, "load_robot" of the top."""
    found: set[str] = set()
    known = set(folders)
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "elbowroom":
            inner = [part for part in (node.module or "").split(".")[1:] if not part.startswith("_")]
            found |= {".".join([*inner, alias.name]) for alias in node.names}
        elif isinstance(node, ast.Attribute):
            path = ast.unparse(node).split(".")
            if path[0] in ("er", "elbowroom"):
                found.add(".".join(path[1:]))
            elif path[0] in known:
                found.add(".".join(path))
    return found


def python_blocks(text: str) -> list[str]:
    """Python in a page of Markdown; blocks that are not whole programs are left out."""
    blocks: list[str] = []
    for block in re.findall(r"```(?:python|\{code-cell\}[^\n]*)\n(.*?)```", text, re.S):
        try:
            ast.parse(block)
        except SyntaxError:
            continue
        blocks.append(block)
    return blocks
