"""`python -m elbowroom.grasp`: the window on the grasps of a hand.

Takes the options of `elbowroom grasp`; with `--self-test`, `--rebuild`, `--json` or `--help` no window is opened.
"""

from __future__ import annotations

import sys

from ..cli import main

WITHOUT_WINDOW = ("--self-test", "--rebuild", "--json", "--help", "-h")

if __name__ == "__main__":
    words = sys.argv[1:]
    shown = [] if any(word in WITHOUT_WINDOW for word in words) else ["--interactive"]
    sys.argv = ["elbowroom", "grasp", *words, *shown]
    sys.exit(main())
