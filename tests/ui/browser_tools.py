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

from elbowroom.ui.panels import PLACES

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
SIZE = (1000, 700)
"""Pixels; above 576 the panels are beside the scene."""
OUTSIDE = """(root) => {
    const m = window.__viserMutable, camera = m.camera;
    camera.updateMatrixWorld(true);
    let worst = 0;
    for (const [name, node] of Object.entries(m.nodeRefFromName)) {
        if (!node || !name.startsWith(root)) continue;
        node.updateWorldMatrix(true, true);
        node.traverse((mesh) => {
            if (!mesh.isMesh || mesh.isInstancedMesh || !mesh.geometry || !mesh.geometry.attributes.position) return;
            mesh.geometry.computeBoundingBox();
            const box = mesh.geometry.boundingBox;
            for (const x of [box.min.x, box.max.x]) for (const y of [box.min.y, box.max.y])
                for (const z of [box.min.z, box.max.z]) {
                    const p = camera.position.clone().set(x, y, z).applyMatrix4(mesh.matrixWorld).project(camera);
                    worst = Math.max(worst, Math.abs(p.x), Math.abs(p.y), p.z > 1 ? Infinity : 0);
                }
        });
    }
    return worst;
}"""
FAINT = """() => {
    const ink = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
    const rgba = (colour) => {
        ink.clearRect(0, 0, 1, 1); ink.fillStyle = "#000"; ink.fillStyle = colour; ink.fillRect(0, 0, 1, 1);
        const [r, g, b, a] = ink.getImageData(0, 0, 1, 1).data;
        return [r, g, b, a / 255];
    };
    const over = (top, below) => [0, 1, 2].map((k) => top[k] * top[3] + below[k] * (1 - top[3])).concat(1);
    const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => v <= 0.03928 ? v / 12.92
        : ((v + 0.055) / 1.055) ** 2.4).reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
    const ground = (element) => {
        const layers = [];
        for (let e = element; e; e = e.parentElement) {
            const colour = rgba(getComputedStyle(e).backgroundColor);
            if (colour[3] > 0) layers.push(colour);
            if (colour[3] >= 1) break;
        }
        return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255, 1]);
    };
    const found = new Set();
    const look = (element, words, colour, behind) => {
        let share = 1;
        for (let e = element; e; e = e.parentElement) share *= Number(getComputedStyle(e).opacity);
        const top = rgba(colour);
        const seen = over([top[0], top[1], top[2], top[3] * share], behind);
        const [a, b] = [light(seen), light(behind)].sort((x, y) => y - x);
        const ratio = (a + 0.05) / (b + 0.05);
        if (ratio < 4.495) found.add(`${ratio.toFixed(2)} ${words.trim().slice(0, 40)} ${element.className}`.slice(0, 120));
    };
    for (const element of document.querySelectorAll("body *")) {
        const box = element.getBoundingClientRect(), style = getComputedStyle(element);
        if (!box.width || !box.height || style.visibility !== "visible" || element.closest("canvas")) continue;
        if (element.tagName === "text") {
            const cell = element.previousElementSibling;
            const on = cell && cell.tagName === "rect" && element.getAttribute("pointer-events") === "none";
            look(element, element.textContent, style.fill, on ? rgba(getComputedStyle(cell).fill) : ground(element));
        } else if (element.tagName === "INPUT" && ["text", "number", ""].includes(element.type)) {
            if (element.value) look(element, element.value, style.color, ground(element));
        } else if (!element.closest("svg") && [...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) {
            look(element, element.textContent, style.color, ground(element));
        }
    }
    return [...found];
}"""
NO_PAINT = """for (const name of ["drawElements", "drawArrays", "drawElementsInstanced", "drawArraysInstanced", "clear"])
    WebGL2RenderingContext.prototype[name] = () => {};"""
"""Painting by the processor would take most of the time, and nobody looks."""
TABS = {
    kind.title: (place, kind.title) for place, kinds in PLACES.items() if len(kinds) > 1 for kind in kinds
}
"""Panel -> the tabs to click, where it shares its place with others."""
BOX = "input:not([type=hidden]):not([type=checkbox]), textarea"
PATIENCE = 120_000
"""Milliseconds; a busy machine takes its time."""
QUIET = (
    "THREE.Clock",
    "KHR_parallel_shader_compile",
    "GPU stall",
    "GroupMarkerNotSet",
    "reading pixels from",
    "Unable to preventDefault inside passive event listener",
)
"""Warnings of viser's own client (the last when a node is dragged), of software rendering and of not painting."""


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
        """Opens the tab of a panel, in its place."""
        for name in TABS.get(title, (title,)):
            self.page.get_by_role("tab", name=name, exact=True).click()

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
        track.scroll_into_view_if_needed()
        box = track.bounding_box()
        for k, share in enumerate(shares):
            self.page.mouse.move(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
            if k == 0:
                self.page.mouse.down()
        self.page.mouse.up()

    # Layout ---------------------------------------------------------------------------------------

    def outside(self, root: str = "/robot/") -> float:
        """How far from the middle of the canvas the outermost corner of a box around a mesh below `root` is, 1 at its
        edge; from the objects and the camera that the browser draws with."""
        return self.page.evaluate(OUTSIDE, root)

    def covered(self) -> float:
        """Pixels of the canvas, along its shorter overlap, that lie under the panels."""
        return self.page.evaluate(
            """() => {
                const a = window.__viserMutable.canvas.getBoundingClientRect();
                const b = document.querySelector(".er-badge").closest(".mantine-Paper-root").getBoundingClientRect();
                return Math.max(0, Math.min(Math.min(a.right, b.right) - Math.max(a.left, b.left),
                    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)));
            }"""
        )

    def faint(self) -> list[str]:
        """Texts that can be seen whose contrast against what is behind them is below 4.5 to 1."""
        return self.page.evaluate(FAINT)

    def too_wide(self) -> list[str]:
        """Texts, inputs and buttons that stick out of the window."""
        return self.page.evaluate(
            """() => [...document.querySelectorAll("label, input, button, [role=tab], p, td")].filter((e) => {
                const box = e.getBoundingClientRect();
                return box.width > 0 && (box.right > innerWidth + 1 || box.left < -1);
            }).map((e) => e.outerHTML.slice(0, 120))"""
        )
