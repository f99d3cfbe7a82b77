"""A window on the grasps of a hand: side and front view, controls for what is grasped how, MuJoCo's viewer beside it.

`GraspWindow` draws into any matplotlib Figure, so it is tested without a display; `open_grasp_window` makes one that
can be seen. Views keep their limits while the width changes, so that what moves is the hand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._text import fixed
from ...errors import ElbowroomError, MissingExtraError
from ...grasp import Grasp, GraspPlanner, Opposition, Wrap
from ._grasp import VIEWS, draw_view, view_limits
from ._mujoco import has_display

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.widgets import RadioButtons

    from ._mujoco_viewer import GraspViewer

METHODS = ("smooth", "proportional")

PICTURE_HEIGHT = 5.0
"""Inches of the views; the window fits on a small screen."""
NUMBERS_WIDTH, CONTROLS_WIDTH = 2.6, 1.5
"""Inches for the column of numbers and for that of the controls."""
SLIDER_HEIGHT = 0.35
"""Inches."""
LOOKED_AT = 7
"""Widths over the range whose grasps the picture has room for."""
HIGHEST = 400.0
"""mm; end of the slider for the height."""
KEYS = {"left": -1.0, "right": 1.0, "down": -0.1, "up": 0.1}
"""Keys that move the slider, mm."""
WIDTH, DIAMETER = "width, mm", "diameter, mm"
RED = "#b00020"


class GraspWindow:
    """Grasps of a hand drawn into a Figure, with controls for mode, fingers, method, width and height."""

    def __init__(
        self,
        figure: Figure,
        planner: GraspPlanner,
        mode: str,
        width: float,
        *,
        finger: str = "index",
        fingers: int = 4,
        height: float = 0.1,
    ) -> None:
        """Fills the figure.

        Args:
            figure: an empty one; its size is set.
            planner: makes the grasps; planners for the other methods of its hand are made when they are chosen.
            mode: to begin with: "line", "plane", "cylinder" or the name of an opposition set.
            width: to begin with, m.
            finger: of line grasps.
            fingers: of plane grasps, thumb included.
            height: world height of the grasp, m.

        Raises:
            ElbowroomError: no such grasp, or a width out of its range.
        """
        self.figure, self.height = figure, height
        self.changed: list[Callable[[Grasp], None]] = []
        """Called with every new grasp."""
        self._planners = {planner.method: planner}
        self._planner, self._mode, self._finger, self._count = planner, mode, finger, fingers
        self._viewer: GraspViewer | None = None
        self._timer: Any = None
        self.grasp = self._plan(width)
        """The grasp that is shown."""
        self._samples = self._sampled()
        self._low, self._high = self._limits()
        self._lay_out()
        figure.canvas.mpl_connect("key_press_event", self._key)
        figure.canvas.mpl_connect("close_event", lambda event: self.close_viewer())
        self._draw()
        self.slider.label.set_text(DIAMETER)  # the longer one needs the room
        figure.draw_without_rendering()  # lays out once: again and again would take most of the time of a picture
        figure.set_layout_engine("none")
        self._name_width()

    # Layout -------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        from matplotlib.widgets import Button, Slider

        figure, span = self.figure, self._high - self._low
        scale = PICTURE_HEIGHT / span[2]
        columns = (scale * span[0], scale * span[1], NUMBERS_WIDTH, CONTROLS_WIDTH)
        figure.set_size_inches(sum(columns) + 1.6, PICTURE_HEIGHT + 4 * SLIDER_HEIGHT + 0.6)
        figure.set_layout_engine("constrained")
        rows = (PICTURE_HEIGHT, SLIDER_HEIGHT, SLIDER_HEIGHT)
        grid = figure.add_gridspec(3, 4, width_ratios=columns, height_ratios=rows)
        self._views = {view: figure.add_subplot(grid[0, column]) for column, view in enumerate(VIEWS)}
        self._column = figure.add_subplot(grid[0, 2])
        self._column.set_axis_off()
        self._numbers = self._column.text(0.0, 1.0, "", va="top", family="monospace", fontsize=9)
        smallest, largest = self._planner.range(self.grasp.opposition)
        self.slider = Slider(
            figure.add_subplot(grid[1, :]),
            WIDTH,
            1e3 * smallest,
            1e3 * largest,
            valinit=1e3 * self.grasp.width,
            valfmt="%.1f",
        )
        self.slider.on_changed(self._moved)
        self.height_slider = Slider(
            figure.add_subplot(grid[2, :]),
            "height, mm",
            0.0,
            HIGHEST,
            valinit=1e3 * self.height,
            valfmt="%.0f",
        )
        self.height_slider.on_changed(self._lifted)
        modes, counts = self._offered()
        methods = METHODS if self._planner.hand.proportional else (self._planner.method,)
        inner = grid[0, 3].subgridspec(
            4, 1, height_ratios=(len(modes) + 1, len(counts) + 1, len(methods) + 1, 1.2)
        )
        self.mode_choice = self._choice(inner[0], "mode", modes, self._mode, self._choose_mode)
        self.finger_choice = self._choice(
            inner[1], "fingers of a plane", counts, str(self._count), self._choose_count
        )
        self.method_choice = self._choice(
            inner[2], "method", methods, self._planner.method, self._choose_method
        )
        self.viewer_button = Button(figure.add_subplot(inner[3]), "MuJoCo viewer")
        self.viewer_button.on_clicked(lambda event: self.open_viewer())

    def _choice(
        self, place: Any, title: str, options: tuple[str, ...], chosen: str, choose: Callable[[str], None]
    ) -> RadioButtons:
        from matplotlib.widgets import RadioButtons

        ax = self.figure.add_subplot(place)
        ax.set_title(title, fontsize=9)
        active = options.index(chosen) if chosen in options else 0
        buttons = RadioButtons(ax, options, active=active)
        buttons.on_clicked(lambda label: choose(str(label)))
        return buttons

    def _offered(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Modes and numbers of fingers that the hand has."""
        sets = self._planner.hand.oppositions.values()
        pinches = [entry for entry in sets if isinstance(entry, Opposition)]
        there = {
            "line": any(entry.fingers == (self._finger,) for entry in pinches),
            "plane": any(len(entry.fingers) > 1 for entry in pinches),
            "cylinder": any(isinstance(entry, Wrap) for entry in sets),
        }
        modes = tuple(name for name, has in there.items() if has)
        counts = tuple(str(n) for n in sorted({len(e.fingers) + 1 for e in pinches if len(e.fingers) > 1}))
        return (modes if self._mode in modes else (*modes, self._mode)), counts or ("none",)

    def _limits(self) -> tuple[np.ndarray, np.ndarray]:
        """Room for all grasps of the range."""
        corners = [view_limits(grasp, self.height) for grasp in (self.grasp, *self._samples)]
        return np.min([low for low, _ in corners], axis=0), np.max([high for _, high in corners], axis=0)

    def _sampled(self) -> list[Grasp]:
        """Grasps over the whole range."""
        low, high = self._planner.range(self.grasp.opposition)
        return [self._plan(float(width)) for width in np.linspace(low, high, LOOKED_AT)]

    def _fit_limits(self) -> None:
        """Room for all grasps of the range in views that stay as large as they are, both to the same scale."""
        low, high = self._limits()
        boxes = [ax.get_position() for ax in self._views.values()]
        inches = np.array([boxes[0].width, boxes[1].width, boxes[0].height])
        inches *= self.figure.get_size_inches()[[0, 0, 1]]
        more = (((high - low) / inches).max() * inches) - (high - low)
        self._low, self._high = low - more * (0.5, 0.5, 0.0), high + more * (0.5, 0.5, 1.0)

    # Choices ------------------------------------------------------------------------------------

    def _plan(self, width: float) -> Grasp:
        return self._planner.grasp(self._mode, width, finger=self._finger, fingers=self._count)

    def _choose_mode(self, mode: str) -> None:
        self._choose(mode, self._count, self._planner.method)

    def _choose_count(self, count: str) -> None:
        if count.isdigit():
            self._choose(self._mode, int(count), self._planner.method)

    def _choose_method(self, method: str) -> None:
        self._choose(self._mode, self._count, method)

    def _choose(self, mode: str, count: int, method: str) -> None:
        """Another kind of grasp, at the nearest width that it can do; what cannot be planned is reported, and nothing
        else changes.
        """
        before = self._mode, self._count, self._planner, self.grasp, self._samples
        try:
            if method not in self._planners:
                self._planners[method] = GraspPlanner(self._planner.hand, method)
            self._mode, self._count, self._planner = mode, count, self._planners[method]
            low, high = self._planner.range(mode, finger=self._finger, fingers=count)
            self.grasp = self._plan(min(max(self.grasp.width, low), high))
            self._samples = self._sampled()
            self._fit_limits()
        except ElbowroomError as error:
            self._mode, self._count, self._planner, self.grasp, self._samples = before
            _select(self.mode_choice, self._mode)
            _select(self.finger_choice, str(self._count))
            _select(self.method_choice, self._planner.method)
            self._say(str(error))
            return
        slider = self.slider
        slider.valmin, slider.valmax = 1e3 * low, 1e3 * high
        slider.ax.set_xlim(slider.valmin, slider.valmax)
        slider.eventson = False
        slider.set_val(1e3 * self.grasp.width)
        slider.eventson = True
        self._show()

    def _moved(self, width_mm: float) -> None:
        try:
            self.grasp = self._plan(1e-3 * float(width_mm))
        except ElbowroomError as error:
            self._say(str(error))
        else:
            self._show()

    def _lifted(self, height_mm: float) -> None:
        self.height = 1e-3 * float(height_mm)
        self._fit_limits()
        self._show()

    def _key(self, event: Any) -> None:
        step = KEYS.get(event.key)
        if step is not None:
            self.slider.set_val(
                float(np.clip(self.slider.val + step, self.slider.valmin, self.slider.valmax))
            )

    # MuJoCo -------------------------------------------------------------------------------------

    def open_viewer(self) -> None:
        """Opens MuJoCo's viewer on the grasp, which then follows the controls; any obstacle to that is reported."""
        from ._mujoco_viewer import TICK, GraspViewer

        if self._viewer is not None:
            return
        try:
            self._viewer = GraspViewer(self.grasp, self.height)
        except (ElbowroomError, RuntimeError) as error:  # RuntimeError: macOS wants another interpreter
            self._say(" ".join(str(error).split()))
            return
        self._timer = self.figure.canvas.new_timer(interval=round(1e3 * TICK))
        self._timer.add_callback(self._tick)
        self._timer.start()

    def close_viewer(self) -> None:
        """Closes MuJoCo's viewer, if it is open."""
        if self._viewer is not None:
            self._timer.stop()
            viewer, self._viewer = self._viewer, None
            viewer.close()

    def _tick(self) -> None:
        if self._viewer is not None and not self._viewer.tick():
            self.close_viewer()

    def tend(self, seconds: float) -> bool:
        """Lets the window hear its user for a while, beside other work; False once it is closed."""
        from matplotlib import pyplot

        if not pyplot.fignum_exists(self.figure.number):
            return False
        self.figure.canvas.start_event_loop(seconds)
        return True

    # Drawing ------------------------------------------------------------------------------------

    def _show(self) -> None:
        self._draw()
        for tell in self.changed:
            tell(self.grasp)
        if self._viewer is not None:
            self._viewer.show(self.grasp, self.height)
        self.figure.canvas.draw_idle()

    def _name_width(self) -> None:
        self.slider.label.set_text(DIAMETER if self.grasp.mode == "cylinder" else WIDTH)

    def _say(self, text: str) -> None:
        self.figure.suptitle(text, fontsize=10, color=RED)
        self.figure.canvas.draw_idle()

    def _draw(self) -> None:
        for view, ax in self._views.items():
            for artist in (*ax.patches, *ax.lines, *ax.texts):
                artist.remove()
            draw_view(ax, self.grasp, self.height, view, self._low, self._high)
        self._views["front"].tick_params(labelleft=False)
        self._column.legend(
            *self._views["front"].get_legend_handles_labels(), loc="lower left", fontsize=8, frameon=False
        )
        self._numbers.set_text(numbers_text(self.grasp))
        grasp = self.grasp
        self._name_width()
        self.figure.suptitle(
            f"{grasp.hand.label}: {grasp.opposition}, {grasp.method}", fontsize=11, color="black"
        )


def _select(choice: RadioButtons, label: str) -> None:
    """Shows what is chosen, without choosing it again."""
    labels = [text.get_text() for text in choice.labels]
    if label in labels:
        choice.eventson = False
        choice.set_active(labels.index(label))
        choice.eventson = True


def numbers_text(grasp: Grasp) -> str:
    """Figures of a grasp, a line each: width, tilt, s, errors in mm, and the controls in rad."""
    rows = [
        ("diameter" if grasp.mode == "cylinder" else "width", f"{1e3 * grasp.width:.2f} mm"),
        ("tilt", f"{fixed(np.degrees(grasp.tilt_y), 2)}°"),
        ("s", f"{grasp.s:.4f}"),
        ("width error", f"{fixed(1e3 * grasp.width_error, 3)} mm"),
        ("height error", f"{fixed(1e3 * grasp.height_error, 3)} mm"),
        ("height spread", f"{fixed(1e3 * grasp.height_spread, 3)} mm"),
        ("joints", "in range" if grasp.range_violation <= 1e-9 else f"{grasp.range_violation:.3f} rad off"),
    ]
    controls = [(name, f"{value:.4f}") for name, value in grasp.actuators.items()]
    column = max(len(name) for name, _ in (*rows, *controls)) + 2
    lines = [f"{name:<{column}}{text}" for name, text in rows]
    return "\n".join([*lines, "", "controls, rad", *(f"{name:<{column}}{text}" for name, text in controls)])


def require_window() -> None:
    """Refuses where no window can be opened.

    Raises:
        MissingExtraError: no display, or no toolkit that matplotlib opens windows with; says what is needed.
    """
    if not has_display():
        raise MissingExtraError(
            "a window needs a display, and neither DISPLAY nor WAYLAND_DISPLAY is set; --plot FILE.png draws the "
            "views without one"
        )
    import matplotlib
    from matplotlib import pyplot
    from matplotlib.backends.registry import BackendFilter, backend_registry

    try:
        chosen = matplotlib.get_backend()
        pyplot.switch_backend(chosen)
    except (ImportError, RuntimeError) as error:  # a toolkit that was asked for and is not there
        raise _no_toolkit(" ".join(str(error).split())) from error
    if chosen.lower() in backend_registry.list_builtin(BackendFilter.NON_INTERACTIVE):
        raise _no_toolkit(f"it chose {chosen!r}, which draws files only")


def _no_toolkit(why: str) -> MissingExtraError:
    return MissingExtraError(
        f"matplotlib can open no window here ({why}): it needs a display that works and a toolkit such as tkinter "
        "(Debian and Ubuntu: apt install python3-tk) or Qt (pip install pyqt6)"
    )


def open_grasp_window(
    planner: GraspPlanner,
    mode: str,
    width: float,
    *,
    finger: str = "index",
    fingers: int = 4,
    height: float = 0.1,
) -> GraspWindow:
    """Opens a window; arguments as of `GraspWindow`. `run_window` keeps it until it is closed.

    Raises:
        MissingExtraError: there is no display, or no toolkit.
        ElbowroomError: no such grasp.
    """
    require_window()
    from matplotlib import pyplot

    figure = pyplot.figure()
    try:
        window = GraspWindow(figure, planner, mode, width, finger=finger, fingers=fingers, height=height)
    except ElbowroomError:
        pyplot.close(figure)
        raise
    manager = figure.canvas.manager
    assert manager is not None  # of every figure that pyplot makes
    manager.set_window_title(f"elbowroom grasp: {planner.hand.label}")
    manager.show()
    return window


def run_window() -> None:
    """Shows the windows that were opened and returns when they are closed."""
    from matplotlib import pyplot

    pyplot.show()
