"""Work for a process of its own; light to import."""

from __future__ import annotations

import os
import time

from elbowroom.errors import ElbowroomError


def count_to(n, progress):
    progress.say("counting")
    print("this must not end up among the frames")
    total = 0
    for k in range(1, n + 1):
        total += k
        progress(k, n)
    return total


def refuse(n, progress):
    raise ElbowroomError("three is too many")


def divide(progress):
    return 1 / 0


def leave(progress):
    os._exit(7)


def sleep_long(progress):
    time.sleep(600)
