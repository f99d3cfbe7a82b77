"""Names from descriptions as text that no browser takes for markup."""

from __future__ import annotations

import re

MAX_LENGTH = 80
"""Characters of a name that are shown."""
_MARKS = re.compile(r"[^\w \-.,:()]", re.ASCII)


def escape(text: object, longest: int = MAX_LENGTH) -> str:
    """A name for `add_markdown` and `add_html`: whatever could be markup becomes a character reference.

    >>> escape("<b>*x*</b>")
    '&#60;b&#62;&#42;x&#42;&#60;&#47;b&#62;'
    """
    short = " ".join(str(text).split())
    short = short if len(short) <= longest else short[: longest - 1] + "…"
    escaped = _MARKS.sub(lambda found: f"&#{ord(found[0])};", short)
    return escaped.replace("_", "&#95;")
