"""Hands as fixtures."""

from tests.hands import allegro, hand, smooth  # noqa: F401
