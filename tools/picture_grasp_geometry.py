"""Draws docs/images/grasp_tilt.png and grasp_methods.png: the geometry of a grasp, and both closure methods.

    python tools/picture_grasp_geometry.py

All points and curves are the planner's own on the bundled hand.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from elbowroom.grasp import GraspPlanner, load_hand
from elbowroom.ui.draw import hand_bones

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#8a8a8a"
WIDTH = 0.05
"""m; of the grasp that explains the tilt."""
SAMPLES = 300
MODES = (
    ("line", 2, "line: thumb and index"),
    ("plane", 4, "plane: thumb and three fingers"),
    ("cylinder", 5, "cylinder"),
)


def save(figure: plt.Figure, name: str) -> None:
    """Writes a figure with few colours, which keeps it small."""
    from PIL import Image

    path = IMAGES / name
    figure.savefig(path, dpi=110)
    plt.close(figure)
    Image.open(path).convert("RGB").quantize(256).save(path, optimize=True)
    print(f"{path.name}: {path.stat().st_size / 1024:.0f} KB")


def draw_fingers(ax: plt.Axes, grasp: Any, T: np.ndarray) -> dict[str, np.ndarray]:
    """Thumb and index as lines, x to the right and z up, mm; their tips."""
    tips = {}
    for name, bone in hand_bones(grasp.hand, grasp.ctrl, T).items():
        colour = {"thumb": ORANGE, "index": BLUE}.get(name, "#d5d9de")
        ax.plot(*(1e3 * bone[:, [0, 2]]).T, color=colour, lw=3, solid_capstyle="round", alpha=0.8)
    for name, tip in grasp.tips.items():
        tips[name] = 1e3 * (T[:3, :3] @ tip + T[:3, 3])
        ax.plot(tips[name][0], tips[name][2], "o", color={"thumb": ORANGE}.get(name, BLUE), mec="black", ms=7)
    base = 1e3 * T[:3, 3]
    ax.plot(base[0], base[2], "s", color="white", mec="black")
    ax.set_aspect("equal")
    ax.grid(alpha=0.25)
    return tips


def tilt_picture(planner: GraspPlanner) -> None:
    """The vector d in the base frame, and the same hand tilted until d is level."""
    grasp = planner.line(WIDTH)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 5.0), layout="constrained")
    tips = draw_fingers(left, grasp, np.eye(4))
    thumb, index = tips["thumb"], tips["index"]
    left.annotate("", (thumb[0], thumb[2]), (index[0], index[2]), arrowprops={"arrowstyle": "-|>", "lw": 1.6})
    left.plot([index[0], thumb[0]], [index[2], index[2]], "--", color=GREY, lw=1)
    left.plot([thumb[0], thumb[0]], [index[2], thumb[2]], "--", color=GREY, lw=1)
    left.text(0.5 * (index[0] + thumb[0]), index[2] + 4, "$d_x$", ha="center")
    left.text(thumb[0] + 3, 0.5 * (index[2] + thumb[2]), "$d_z$ < 0", va="center")
    left.text(0.5 * (index[0] + thumb[0]) - 6, 0.5 * (index[2] + thumb[2]) - 6, "d", fontsize=12, ha="right")
    left.set(
        title="base frame: d = thumb tip - fingertip",
        xlabel="x, closing (mm)",
        ylabel="z, along the fingers (mm)",
    )
    left.set_xlim(-25, 125)
    T, _ = grasp.to_world(0.1)
    tips = draw_fingers(right, grasp, T)
    thumb, index = tips["thumb"], tips["index"]
    right.annotate(
        "", (thumb[0], thumb[2] - 12), (index[0], index[2] - 12), arrowprops={"arrowstyle": "<->", "lw": 1.4}
    )
    right.text(0.0, thumb[2] - 23, r"width = hypot($d_x$, $d_z$)" + f" = {1e3 * WIDTH:.0f} mm", ha="center")
    right.axhline(100.0, color="#c0392b", ls="--", lw=1)
    right.set_ylim(65, None)
    degrees = np.degrees(grasp.tilt_y)
    right.set(
        title=rf"world: turned by $\theta$ = atan2($-d_z$, $d_x$) = {degrees:.0f}°, level",
        xlabel="x (mm)",
        ylabel="z, up (mm)",
    )
    save(figure, "grasp_tilt.png")


def methods_picture(smooth: GraspPlanner, specified: GraspPlanner) -> None:
    """Tilt, error of the height and a control over all widths, both methods."""
    figure, axes = plt.subplots(3, 3, figsize=(12, 8.4), sharex="col", layout="constrained")
    figure.get_layout_engine().set(hspace=0.06)
    for column, (mode, fingers, title) in enumerate(MODES):
        for planner, colour in ((specified, ORANGE), (smooth, BLUE)):
            sweep = planner.sweep(mode, SAMPLES, fingers=fingers)
            x, low, high = 1e3 * sweep.widths, *(1e3 * end for end in planner.range(mode, fingers=fingers))
            label = f"{planner.method}, {low:.1f} to {high:.1f} mm"
            axes[0, column].plot(x, np.degrees(sweep.tilt), color=colour, label=label)
            spread = [1e3 * grasp.height_spread for grasp in sweep.grasps]
            axes[1, column].plot(x, spread, color=colour)
            names = smooth.hand.actuator_names
            axes[2, column].plot(x, sweep.ctrl[:, names.index("index")], color=colour)
            axes[2, column].plot(x, sweep.ctrl[:, names.index("thumb_proximal")], color=colour, ls="--")
        axes[0, column].set_title(title)
        axes[0, column].legend(fontsize=8, loc="upper right")
        axes[2, column].set_xlabel("diameter (mm)" if mode == "cylinder" else "width (mm)")
    clipped = 1e3 * specified.proportional.figures("index", exact=True).width_level
    axes[0, 0].axvline(clipped, color=GREY, lw=1, ls=":")
    axes[0, 0].text(clipped + 3, 5, f"clipped at 90°\nbelow {clipped:.1f} mm", fontsize=8)
    for ax in axes[0]:
        ax.set_ylim(-5, 118)
    limit = 1e3 * specified.proportional.palm_limit[1]
    axes[0, 2].axvline(limit, color=GREY, lw=1, ls=":")
    axes[0, 2].text(limit - 2, 25, f"palm mode\nbelow {limit:.1f} mm", fontsize=8, ha="right")
    for row, text in enumerate(
        ("tilt (degrees)", "tips apart in height (mm)", "index, thumb pitch - - (rad)")
    ):
        axes[row, 0].set_ylabel(text)
    for ax in axes.flat:
        ax.grid(alpha=0.25)
    save(figure, "grasp_methods.png")


def main() -> None:
    """Draws both."""
    hand = load_hand("rh56")
    smooth, specified = GraspPlanner(hand), GraspPlanner(hand, "proportional")
    tilt_picture(smooth)
    methods_picture(smooth, specified)


if __name__ == "__main__":
    main()
