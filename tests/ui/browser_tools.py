"""The page in a real browser: Debian's chromium driven by Playwright, and a tab that is asked in words.

Software rendering draws a few frames a second here, so nothing looks at pixels: `Tab` reads viser's scene tree, its
poses and the DOM. A test of a panel is `tab.open("Panel")`, `tab.press("Button")`, `tab.until(js, ...)`.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
SIZE = (1000, 700)
"""Pixels; above 576 the panels are beside the scene."""
NO_PAINT = """for (const name of ["drawElements", "drawArrays", "drawElementsInstanced", "drawArraysInstanced", "clear"])
    WebGL2RenderingContext.prototype[name] = () => {};"""
"""Painting by the processor would take most of the time, and nobody looks."""
BOX = "input:not([type=hidden]):not([type=checkbox]), textarea"
PATIENCE = 120_000
"""Milliseconds; a busy machine takes its time."""
QUIET = (
    "THREE.Clock",
    "KHR_parallel_shader_compile",
    "GPU stall",
    "GroupMarkerNotSet",
    "reading pixels from",
)
"""Warnings of viser's own client, of software rendering and of not painting."""


def chromium_path() -> str:
    """Where the browser is; skips the test where there is none."""
    pytest.importorskip("playwright", reason="playwright is not installed")
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip(f"no browser: none of {', '.join(NAMES)} is on the path")
    return found


@contextmanager
def chromium() -> Generator[Any]:
    """A browser without a window."""
    path = chromium_path()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


def context_of(browser: Any, size: tuple[int, int] = SIZE, **options: Any) -> Any:
    """A browser's memory of its own: tabs of one context share their storage. Nothing is painted in the scene."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, **options)
    context.add_init_script(NO_PAINT)
    context.set_default_timeout(PATIENCE)
    return context


class Tab:
    """A tab with a page of `serve`.

    Args:
        context: of Playwright. url: of the page.
    """

    def __init__(self, context: Any, url: str) -> None:
        self.page = context.new_page()
        self.faults: list[str] = []
        """Errors and warnings of the console, exceptions, requests that failed."""
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("requestfailed", lambda request: self.faults.append(f"{request.url}: failed"))
        self.page.goto(url)
        self.until("Object.keys(nodes).some((name) => name.startsWith('/live/'))")

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning") and not any(words in message.text for words in QUIET):
            self.faults.append(message.text)

    def reload(self) -> None:
        """As the user does."""
        self.page.reload()
        self.until("Object.keys(nodes).some((name) => name.startsWith('/live/'))")

    # What is there --------------------------------------------------------------------------------

    def until(self, condition: str, *arguments: Any) -> None:
        """Waits until JavaScript holds: of `nodes` (name -> {message, effectiveVisibility, ...}), `pose(name)`, `text`
        (all that can be read) and `a` (the arguments)."""
        self.page.wait_for_function(self._script(condition), arg=list(arguments), polling=100)

    def ask(self, expression: str, *arguments: Any) -> Any:
        """The value of JavaScript, as of `until`."""
        return self.page.evaluate(self._script(expression), list(arguments))

    @staticmethod
    def _script(expression: str) -> str:
        return f"""(a) => {{
            if (!window.__viserSceneTree || !window.__viserMutable) return false;
            const nodes = window.__viserSceneTree.getState();
            const pose = (name) => window.__viserMutable.nodePoseData[name] || {{position: [], wxyz: []}};
            const text = document.body.innerText;
            return {expression};
        }}"""

    def until_text(self, *texts: str) -> None:
        """Waits until all of them can be read."""
        self.until("a.every((part) => text.includes(part))", *texts)

    def until_drawn(self, name: str, drawn: bool = True) -> None:
        """Waits until a node of the scene is there and visible, or not."""
        self.until("!!(nodes[a[0]] && nodes[a[0]].effectiveVisibility) === a[1]", name, drawn)

    def until_at(self, name: str, position: tuple[float, ...]) -> None:
        """Waits until a node is at a position, metres."""
        near = "a[1].every((x, k) => Math.abs(x - pose(a[0]).position[k]) < 1e-5)"
        self.until(near, name, list(position))

    # What a person does ---------------------------------------------------------------------------

    def open(self, title: str) -> None:
        """Opens the tab of a panel."""
        self.page.get_by_role("tab", name=title, exact=True).click()

    def press(self, label: str) -> None:
        """Presses a button."""
        self.page.get_by_role("button", name=label, exact=True).click()

    def row(self, label: str) -> Any:
        """The row of a widget, label and input."""
        found = self.page.locator(f"label:text-is({json.dumps(label, ensure_ascii=False)})")
        return found.locator("xpath=ancestor::div[contains(@class, 'mantine-Flex-root')][1]")

    def fill(self, label: str, value: object) -> None:
        """Types into a number or text, or into the box beside a slider, key by key: viser's client ignores the first
        change of a box whose value the page set while it was out of sight."""
        box = self.row(label).locator(BOX).last
        box.click()
        box.press("Control+a")
        box.press_sequentially(str(value))
        box.press("Enter")

    def check(self, label: str, on: bool = True) -> None:
        """Sets a checkbox."""
        self.row(label).locator("input[type=checkbox]").set_checked(on)

    def choose(self, label: str, option: str) -> None:
        """Picks from a dropdown."""
        self.row(label).locator(BOX).last.click()
        self.page.get_by_role("option", name=option, exact=True).click()

    def value(self, label: str) -> str:
        """What a number, a text or the box beside a slider shows."""
        return self.row(label).locator(BOX).last.input_value()

    def drag(self, label: str, shares: list[float]) -> None:
        """Drags a slider through shares of its width, from 0 to 1, and lets go."""
        track = self.row(label).locator(".mantine-Slider-track")
        box = track.bounding_box()
        for k, share in enumerate(shares):
            self.page.mouse.move(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
            if k == 0:
                self.page.mouse.down()
        self.page.mouse.up()

    # Layout ---------------------------------------------------------------------------------------

    def too_wide(self) -> list[str]:
        """Texts, inputs and buttons that stick out of the window."""
        return self.page.evaluate(
            """() => [...document.querySelectorAll("label, input, button, [role=tab], p, td")].filter((e) => {
                const box = e.getBoundingClientRect();
                return box.width > 0 && (box.right > innerWidth + 1 || box.left < -1);
            }).map((e) => e.outerHTML.slice(0, 120))"""
        )
