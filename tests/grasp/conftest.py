"""Hands as fixtures."""

from tests.hands import allegro, hand, hands, planners, smooth  # noqa: F401
