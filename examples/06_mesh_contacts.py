"""Mesh contacts: a peg in a ring, separated, touching and stuck, resolved to single
triangles.

The two meshes are not convex: the peg stands in the hole of the ring, where convex
hulls or boxes would report a collision. Prints the clearance, then the contacts, the
merged contact points and the depth when the peg is pushed into the wall and when it
leans.

    python examples/06_mesh_contacts.py
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
import trimesh

from elbowroom import mesh

HOLE, WALL, HEIGHT = 0.025, 0.015, 0.03
"""The ring: radius of its hole, wall thickness and height, in metres."""
PEG, LENGTH = 0.020, 0.12
"""Radius and length of the peg, metres."""
SIDES = 48
"""Number of sides of the polygon that stands for a circle."""


@dataclass(frozen=True)
class Case:
    """Results for the peg at one pose."""

    name: str
    T_world_peg: np.ndarray
    distance: mesh.MeshDistance
    contacts: mesh.Contacts
    manifold: mesh.Manifold | None


def pose(sideways: float = 0.0, lean_deg: float = 0.0) -> np.ndarray:
    """T_world_peg: shifted along x by metres, leaning towards x by degrees."""
    angle = np.radians(lean_deg)
    T = np.eye(4)
    T[:3, :3] = [
        [np.cos(angle), 0, np.sin(angle)],
        [0, 1, 0],
        [-np.sin(angle), 0, np.cos(angle)],
    ]
    T[0, 3] = sideways
    return T


def ring_and_peg() -> tuple[mesh.TriangleMesh, mesh.TriangleMesh]:
    """Builds ring and peg, both upright at the origin."""
    ring = trimesh.creation.annulus(HOLE, HOLE + WALL, height=HEIGHT, sections=SIDES)
    peg = trimesh.creation.cylinder(PEG, LENGTH, sections=SIDES)
    return mesh.TriangleMesh.from_trimesh(ring), mesh.TriangleMesh.from_trimesh(peg)


def report(case: Case) -> None:
    """Prints one case."""
    if case.manifold is None:
        print(
            f"{case.name}: apart by {1e3 * case.distance.distance:.2f} mm, "
            f"{len(case.contacts)} triangles meet"
        )
        return
    found = case.manifold
    way = ", ".join(f"{value:+.2f}" for value in found.normal)
    print(
        f"{case.name}: {len(case.contacts)} pairs of triangles meet; patches: "
        f"{found.n_patches}, points: {len(found)}"
    )
    print(
        f"  depth {1e3 * found.depth:.2f} mm; moving the peg by that along ({way}) "
        "parts them"
    )


def main(
    argv: list[str] | None = None,
) -> tuple[mesh.TriangleMesh, mesh.TriangleMesh, list[Case]]:
    """Tests several poses and prints; returns ring, peg and the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--into",
        type=float,
        default=0.002,
        help="how far the peg is pushed into the wall, metres",
    )
    parser.add_argument(
        "--lean", type=float, default=20.0, help="how far it leans, degrees"
    )
    args = parser.parse_args(argv)

    ring, peg = ring_and_peg()
    print(
        f"ring {len(ring)} triangles, peg {len(peg)} triangles, closed: "
        f"{ring.closed and peg.closed}"
    )
    poses = {
        "in the middle": pose(),
        "pushed aside": pose(HOLE - PEG + args.into),
        "leaning": pose(0.0, args.lean),
    }
    cases = []
    for name, T in poses.items():
        cases.append(
            Case(
                name,
                T,
                mesh.distance(ring, None, peg, T),
                mesh.mesh_mesh_contact(ring, None, peg, T),
                mesh.contact_manifold(ring, None, peg, T, max_points=4),
            )
        )
        report(cases[-1])

    angles = np.linspace(0.0, 40.0, 401)
    free = ~mesh.collide_batch(
        ring, None, peg, np.array([pose(0.0, angle) for angle in angles])
    )
    print(
        f"it leans up to {angles[free].max():.1f} degrees without touching, of "
        f"{len(angles)} angles in one call"
    )
    return ring, peg, cases


if __name__ == "__main__":
    main()
