"""Draws docs/images/concepts_*.png: what the proofs of the library do, from their own numbers.

python tools/picture_concepts.py [NAME ...]

NAME is one of coverage, never, segments, depth, levels; all of them without one. Proofs are run step by step here, by
the formulas of the core (`_proof_steps.py`), so that every box and every piece can be drawn.
"""

from __future__ import annotations

import math
import sys
import time
import warnings
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from _proof_steps import PairProof, cells, pieces_of, posed, section
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.patches import Circle, Polygon, Rectangle

import elbowroom as er
from elbowroom.mesh import TriangleMesh, distance, mesh_mesh_separation, separation_along
from elbowroom.pairs import _sentences
from elbowroom.spheres._shape import link_shapes

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
BLUE, ORANGE, RED, GREEN, GREY = "#2a6fbb", "#e08214", "#c23b32", "#3a8f5c", "#8a8a8a"
BUFFER = 0.02
"""Metres that `PairOptions` asks a pair to keep before it is called never."""


def save(figure: plt.Figure, name: str) -> None:
    """Writes a figure with few colours, which keeps it small."""
    from PIL import Image

    path = IMAGES / f"concepts_{name}.png"
    figure.savefig(path, dpi=150)
    plt.close(figure)
    Image.open(path).convert("RGB").quantize(256).save(path, optimize=True)
    print(f"{path.name}: {path.stat().st_size / 1024:.0f} KB")


# Coverage -------------------------------------------------------------------------------------


def draw_cells(axes: plt.Axes, triangle: np.ndarray, centers: np.ndarray, radii: np.ndarray) -> float:
    """One triangle in its plane: sections of balls, pieces, corners; returns the worst gap."""
    origin = triangle[0]
    u = triangle[1] - origin
    u /= np.linalg.norm(u)
    normal = np.cross(u, triangle[2] - origin)
    normal /= np.linalg.norm(normal)
    v = np.cross(normal, u)

    def flat(points: np.ndarray) -> np.ndarray:
        return 1000.0 * np.stack([(points - origin) @ u, (points - origin) @ v], axis=-1)

    pieces, worst = cells(triangle, centers, radii)
    colours = plt.get_cmap("Pastel1").colors
    for number, (ball, piece) in enumerate(pieces):
        colour = colours[number % len(colours)]
        height = float((centers[ball] - origin) @ normal)
        if radii[ball] > abs(height):
            section = 1000.0 * math.sqrt(radii[ball] ** 2 - height**2)
            axes.add_patch(Circle(flat(centers[ball]), section, fc=colour, ec="none", alpha=0.35))
            axes.add_patch(Circle(flat(centers[ball]), section, fill=False, ec=GREY, lw=0.9, ls="--"))
        axes.add_patch(Polygon(flat(piece), fc=colour, ec="black", lw=1.2))
        gaps = np.linalg.norm(piece - centers[ball], axis=1) - radii[ball]
        out = gaps > 1e-12
        axes.plot(*flat(piece[~out]).T, "o", color="black", ms=3.5)
        if out.any():
            k = int(np.argmax(gaps))
            axes.plot(*flat(piece[out]).T, "o", color=RED, ms=5)
            if gaps[k] >= worst - 1e-12:
                axes.annotate(
                    f"witness: {1000 * gaps[k]:.1f} mm\noutside every ball", flat(piece[k]), xytext=(0.03, 0.97),
                    textcoords="axes fraction", va="top", color=RED, fontsize=10,
                    arrowprops={"arrowstyle": "->", "color": RED},
                )  # fmt: skip
    outline = flat(triangle)
    room = 0.06 * np.ptp(outline, axis=0).max()
    axes.set_xlim(outline[:, 0].min() - room, outline[:, 0].max() + room)
    axes.set_ylim(outline[:, 1].min() - room, outline[:, 1].max() + room)
    axes.set_aspect("equal")
    axes.set_xlabel("mm")
    return worst


def coverage() -> None:
    """The triangle of a link that most balls share, and the same with a ball that is too small."""
    robot = er.load_robot("teaarm")
    spheres = er.fit_spheres(robot)
    best = (0, "", np.zeros((3, 3)), np.zeros((0, 3)), np.zeros(0))
    for name, shape in link_shapes(robot):
        centers, radii = (np.ascontiguousarray(part) for part in spheres.link(name, attached=False))
        for triangle in shape.vertices[shape.faces]:
            sides = np.linalg.norm(triangle - np.roll(triangle, 1, axis=0), axis=1)
            area = 0.5 * np.linalg.norm(np.cross(triangle[1] - triangle[0], triangle[2] - triangle[0]))
            if area < 0.12 * sides.max() ** 2:
                continue
            count = len(cells(triangle, centers, radii)[0]) if sides.max() > 0.05 else 0
            if count > best[0]:
                best = (count, name, np.ascontiguousarray(triangle), centers, radii)
    _, name, triangle, centers, radii = best
    pieces, _ = cells(triangle, centers, radii)
    shares = [0.5 * np.linalg.norm(np.cross(p[1:-1] - p[0], p[2:] - p[0]).sum(axis=0)) for _, p in pieces]
    ball = pieces[int(np.argsort(shares)[-2])][0]
    smaller = radii.copy()
    smaller[ball] -= 0.006
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.6, 3.4), layout="constrained")
    held = draw_cells(left, triangle, centers, radii)
    left.set_title(f"proved: every corner is inside its ball\nby {-1e9 * held:.2g} nm or more", fontsize=10)
    gap = draw_cells(right, triangle, centers, smaller)
    right.set_title(
        f"one ball 6 mm smaller: not covered,\nby {1000 * gap:.1f} mm at the worst corner", fontsize=10
    )
    figure.suptitle(f"One triangle of {name}, cut by the cells of {len(pieces)} balls", fontsize=11)
    print(f"coverage: {name}, {len(pieces)} pieces, {held:.3e} m, {gap:.3e} m")
    save(figure, "coverage")


# Never ----------------------------------------------------------------------------------------


def never() -> None:
    """Boxes of a proof with two joints, and what samples say."""
    model = er.CollisionModel(er.load_robot("teaarm"))
    pair = ("base_link", "torso_link")
    proof = PairProof(model, *pair)
    assert len(proof.joints.lower) == 2
    names = [model.robot.joint_names[k] for k in proof.joints.cfg_idx]
    boxes = proof.boxes(BUFFER)
    assert 2 * len(boxes) - 1 == model.pairs.entries[pair].boxes  # the same boxes as in the library
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.6, 3.5), layout="constrained")
    patches = [Rectangle(c - h, *(2 * h)) for c, h, _ in boxes]
    shown = PatchCollection(patches, cmap="viridis", ec="white", lw=0.6)
    shown.set_array(np.array([1000 * (low + BUFFER) for *_, low in boxes]))
    left.add_collection(shown)
    left.set_xlim(proof.joints.lower[0], proof.joints.upper[0])
    left.set_ylim(proof.joints.lower[1], proof.joints.upper[1])
    units = ["m" if kind != 1 else "rad" for kind in proof.joints.kind]
    left.set_xlabel(f"{names[0]}, {units[0]}")
    left.set_ylabel(f"{names[1]}, {units[1]}")
    figure.colorbar(shown, ax=left, label="clearance proved in the box, mm")
    left.set_title(f"{pair[0]} and {pair[1]}:\nnever, proved by {len(boxes)} boxes", fontsize=10)
    samples = np.unique(np.geomspace(10, 1_000_000, 60).astype(int))
    for hits, colour in ((0, BLUE), (1, ORANGE), (10, GREEN)):
        rows = [_sentences.upper_bound(hits, int(n), 0.95) for n in samples if n > hits]
        right.loglog(samples[samples > hits], rows, color=colour, label=f"met in {hits} samples")
    right.loglog(samples, 3.0 / samples, ":", color="black", label="3 / n")
    here = _sentences.upper_bound(0, 10_000, 0.95)
    right.plot(10_000, here, "o", color=BLUE)
    right.annotate(f"{here:.4f}", (10_000, here), xytext=(10, 4), textcoords="offset points", fontsize=9)
    right.set_xlabel("samples n")
    right.set_title(
        "never, sampled: with 95 % confidence,\na random configuration meets less often", fontsize=10
    )
    right.legend(fontsize=8)
    right.grid(alpha=0.3)
    print(f"never: {len(boxes)} leaves, {2 * len(boxes) - 1} boxes, joints {names}")
    save(figure, "never")


# Segments -------------------------------------------------------------------------------------


def close_segment(model: er.CollisionModel, proof: PairProof) -> tuple[np.ndarray, np.ndarray]:
    """A free segment in the middle of which the spheres of a pair overlap."""
    cfgs = model.robot.random_cfgs(20_000, seed=7)
    ways = model.robot.random_cfgs(20_000, seed=8)
    for cfg, other in zip(cfgs, ways, strict=True):
        if not -0.015 < proof.clearance(cfg[proof.joints.cfg_idx]) < -0.005:
            continue
        step = 0.1 * (other - cfg)
        ends = [proof.clearance((cfg + way * step)[proof.joints.cfg_idx]) for way in (-1.0, 1.0)]
        if min(ends) > 0.01 and model.segment_free(cfg - step, cfg + step).free:
            return cfg - step, cfg + step
    raise SystemExit("no such segment among the samples")


def segments() -> None:
    """The pieces of a proof under the clearances of spheres and of meshes."""
    robot = er.load_robot("teaarm")
    model = er.CollisionModel(robot)
    pair = ("left_arm_l7", "torso_link")
    meshes = [TriangleMesh.from_trimesh(robot.link_mesh(name)) for name in pair]
    at = [robot.link_index(name) for name in pair]
    proof = PairProof(model, *pair)
    begin, end = close_segment(model, proof)

    def poses(t: float) -> np.ndarray:
        return robot.link_poses((begin + t * (end - begin))[None])[0, at]

    pieces = pieces_of(proof, meshes, poses, begin, end)
    times = np.linspace(0.0, 1.0, 301)
    true = [distance(meshes[0], poses(t)[0], meshes[1], poses(t)[1]).distance for t in times]
    by_spheres = [proof.clearance((begin + t * (end - begin))[proof.joints.cfg_idx]) for t in times]
    figure, axes = plt.subplots(figsize=(7.6, 3.8), layout="constrained")
    for t, half, low, by_meshes in pieces:
        colour = ORANGE if by_meshes else BLUE
        axes.add_patch(
            Rectangle((t - half, 0), 2 * half, 1000 * low, fc=colour, ec="white", lw=0.6, alpha=0.55)
        )
    axes.plot(times, 1000 * np.array(true), color="black", label="distance of the meshes")
    axes.plot(times, 1000 * np.array(by_spheres), "--", color=BLUE, label="distance of the spheres")
    axes.plot([], [], "s", color=BLUE, alpha=0.55, label="proved of a piece, by spheres")
    axes.plot([], [], "s", color=ORANGE, alpha=0.55, label="proved of a piece, by meshes")
    axes.axhline(0.0, color=GREY, lw=0.8)
    axes.set_xlim(0, 1)
    axes.set_xlabel("fraction of the segment")
    axes.set_ylabel("mm")
    axes.legend(fontsize=8)
    by = sum(piece[3] for piece in pieces)
    axes.set_title(f"{pair[0]} and {pair[1]}: {len(pieces)} pieces, {by} of them by meshes", fontsize=10)
    print(
        f"segments: {len(pieces)} pieces, {by} by meshes, least true {min(true):.4f} m, spheres {min(by_spheres):.4f} m"
    )
    save(figure, "segments")


# Depth ----------------------------------------------------------------------------------------


def depth() -> None:
    """Two links that overlap: a section, and the way out by direction."""
    robot = er.load_robot("teaarm")
    pair = ("left_arm_l5", "right_arm_l5")
    poses = robot.link_poses(robot.named_cfgs["self_collision"][None])[0, [robot.link_index(n) for n in pair]]
    a, b = (TriangleMesh.from_trimesh(robot.link_mesh(name)) for name in pair)
    contact = mesh_mesh_separation(a, poses[0], b, poses[1])
    u = contact.normal
    long = np.linalg.svd(posed(a, poses[0]) - posed(a, poses[0]).mean(axis=0), full_matrices=False)[2][0]
    v = long - (long @ u) * u
    v /= np.linalg.norm(v)
    axes3 = np.stack([u, v, np.cross(u, v)])
    angles = np.linspace(0, 2 * np.pi, 721)
    ways = separation_along(
        a, poses[0], b, poses[1], np.cos(angles)[:, None] * u + np.sin(angles)[:, None] * v
    )
    figure = plt.figure(figsize=(7.6, 3.8), layout="constrained")
    left = figure.add_subplot(1, 2, 1)
    for mesh, pose, colour, name in ((a, poses[0], BLUE, pair[0]), (b, poses[1], ORANGE, pair[1])):
        left.add_collection(
            LineCollection(section(mesh, pose, contact.point, axes3), color=colour, lw=1.4, label=name)
        )
    out = section(b, poses[1] + np.r_[0, 0, 0, 0, contact.depth * u], contact.point, axes3)
    left.add_collection(LineCollection(out, color=ORANGE, lw=0.9, ls=":", label="the same, moved out"))
    left.annotate(
        "",
        1000 * contact.depth * np.array([1.0, 0.0]),
        (0, 0),
        arrowprops={"arrowstyle": "-|>", "color": "black"},
    )
    left.autoscale()
    left.set_aspect("equal", "datalim")
    left.set_xlabel("mm along the normal")
    left.set_ylabel("mm")
    left.legend(fontsize=8, loc="lower right")
    left.set_title(f"a section: depth {1000 * contact.depth:.1f} mm as wholes", fontsize=10)
    right = figure.add_subplot(1, 2, 2, projection="polar")
    right.plot(angles, 1000 * ways, color=BLUE, label="first way out, mm")
    right.plot(angles, np.full(len(angles), 1000 * contact.depth), "-", color="black", lw=1, label="depth")
    right.plot(
        angles,
        np.full(len(angles), 1000 * contact.triangle_depth),
        "--",
        color=RED,
        lw=1,
        label="deepest triangles",
    )
    right.plot(0.0, 1000 * contact.depth, "o", color="black")
    right.legend(fontsize=8, loc="lower left", bbox_to_anchor=(-0.3, -0.16))
    right.set_rticks([50, 100], ["50 mm", "100 mm"])
    right.set_title("by direction in the same plane", fontsize=10)
    print(
        f"depth: {contact.depth:.5f} m, triangles {contact.triangle_depth:.5f} m, least in the plane {ways.min():.5f}"
    )
    save(figure, "depth")


# The two levels ---------------------------------------------------------------------------------


def levels() -> None:
    """What spheres accept and what falls to meshes, on robots of several shapes."""
    rows = []
    for name in ("panda", "ur5", "teaarm", "baxter", "talos"):
        robot = er.load_robot(name)
        model = er.CollisionModel(robot, threads=1)
        cfgs = robot.random_cfgs(20_000, seed=1)
        accepted, free = model.free(cfgs, by="spheres"), model.free(cfgs)
        assert not (accepted & ~free).any()
        seconds = []
        for by in ("spheres", "meshes"):
            best = math.inf
            for _ in range(3):
                start = time.process_time()
                model.free(cfgs, by=by)
                best = min(best, time.process_time() - start)
            seconds.append(1e6 * best / len(cfgs))
        rows.append((name, len(model.spheres.radii), accepted.mean(), (free & ~accepted).mean(), *seconds))
        print("| {} | {} | {:.1%} | {:.1%} | {:.1%} | {:.2f} | {:.2f} |".format(
            *rows[-1][:4], 1 - free.mean(), *seconds))  # fmt: skip
    figure, axes = plt.subplots(figsize=(7.6, 2.9), layout="constrained")
    for k, (name, n, accepted, more, fast, slow) in enumerate(rows):
        parts = (accepted, BLUE), (more, ORANGE), (1 - accepted - more, "#d9d9d9")
        start = 0.0
        for share, colour in parts:
            axes.barh(k, 100 * share, left=100 * start, color=colour, height=0.7)
            start += share
        axes.text(101, k, f"{fast:.1f} / {slow:.1f} us", va="center", fontsize=9)
        axes.text(-1, k, f"{name}, {n} spheres", va="center", ha="right", fontsize=9)
    for colour, label in (
        (BLUE, "spheres accept"),
        (ORANGE, "meshes decide: free"),
        ("#d9d9d9", "meshes decide: not free"),
    ):
        axes.plot([], [], "s", color=colour, label=label)
    axes.text(101, -0.75, "spheres / all", fontsize=8, va="center")
    axes.legend(fontsize=8, ncols=3, loc="lower center", bbox_to_anchor=(0.45, 1.0), frameon=False)
    axes.set_yticks([])
    axes.set_xlim(0, 100)
    axes.invert_yaxis()
    axes.set_xlabel("% of 20,000 random configurations")
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    save(figure, "levels")


def main(names: list[str]) -> None:
    """Draws the requested pictures."""
    mpl.rcParams.update({"font.size": 9, "figure.facecolor": "white", "axes.facecolor": "white"})
    drawings = {"coverage": coverage, "never": never, "segments": segments, "depth": depth, "levels": levels}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", er.errors.ApproximationWarning)
        for name in names or drawings:
            drawings[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
