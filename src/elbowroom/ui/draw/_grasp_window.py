"""A window on the grasps of a hand: side and front view, and a slider for the width.

`GraspWindow` draws into any matplotlib Figure, so it is tested without a display; `open_grasp_window` makes one that
can be seen. Views keep their limits while the slider moves, so that what moves is the hand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._text import fixed
from ...errors import ElbowroomError, MissingExtraError
from ...grasp import Grasp, GraspPlanner
from ._grasp import VIEWS, draw_view, view_limits
from ._mujoco import has_display

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURE_HEIGHT = 5.0
"""Inches of the views; the window fits on a small screen."""
NUMBERS_WIDTH = 2.6
"""Inches for the column of numbers."""
LOOKED_AT = 7
"""Widths over the range whose grasps the picture has room for."""
KEYS = {"left": -1.0, "right": 1.0, "down": -0.1, "up": 0.1}
"""Keys that move the slider, mm."""


class GraspWindow:
    """Grasps of one kind drawn into a Figure; the slider chooses the width."""

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
            planner: makes the grasps.
            mode: "line", "plane", "cylinder" or the name of an opposition set.
            width: to begin with, m.
            finger: of line grasps.
            fingers: of plane grasps, thumb included.
            height: world height of the grasp, m.

        Raises:
            ElbowroomError: no such grasp, or a width out of its range.
        """
        from matplotlib.widgets import Slider

        self.figure, self.height = figure, height
        self.changed: list[Callable[[Grasp], None]] = []
        """Called with every new grasp."""
        self._plan: Callable[[float], Grasp] = lambda wanted: planner.grasp(
            mode, wanted, finger=finger, fingers=fingers
        )
        self.grasp = self._plan(width)
        """The grasp that is shown."""
        smallest, largest = planner.range(self.grasp.opposition)
        self._low, self._high = self._limits(smallest, largest)
        span = self._high - self._low
        scale = PICTURE_HEIGHT / span[2]
        figure.set_size_inches(scale * (span[0] + span[1]) + NUMBERS_WIDTH + 1.6, PICTURE_HEIGHT + 1.6)
        figure.set_layout_engine("constrained")
        columns = (scale * span[0], scale * span[1], NUMBERS_WIDTH)
        grid = figure.add_gridspec(2, 3, width_ratios=columns, height_ratios=(PICTURE_HEIGHT, 0.35))
        self._views = {view: figure.add_subplot(grid[0, column]) for column, view in enumerate(VIEWS)}
        column = figure.add_subplot(grid[0, 2])
        column.set_axis_off()
        self._numbers = column.text(0.0, 1.0, "", va="top", family="monospace", fontsize=9)
        what = "diameter" if self.grasp.mode == "cylinder" else "width"
        self.slider = Slider(
            figure.add_subplot(grid[1, :]),
            f"{what}, mm",
            1e3 * smallest,
            1e3 * largest,
            valinit=1e3 * self.grasp.width,
            valfmt="%.1f",
        )
        self.slider.on_changed(self._moved)
        figure.canvas.mpl_connect("key_press_event", self._key)
        self._draw()
        column.legend(
            *self._views["front"].get_legend_handles_labels(), loc="lower left", fontsize=8, frameon=False
        )
        figure.draw_without_rendering()  # lays out once: again and again would take most of the time of a picture
        figure.set_layout_engine("none")

    def _limits(self, smallest: float, largest: float) -> tuple[np.ndarray, np.ndarray]:
        """Room for all grasps of the range."""
        widths = np.linspace(smallest, largest, LOOKED_AT)
        corners = [view_limits(grasp, self.height) for grasp in (self.grasp, *map(self._plan, widths))]
        return np.min([low for low, _ in corners], axis=0), np.max([high for _, high in corners], axis=0)

    def _moved(self, width_mm: float) -> None:
        try:
            self.grasp = self._plan(1e-3 * float(width_mm))
        except ElbowroomError as error:
            self.figure.suptitle(str(error), fontsize=10, color="#b00020")
        else:
            self._draw()
            for tell in self.changed:
                tell(self.grasp)
        self.figure.canvas.draw_idle()

    def _key(self, event: Any) -> None:
        step = KEYS.get(event.key)
        if step is not None:
            self.slider.set_val(
                float(np.clip(self.slider.val + step, self.slider.valmin, self.slider.valmax))
            )

    def tend(self, seconds: float) -> bool:
        """Lets the window hear its user for a while, beside other work; False once it is closed."""
        from matplotlib import pyplot

        if not pyplot.fignum_exists(self.figure.number):
            return False
        self.figure.canvas.start_event_loop(seconds)
        return True

    def _draw(self) -> None:
        for view, ax in self._views.items():
            for artist in (*ax.patches, *ax.lines, *ax.texts):
                artist.remove()
            draw_view(ax, self.grasp, self.height, view, self._low, self._high)
        self._views["front"].tick_params(labelleft=False)
        self._numbers.set_text(numbers_text(self.grasp))
        grasp = self.grasp
        self.figure.suptitle(
            f"{grasp.hand.label}: {grasp.opposition}, {grasp.method}", fontsize=11, color="black"
        )


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
