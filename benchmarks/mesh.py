"""Mesh collision side by side with Coal (OBBRSS) and python-fcl, in one run, on sweeps of varied poses.

Every figure is the CPU time of a whole sweep divided by its poses: ours as one batched call on one thread, theirs as
the Python loop a user writes, with poses prepared beforehand; for both the best of as many runs. One repeated pose
would flatter us by up to 100 times (branch prediction); that is why there are sweeps.
`python -m benchmarks.mesh [--quick] [--json FILE]`.
"""

from __future__ import annotations

import argparse
import functools
import json
import platform
import site
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import coal
import fcl
import numpy as np
import trimesh

from elbowroom.mesh import (
    MeshScene,
    TriangleMesh,
    collide,
    collide_batch,
    distance_batch,
    mesh_mesh_contact_batch,
    mesh_mesh_deepest_contact,
    mesh_mesh_separation,
    triangle_triangle_intersection,
)
from tests.oracles import coal_mesh, coal_pose

from ._machine import version
from ._table import Row
from ._timing import cpu_seconds

IDENTITY = np.eye(4)
SWEEPS = {"overlapping": (0.2, 0.5), "near": (0.4, 0.8), "apart": (0.7, 1.2)}
"""Distance between the centres of the bounding boxes, in sums of their radii."""


def cube(subdivisions: int) -> trimesh.Trimesh:
    mesh = trimesh.creation.box()
    for _ in range(subdivisions):
        mesh = mesh.subdivide()
    return mesh


def link(path: str) -> trimesh.Trimesh | None:
    for root in map(Path, site.getsitepackages()):
        file = root / "cmeel.prefix/share/example-robot-data/robots" / path
        if file.is_file():
            mesh = trimesh.load(file, force="mesh")
            mesh.merge_vertices()
            return mesh
    return None


def cases() -> list[tuple[str, trimesh.Trimesh, trimesh.Trimesh]]:
    torus = trimesh.creation.torus(1.0, 0.3, major_sections=32, minor_sections=16)
    found = [(f"cubes {12 * 4**s}", cube(s), cube(s)) for s in range(5)] + [("tori 1024", torus, torus)]
    for name, a, b in (
        (
            "panda link5-hand",
            "panda_description/meshes/collision/link5.stl",
            "panda_description/meshes/collision/hand.stl",
        ),
        (
            "talos arm4-torso",
            "talos_data/meshes/arm/arm_4_collision.STL",
            "talos_data/meshes/torso/torso_2_collision.STL",
        ),
        ("g1 knee-pelvis", "g1_description/meshes/left_knee_link.STL", "g1_description/meshes/pelvis.STL"),
        (
            "ur5 forearm-upperarm",
            "ur_description/meshes/ur5/collision/forearm.stl",
            "ur_description/meshes/ur5/collision/upperarm.stl",
        ),
    ):
        left, right = link(a), link(b)
        if left is not None and right is not None:
            found.append((name, left, right))
    return found


def sweep(a: trimesh.Trimesh, b: trimesh.Trimesh, n: int, low: float, high: float, seed: int) -> np.ndarray:
    """Random rotations and directions; the centre of b is `low` to `high` sums of the radii away from a's."""
    rng = np.random.default_rng(seed)
    q = rng.normal(size=(n, 4))
    away = rng.normal(size=(n, 3))
    away /= np.linalg.norm(away, axis=1, keepdims=True)
    radius = 0.5 * (np.linalg.norm(a.extents) + np.linalg.norm(b.extents))
    T = np.stack([trimesh.transformations.quaternion_matrix(k) for k in q])
    centre = a.bounds.mean(axis=0) + away * (rng.uniform(low, high, n) * radius)[:, None]
    T[:, :3, 3] = centre - T[:, :3, :3] @ b.bounds.mean(axis=0)
    return T


def linked_tori(n: int) -> np.ndarray:
    """Poses of a torus linked with another: turned about the ring of the first and shaken a little."""
    rng = np.random.default_rng(5)
    T = np.tile(np.array([[1.0, 0, 0, 1], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]]), (n, 1, 1))
    for i, angle in enumerate(rng.uniform(0, 2 * np.pi, n)):
        turn = trimesh.transformations.rotation_matrix(angle, [0, 0, 1])
        shake = trimesh.transformations.rotation_matrix(rng.uniform(-0.3, 0.3), rng.normal(size=3))
        T[i] = turn @ T[i] @ shake
        T[i, :3, 3] += rng.uniform(-0.1, 0.1, 3)
    return T


def fcl_mesh(mesh: trimesh.Trimesh) -> Any:
    model = fcl.BVHModel()
    model.beginModel(len(mesh.vertices), len(mesh.faces))
    model.addSubModel(np.asarray(mesh.vertices), np.asarray(mesh.faces))
    model.endModel()
    return model


class Peers:
    """Coal and FCL models of a pair and its prepared poses."""

    def __init__(self, a: trimesh.Trimesh, b: trimesh.Trimesh, Ts: np.ndarray) -> None:
        self.a, self.b = (coal_mesh(m.vertices, m.faces) for m in (a, b))
        self.at_a = coal.Transform3s()
        self.at_b = [coal_pose(T) for T in Ts]
        self.fcl_a, model = fcl.CollisionObject(fcl_mesh(a)), fcl_mesh(b)
        self.fcl_b = [fcl.CollisionObject(model, fcl.Transform(T[:3, :3], T[:3, 3])) for T in Ts]

    def coal_collide(self, contacts: int) -> list[int]:
        request = coal.CollisionRequest()
        request.enable_contact, request.num_max_contacts = contacts > 1, contacts
        found = []
        for T in self.at_b:
            result = coal.CollisionResult()
            coal.collide(self.a, self.at_a, self.b, T, request, result)
            found.append(result.numContacts())
        return found

    def fcl_collide(self, contacts: int) -> list[int]:
        request = fcl.CollisionRequest(num_max_contacts=contacts, enable_contact=contacts > 1)
        found = []
        for moved in self.fcl_b:
            result = fcl.CollisionResult()
            fcl.collide(self.fcl_a, moved, request, result)
            found.append(len(result.contacts))
        return found

    def coal_distance(self) -> list[float]:
        request, found = coal.DistanceRequest(), []
        for T in self.at_b:
            result = coal.DistanceResult()
            coal.distance(self.a, self.at_a, self.b, T, request, result)
            found.append(result.min_distance)
        return found


def measure(
    name: str, a: trimesh.Trimesh, b: trimesh.Trimesh, Ts: np.ndarray, repeats: int
) -> list[dict[str, Any]]:
    """Microseconds a pose of all three libraries for boolean, contacts and distance on one sweep."""
    ours_a, ours_b, peers, n = (
        TriangleMesh.from_trimesh(a),
        TriangleMesh.from_trimesh(b),
        Peers(a, b, Ts),
        len(Ts),
    )
    everything = 10**7

    def row(query: str, ours: float, coal_seconds: float, fcl_seconds: float | None) -> dict[str, Any]:
        us = {"ours_us": 1e6 * ours / n, "coal_us": 1e6 * coal_seconds / n, "coal_ratio": coal_seconds / ours}
        if fcl_seconds is not None:
            us |= {"fcl_us": 1e6 * fcl_seconds / n, "fcl_ratio": fcl_seconds / ours}
        return {"case": name, "query": query, **us}

    def boolean() -> Any:
        return collide_batch(ours_a, IDENTITY, ours_b, Ts)

    def contacts() -> Any:
        return mesh_mesh_contact_batch(ours_a, IDENTITY, ours_b, Ts)

    def distance() -> Any:
        return distance_batch(ours_a, IDENTITY, ours_b, Ts, signed=False)

    share = float(boolean().mean())
    contacts(), distance()
    rows = [
        row(
            "boolean",
            cpu_seconds(boolean, repeats),
            cpu_seconds(lambda: peers.coal_collide(1), repeats),
            cpu_seconds(lambda: peers.fcl_collide(1), repeats),
        )
    ]
    if share > 0.02:
        theirs, others = (
            cpu_seconds(lambda: peers.coal_collide(everything), repeats),
            cpu_seconds(lambda: peers.fcl_collide(everything), repeats),
        )
        rows.append(row("contacts", cpu_seconds(contacts, repeats), theirs, others))
    if share < 0.98:
        rows.append(
            row("distance", cpu_seconds(distance, repeats), cpu_seconds(peers.coal_distance, repeats), None)
        )
    for r in rows:
        r["colliding"] = share
    return rows


def humanoid(n: int, repeats: int) -> list[dict[str, Any]]:
    """Ten parts of 192 triangles, all 45 pairs and the 9 adjacent ones, in shaken standing poses."""
    sizes = [
        (0.3, 0.2, 0.5), (0.2, 0.2, 0.25), (0.1, 0.1, 0.3), (0.1, 0.1, 0.3), (0.09, 0.09, 0.28),
        (0.09, 0.09, 0.28), (0.14, 0.14, 0.42), (0.14, 0.14, 0.42), (0.11, 0.11, 0.4), (0.11, 0.11, 0.4),
    ]  # fmt: skip
    places = [
        (0, 0, 1.2), (0, 0, 1.6), (0.22, 0, 1.3), (-0.22, 0, 1.3), (0.24, 0, 1.02),
        (-0.24, 0, 1.02), (0.1, 0, 0.75), (-0.1, 0, 0.75), (0.1, 0, 0.36), (-0.1, 0, 0.36),
    ]  # fmt: skip
    adjacent = [(0, 1), (0, 2), (0, 3), (2, 4), (3, 5), (0, 6), (0, 7), (6, 8), (7, 9)]
    parts = [cube(2).apply_scale(size) for size in sizes]
    rng = np.random.default_rng(3)
    poses = np.zeros((n, 10, 4, 4))
    for i in range(n):
        for k in range(10):
            T = trimesh.transformations.rotation_matrix(rng.normal(scale=0.3), rng.normal(size=3))
            T[:3, 3] = np.add(places[k], rng.normal(scale=0.02, size=3))
            poses[i, k] = T
    models, meshes = (
        [coal_mesh(p.vertices, p.faces) for p in parts],
        [TriangleMesh.from_trimesh(p) for p in parts],
    )
    everything = [(i, j) for i in range(10) for j in range(i + 1, 10)]
    rows = []
    for name, pairs in (("humanoid 45 pairs", everything), ("humanoid 9 pairs", adjacent)):
        scene = MeshScene(meshes, pairs)
        frames = [[coal_pose(T) for T in row] for row in poses]

        def theirs(pairs: list[tuple[int, int]] = pairs, frames: Any = frames) -> None:
            request = coal.CollisionRequest()
            request.enable_contact = False
            for row in frames:
                for i, j in pairs:
                    coal.collide(models[i], row[i], models[j], row[j], request, coal.CollisionResult())

        def ours(scene: MeshScene = scene) -> None:
            scene.states(poses)

        ours()
        mine, his = cpu_seconds(ours, repeats), cpu_seconds(theirs, repeats)
        rows.append(
            {
                "case": name,
                "query": "boolean",
                "ours_us": 1e6 * mine / n,
                "coal_us": 1e6 * his / n,
                "coal_ratio": his / mine,
                "colliding": float((scene.states(poses) > 0).mean()),
            }
        )
    return rows


def stacked_cubes(n: int, repeats: int) -> list[dict[str, Any]]:
    """Microseconds for ten unit cubes of 48 triangles, all 45 pairs and the 9 of neighbours, in random poses.

    The layout of CortenForge's benchmark `humanoid_self_collision` (sim-core/benches/collision_benchmarks.rs), which
    states 516 and 166 us for the deepest triangle contacts: cube i at a height of 0.15 i, x and y in [-0.5, 0.5], not
    turned; and the same turned at random. Single calls pair by pair, and one call of a `MeshScene` for all pairs.
    """
    rng, part, rows = np.random.default_rng(5), TriangleMesh.from_trimesh(cube(1)), list[dict[str, Any]]()
    placed = np.tile(np.eye(4), (n, 10, 1, 1))
    placed[:, :, :2, 3], placed[:, :, 2, 3] = rng.uniform(-0.5, 0.5, (n, 10, 2)), 0.15 * np.arange(10)
    turned = placed.copy()
    for T in turned.reshape(-1, 4, 4):
        T[:3, :3] = trimesh.transformations.random_rotation_matrix(rng.random(3))[:3, :3]
    for how, poses in (("as placed", placed), ("turned", turned)):
        for name, pairs in (
            ("45 pairs", [(i, j) for i in range(10) for j in range(i + 1, 10)]),
            ("9 pairs", [(i, i + 1) for i in range(9)]),
        ):
            scene = MeshScene([part] * 10, pairs)

            def one_by_one(function: Any, poses: Any, pairs: Any = pairs) -> None:
                for T in poses:
                    for i, j in pairs:
                        function(part, T[i], part, T[j])

            def at_once(function: Any, poses: Any = poses) -> None:
                for T in poses:
                    function(T[None])

            few = poses[: max(2, n // 20)]
            queries = {
                "boolean": functools.partial(one_by_one, collide, poses),
                "boolean, one call": functools.partial(at_once, scene.colliding),
                "deepest triangle contact": functools.partial(one_by_one, mesh_mesh_deepest_contact, poses),
                "deepest triangle contact, one call": functools.partial(at_once, scene.deepest_contacts),
                "separation": functools.partial(one_by_one, mesh_mesh_separation, few),
            }
            for query, work in queries.items():
                work()
                count = len(few) if query == "separation" else n
                us = 1e6 * cpu_seconds(work, repeats) / count
                rows.append({"case": f"ten cubes, {name}, {how}", "query": query, "us": us})
    return rows


def deepest_contacts(n: int, repeats: int) -> list[dict[str, Any]]:
    """Microseconds of single calls for the deepest contact of two triangles and for the separation of the meshes.

    Cubes of 192 and 768 triangles (convex), 0.3 apart as in CortenForge's benchmark (which states 172 and 657 us for
    the deepest triangle contact), overlapping by half (their triangles slide along each other) and at odd offsets, and
    links (not convex) in random poses: the median over the poses, each the best of some calls.
    """
    rng = np.random.default_rng(4)
    half = np.tile(np.eye(4), (n, 1, 1))
    half[np.arange(n), np.arange(n) % 3, 3] = 0.5 * (-1.0) ** np.arange(n)
    stated = np.tile(np.eye(4), (n, 1, 1))
    stated[:, 0, 3] = 0.3
    odd = np.tile(np.eye(4), (n, 1, 1))
    odd[:, :3, 3] = rng.uniform(0.2, 0.7, (n, 3)) * rng.choice([-1.0, 1.0], (n, 3))
    sweeps = [
        (f"cubes {12 * 4**s}, {k}", cube(s), cube(s), T)
        for s in (2, 3)
        for k, T in (("0.3", stated), ("half", half), ("odd", odd))
    ]
    sweeps += [
        (f"{name}, overlapping", a, b, sweep(a, b, n, *SWEEPS["overlapping"], seed=6))
        for name, a, b in cases()
        if "-" in name
    ]
    rows = []
    for name, left, right, Ts in sweeps:
        a, b = TriangleMesh.from_trimesh(left), TriangleMesh.from_trimesh(right)
        Ts = Ts[collide_batch(a, None, b, Ts)]
        row: dict[str, Any] = {"case": name, "poses": len(Ts)}
        for key, function in (
            ("triangle_us", mesh_mesh_deepest_contact),
            ("true_us", mesh_mesh_separation),
        ):
            function(a, None, b, Ts[0])
            seconds = [cpu_seconds(functools.partial(function, a, None, b, T), repeats) for T in Ts]
            row[key] = 1e6 * float(np.median(seconds))
        rows.append(row)
    return rows


def first_calls() -> dict[str, float]:
    """Seconds of a fresh process for the first boolean, contact, distance and depth."""
    code = (
        "import time; t = time.perf_counter()\n"
        "import numpy as np; from elbowroom import mesh\n"
        "print('import', time.perf_counter() - t); T = np.eye(4); T[0, 3] = 0.9; far = np.eye(4); far[0, 3] = 3.0\n"
        "def step(name, f):\n    t = time.perf_counter(); f(); print(name, time.perf_counter() - t)\n"
        "step('build', lambda: globals().update(a=mesh.TriangleMesh.box((1, 1, 1))))\n"
        "step('boolean', lambda: mesh.collide(a, None, a, T))\n"
        "step('contacts', lambda: mesh.mesh_mesh_contact(a, None, a, T))\n"
        "step('distance', lambda: mesh.distance(a, None, a, far))\n"
        "step('deepest', lambda: mesh.mesh_mesh_deepest_contact(a, None, a, T))\n"
        "step('separation', lambda: mesh.mesh_mesh_separation(a, None, a, T))\n"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    return {f"{name} s": float(seconds) for name, seconds in map(str.split, out.splitlines())}


def triangle_pairs(n: int = 10_000) -> float:
    """Milliseconds for n triangle pairs: two soups met all against all by the tree, contacts included."""
    rng = np.random.default_rng(0)
    corners = rng.normal(size=(100, 3, 3))
    soup = TriangleMesh(corners.reshape(-1, 3), np.arange(300).reshape(-1, 3))
    mesh_mesh_contact_batch(soup, IDENTITY, soup, IDENTITY)
    triangle_triangle_intersection(corners[0], corners[1])
    return 1e3 * cpu_seconds(lambda: mesh_mesh_contact_batch(soup, IDENTITY, soup, IDENTITY), 5) * n / 10_000


def compared(n: int, repeats: int) -> list[dict[str, Any]]:
    """All cases beside Coal and FCL: n poses each."""
    found: list[dict[str, Any]] = []
    for name, a, b in cases():
        for k, (kind, (low, high)) in enumerate(SWEEPS.items()):
            found += measure(f"{name}, {kind}", a, b, sweep(a, b, n, low, high, seed=k), repeats)
    torus = trimesh.creation.torus(1.0, 0.3, major_sections=32, minor_sections=16)
    found += measure("tori 1024, interlinked", torus, torus, linked_tori(n), repeats)
    return found + humanoid(max(20, n // 3), repeats)


QUICK = 100, 3
"""Poses and repeats."""


def rows() -> Iterator[Row]:
    """Of the table: geometric means over the cases of a kind, with the case in which the ratio is least."""
    kinds: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for found in compared(*QUICK):
        case = found["case"]
        kind = case if "humanoid" in case else "links of robots" if "-" in case else "cubes and tori"
        kinds.setdefault((kind, found["query"]), []).append(found)
    for (kind, query), group in kinds.items():
        for peer, short in (("Coal", "coal"), ("python-fcl", "fcl")):
            both = [found for found in group if f"{short}_us" in found]
            if both:
                least = min(both, key=lambda found: found[f"{short}_ratio"])
                ours, theirs = (
                    float(np.exp(np.mean([np.log(found[key]) for found in both])))
                    for key in ("ours_us", f"{short}_us")
                )
                low = f"least ratio {least[f'{short}_ratio']:.1f} ({least['case']})"
                note = f"{kind}, {query}, {peer}: {len(both)} sweeps, {low}" if len(both) > 1 else ""
                yield Row(
                    "mesh", kind, f"{query}, CPU time", ours, "us", theirs, peer, version(peer), note=note
                )
    for found in stacked_cubes(*QUICK):
        yield Row("mesh", found["case"], f"{found['query']}, CPU time", found["us"], "us")
    for found in deepest_contacts(QUICK[0] // 5, QUICK[1]):
        if "cubes" in found["case"]:
            yield Row("mesh", found["case"], "deepest triangle contact, CPU time", found["triangle_us"], "us")
            yield Row("mesh", found["case"], "separation, CPU time", found["true_us"], "us")
    yield Row(
        "mesh", "two soups of 100 triangles", "10,000 triangle pairs with contacts", triangle_pairs(), "ms"
    )


def main(arguments: list[str] | None = None) -> dict[str, Any]:
    """Runs the suite and prints a table; returns everything as plain values."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer poses and repeats, no first-call times")
    parser.add_argument("--json", type=Path, help="write the results here")
    options = parser.parse_args(arguments)
    n, repeats = QUICK if options.quick else (300, 3)
    rows = compared(n, repeats)
    result: dict[str, Any] = {
        "machine": platform.processor() or platform.machine(),
        "rows": rows,
        "median": {},
    }
    result["10,000 triangle pairs ms"] = triangle_pairs()
    result["deepest contacts"] = deepest_contacts(max(20, n // 5), repeats)
    result["ten cubes"] = stacked_cubes(n, repeats)
    if not options.quick:
        result["first calls"] = first_calls()
    print(
        f"{'case':34s} {'query':9s} {'hit':>5s} {'ours us':>9s} {'coal us':>9s} {'x':>6s} {'fcl us':>9s} {'x':>6s}"
    )
    for r in rows:
        other = f"{r['fcl_us']:9.2f} {r['fcl_ratio']:6.1f}" if "fcl_us" in r else ""
        hit = f"{100 * r['colliding']:4.0f}%"
        line = f"{r['case']:34s} {r['query']:9s} {hit:>5s} {r['ours_us']:9.2f} {r['coal_us']:9.2f}"
        print(f"{line} {r['coal_ratio']:6.1f} {other}")
    for query in ("boolean", "contacts", "distance"):
        of = [r for r in rows if r["query"] == query]
        ratios, others = [r["coal_ratio"] for r in of], [r["fcl_ratio"] for r in of if "fcl_ratio" in r]
        summary = {"coal median": float(np.median(ratios)), "coal worst": min(ratios)}
        if others:
            summary |= {"fcl median": float(np.median(others)), "fcl worst": min(others)}
        result["median"][query] = summary
        print(query, {k: round(v, 1) for k, v in summary.items()})
    print(f"{'deepest contact and separation':34s} {'of triangles us':>20s} {'of the meshes us':>20s}")
    for r in result["deepest contacts"]:
        print(f"{r['case']:34s} {r['triangle_us']:20.0f} {r['true_us']:20.0f}")
    for r in result["ten cubes"]:
        print(f"{r['case']:34s} {r['query']:36s} {r['us']:9.0f} us")
    for key in ("10,000 triangle pairs ms", "first calls"):
        if key in result:
            print(key, result[key])
    if options.json:
        options.json.write_text(json.dumps(result, indent=1))
    return result


if __name__ == "__main__":
    main()
