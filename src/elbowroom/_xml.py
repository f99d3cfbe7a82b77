"""XML files, read safely and edited with their comments and indentation kept.

Robot descriptions come from strangers. Entities, document types and network access are refused, size is
bounded, and every complaint names file and line. Nothing here knows what the elements mean.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from .errors import DescriptionError, ElbowroomError, UnsafeFileError

MAX_BYTES = 32 * 2**20
"""Largest description read; the largest in common use are below 2 MB, meshes are separate files."""

HEAD_BYTES = 2**16
"""So far into a file a misplaced XML declaration is looked for."""
FORGIVEN = {
    "NS_ERR_UNDEFINED_NAMESPACE": "a prefix is not declared as a namespace; it is taken as part of the name",
    "ERR_HYPHEN_IN_COMMENT": "a comment has two hyphens inside",
}
"""Formal errors that do not change what is read (libxml2's names), and the note on each."""


def read_xml(path: Path, kind: str = "description", mended: list[str] | None = None) -> Any:
    """Parses a file into an lxml element tree.

    Args:
        path: the file.
        kind: what the file should be, for messages.
        mended: if given, faults of form that other readers of robot descriptions forgive are mended, and a sentence
            on each is added to it; otherwise they are errors.

    Raises:
        DescriptionError: the file is missing, empty, too large, not text or not well-formed.
        UnsafeFileError: it declares a document type or entities.
    """
    file = kind if kind.endswith("file") else f"{kind} file"
    try:
        size = path.stat().st_size
        if not path.is_file():
            raise DescriptionError(f"{path}: expected a {file}, found a folder or device")
        if size > MAX_BYTES:
            raise DescriptionError(
                f"{path}: the {kind} has {size / 2**20:.0f} MB; at most {MAX_BYTES // 2**20} MB are read"
            )
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise DescriptionError(f"{path}: there is no such {file}") from error
    except (OSError, ValueError) as error:
        raise DescriptionError(f"{path}: the {file} cannot be read: {error}") from error
    return parse_xml(data, str(path), kind, mended)


def parse_xml(data: bytes, where: str, kind: str = "description", mended: list[str] | None = None) -> Any:
    """Parses bytes into an lxml element tree; see `read_xml`."""
    if mended is not None:
        data = _mend_bytes(data, mended)
    if not data.strip():
        raise DescriptionError(f"{where}: the {kind} is empty")
    if b"\0" in data[:4096] and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DescriptionError(f"{where}: expected an XML {kind}, found binary data")
    try:
        root = _parse(data, mended)
    except etree.XMLSyntaxError as error:
        why = str(error.msg).partition("\n")[0]  # older libxml2 shows the bytes on a line of their own
        if "entity" in str(error).lower():
            raise UnsafeFileError(
                f"{where}: line {error.lineno}: entities are not allowed in a {kind}: {why}"
            ) from error
        raise DescriptionError(
            f"{where}: line {error.lineno}: the {kind} is not well-formed XML: {why}"
        ) from error
    except (LookupError, ValueError) as error:
        raise DescriptionError(f"{where}: the {kind} cannot be decoded: {error}") from error
    tree = root.getroottree()
    if tree.docinfo.internalDTD is not None or tree.docinfo.doctype:
        raise UnsafeFileError(
            f"{where}: a document type ({tree.docinfo.doctype[:60]}) is not allowed in a {kind}; remove it"
        )
    return tree


def _parse(data: bytes, mended: list[str] | None) -> Any:
    """The root element. With `mended`, errors of `FORGIVEN` kinds are let pass if there are no others."""
    safe = {"resolve_entities": False, "load_dtd": False, "no_network": True, "dtd_validation": False}
    try:
        return etree.fromstring(data, etree.XMLParser(huge_tree=False, **safe))
    except etree.XMLSyntaxError:
        if mended is None:
            raise
        parser = etree.XMLParser(huge_tree=False, recover=True, **safe)
        root = etree.fromstring(data, parser)
        if root is None or any(entry.type_name not in FORGIVEN for entry in parser.error_log):
            raise
        mended += dict.fromkeys(FORGIVEN[entry.type_name] for entry in parser.error_log)
        return root


def _mend_bytes(data: bytes, mended: list[str]) -> bytes:
    """Takes away what keeps a text from being XML although its meaning is plain."""
    if data.endswith(b"\0") and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        data = data.rstrip(b"\0")
        mended.append("bytes of value zero at its end are left out")
    header = re.match(rb"(?:\s|<!--(?:(?!--).)*-->)+(<\?xml[^>]*\?>)", data[:HEAD_BYTES], re.DOTALL)
    if header:
        data = data[: header.start(1)] + data[header.end(1) :]
        mended.append("the XML declaration is not at the very beginning; it is left out")
    if not re.match(rb"<\?xml[^>]*encoding", data[:HEAD_BYTES]) and not data.startswith(
        (b"\xff\xfe", b"\xfe\xff")
    ):
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            data = data.decode("latin-1").encode("utf-8")
            mended.append("it is not UTF-8 and names no encoding; it is read as Latin-1")
    return data


def at_line(where: str, element: Any) -> str:
    """Prefix for messages: file, line and element."""
    name = element.get("name")
    label = f"<{element.tag} name={name!r}>" if name else f"<{element.tag}>"
    return f"{where}: line {element.sourceline}: {label}"


def attribute(where: str, element: Any, name: str, error: type[ElbowroomError] = DescriptionError) -> str:
    """A text attribute that must be there and not empty."""
    value = element.get(name)
    if not value:
        raise error(f"{at_line(where, element)}: attribute {name!r} is missing")
    return value


def append(root: Any, tag: str, attributes: dict[str, str], after: tuple[str, ...] = ()) -> Any:
    """Adds an element on a line behind the last of its kind, indented like it.

    Without one it goes behind the last of the kinds `after`, tried in their order, and without those to the end.
    Comments on the line of the element before stay there.
    """
    element = etree.Element(tag, attributes)
    lasts = (next(root.iterchildren(kind, reversed=True), None) for kind in (tag, *after))
    last = next((found for found in lasts if found is not None), root[-1] if len(root) else None)
    if last is None:
        root.text = (root.text or "").rstrip() + "\n  "
        root.append(element)
        element.tail = "\n"
        return element
    previous = last.getprevious()
    before = (root.text if previous is None else previous.tail) or ""
    indent = before[before.rindex("\n") :] if "\n" in before else "\n  "
    while (
        (following := last.getnext()) is not None and _is_comment(following) and "\n" not in (last.tail or "")
    ):
        last = following
    tail = last.tail or ""
    text = tail.rstrip()
    last.addnext(element)  # O(1), unlike insert; tails are set below
    last.tail, element.tail = text + (indent if indent.isspace() else "\n  "), tail[len(text) :] or "\n"
    return element


def add_line(parent: Any, tag: str, attributes: dict[str, str], before: Any = None) -> Any:
    """Adds an element to any other, on a line of its own that is indented like its neighbours.

    Args:
        parent: the element to add to.
        tag: the new element.
        attributes: of the new element.
        before: the child to put it in front of; None puts it behind all of them.
    """
    element = etree.Element(tag, attributes)
    outer = _line_start(parent)
    if not len(parent):
        parent.text = (parent.text or "").rstrip() + outer + "  "
        parent.append(element)
        element.tail = outer
        return element
    next_one = parent[-1] if before is None else before
    previous = next_one.getprevious()
    ahead = (parent.text if previous is None else previous.tail) or ""
    inner = ahead[ahead.rindex("\n") :] if "\n" in ahead else ""
    inner = inner if inner.isspace() else outer + "  "
    if before is not None:
        before.addprevious(element)
        element.tail = inner
        return element
    tail = next_one.tail or ""
    parent.append(element)
    next_one.tail = tail.rstrip() + inner
    element.tail = tail[tail.rindex("\n") :] if "\n" in tail else outer
    return element


def _line_start(element: Any) -> str:
    """A line break and the indentation of the line on which an element begins."""
    while (parent := element.getparent()) is not None:
        previous = element.getprevious()
        before = (parent.text if previous is None else previous.tail) or ""
        if "\n" in before:
            start = before[before.rindex("\n") :]
            return start[: len(start) - len(start.lstrip())]
        element = parent
    return "\n"


def remove(root: Any, element: Any) -> None:
    """Removes an element; text and comments around it stay, those behind it on its line take the line."""
    previous, following, after = element.getprevious(), element.getnext(), element.tail or ""
    before = (root.text if previous is None else previous.tail) or ""
    shares_line = following is not None and "\n" not in after
    root.remove(element)
    kept = before + after.lstrip() if shares_line or after.strip() else before.rstrip() + after
    if previous is None:
        root.text = kept or None
    else:
        previous.tail = kept or None


def _is_comment(node: Any) -> bool:
    return not isinstance(node.tag, str)


def numbers(where: str, element: Any, attribute: str, count: int | tuple[int, ...]) -> list[float] | None:
    """Finite numbers of an attribute, or None when it is absent.

    Raises:
        DescriptionError: not numbers, not finite, or not as many as `count` allows.
    """
    text = element.get(attribute)
    if text is None:
        return None
    allowed = (count,) if isinstance(count, int) else count
    asked = " or ".join(map(str, allowed))
    try:
        values = [float(word) for word in text.replace(",", " ").split()]
    except ValueError as error:
        raise DescriptionError(
            f"{at_line(where, element)}: {attribute}={text!r:.60}: expected {asked} numbers"
        ) from error
    if len(values) not in allowed:
        raise DescriptionError(
            f"{at_line(where, element)}: {attribute}={text!r:.60}: expected {asked} numbers, found {len(values)}"
        )
    if not all(abs(value) < float("inf") for value in values):
        raise DescriptionError(
            f"{at_line(where, element)}: {attribute}={text!r:.60}: NaN and infinity are not allowed"
        )
    return values
