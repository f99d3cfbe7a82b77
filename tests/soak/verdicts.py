"""Verdicts: free, clearance and proofs of segments against Pinocchio and Coal on the whole robot and its surroundings.

Bands: Coal's answers are zero up to about a micrometre of real distance (`plan_oracles.decided`); curved primitives of
the robot are judged by triangles at most 1 % of the radius outside between links, 0.1 mm among obstacles, so refusing
within that is right and calling free what touches is not.
"""

from __future__ import annotations

import numpy as np

from benchmarks.truth import OUTSIDE, causes, confirmed, largest_radius
from benchmarks.truth_world import TOLERANCE, tally
from elbowroom.errors import ElbowroomError
from elbowroom.world import SCENES, HalfSpace, PointCloud, World, scene_for
from tests.clouds import CloudJudge, cloud_of
from tests.segment_oracles import refuted_by_world, small_steps
from tests.world import world_tools
from tests.world_oracles import CoalWorld

from .case import Case, Told, clear, demand
from .models import Judged, installed, random_judged, real
from .random_robots import TAME

ROWS = 40
"""Configurations asked about in a case."""
COAL = 5e-6
"""Metres by which Coal's distances may be off."""
KINDS = tuple(kind for kind in world_tools.KINDS if kind not in ("point_cloud", "sdf_grid"))
"""Obstacles that Coal has too."""


def run(case: Case) -> Told:
    kind = str(case.rng.choice(["random robot", "real robot"], p=[0.6, 0.4]))
    if kind == "real robot":
        judged = real(str(case.rng.choice(installed())))
    else:
        try:
            judged = random_judged(case.rng, case.folder, TAME)
        except ElbowroomError as error:
            clear(error)
            return Told(kind, refused=True)
    if not judged.robot.dof:
        return Told("robot that stands still")
    notes = check_free(judged, judged.cfgs(case.rng, ROWS))
    check_clearance(judged, judged.cfgs(case.rng, 6))
    world = random_world(judged, case)
    world.write(case.folder / "scene.json")
    check_world(judged, world, judged.cfgs(case.rng, ROWS))
    check_segments(judged, world, case.rng)
    if case.rng.uniform() < 0.2:
        check_cloud(judged, world, case)
    return Told(kind, notes=notes)


def random_world(judged: Judged, case: Case, in_the_way: float = 0.3) -> World:
    """A generated scene, or a few things of any size anywhere near.

    Things that touch the robot at its default pose stay in a share `in_the_way` of the cases.
    """
    rng, model = case.rng, judged.model
    if rng.uniform() < 0.4:
        return scene_for(judged.robot, str(rng.choice(SCENES)), case.number(10_000))
    kinds = rng.choice(KINDS, int(rng.integers(1, 6)))
    reach = 0.3 + float(np.abs(judged.robot.link_poses(model.default_cfg)[:, 4:]).max())
    world = World(world_tools.draw(str(k), rng, reach, name=f"thing{n}") for n, k in enumerate(kinds))
    if rng.uniform() < in_the_way:
        return world
    for name in {obstacle for _, obstacle in model.with_world(world).in_contact()}:
        world = world.remove(name)
    return world


def check_free(judged: Judged, cfgs: np.ndarray) -> tuple[str, ...]:
    """The robot against itself: no miss, by meshes or spheres, and no refusal without a cause."""
    model, oracle = judged.model, judged.oracle
    ours, spheres = model.free(cfgs), model.free(cfgs, by="spheres")
    truth = oracle.free(cfgs, judged.pairs)
    demand(
        not (spheres & ~ours).any(),
        f"free by spheres and not by meshes: {cfgs[spheres & ~ours][:1].tolist()}",
    )
    missed = cfgs[ours & ~truth]
    real = confirmed(oracle, list(judged.pairs), missed)
    demand(not real, f"{real} of {len(cfgs)} are called free and collide: {missed[:2].tolist()}")
    alarms = causes(model, oracle, cfgs[~ours & truth][:4])
    demand(
        not alarms["unexplained"], f"refused without a cause, {alarms}: {cfgs[~ours & truth][:2].tolist()}"
    )
    for k, cfg in enumerate(cfgs[:3]):
        verdict = model.explain(cfg)
        demand(verdict.free == ours[k], f"free says {ours[k]}, explain says {verdict.free}: {cfg.tolist()}")
        demand(bool(verdict.clashes) != verdict.free, f"{verdict} has {len(verdict.clashes)} clashes")
    if judged.sampled and not oracle.free(cfgs[ours], judged.sampled).all():
        return ("free where a pair meets that never did in samples",)
    return ()


def check_clearance(judged: Judged, cfgs: np.ndarray) -> None:
    """A lower bound of Coal's distance over the checked pairs; measured, within what curved shapes are enclosed by."""
    model = judged.model
    checked = [pair for pair in model.pairs.checked if set(pair) <= set(judged.oracle.links)]
    if not checked:
        return
    apart = judged.oracle.distances(cfgs, checked)
    bound, measured = model.clearance(cfgs), model.clearance(cfgs, exact=True)
    free = model.free(cfgs)
    for k, cfg in enumerate(cfgs):
        truth = float(apart[k].min())
        where = f"at {cfg.tolist()}"
        demand((bound[k] > 0.0) == free[k], f"clearance {bound[k]:.3g} and free {free[k]} {where}")
        demand(
            bound[k] <= measured[k] + 1e-9,
            f"bound {bound[k]!r} above what is measured, {measured[k]!r} {where}",
        )
        if truth <= 0.0:
            demand(measured[k] <= COAL, f"clearance {measured[k]:.6g} and Coal finds contact {where}")
            continue
        demand(bound[k] <= truth + COAL, f"bound {bound[k]!r} above Coal's distance {truth!r} {where}")
        slack = 2.0 * OUTSIDE * max(largest_radius(judged.robot, link) for link in judged.oracle.links)
        if measured[k] > 0.0:
            demand(
                truth - slack - COAL <= measured[k] <= truth + COAL,
                f"measured {measured[k]!r}, Coal {truth!r}, slack {slack:.3g} {where}",
            )


def check_world(judged: Judged, world: World, cfgs: np.ndarray) -> None:
    """The robot among obstacles, at configurations at which nothing is wrong with the robot itself."""
    itself = judged.oracle.free(cfgs, judged.pairs)
    agreed = judged.model.free(cfgs) == itself
    cfgs, itself = cfgs[agreed], itself[agreed]
    found = tally(judged.model, judged.oracle, world, cfgs, itself)
    demand(not found.misses, f"called free and touching: {found}")
    demand(not found.misses_by_spheres, f"called free by spheres and touching: {found}")
    demand(
        not found.alarms_unexplained + found.alarms_of_primitives,
        f"refused at more than {TOLERANCE} m: {found}",
    )


def check_cloud(judged: Judged, world: World, case: Case) -> None:
    """The balls of a cloud against every triangle, at configurations that the robot itself leaves free."""
    seen = [obstacle for obstacle in world if not isinstance(obstacle, HalfSpace)]
    if not seen:
        return
    points = cloud_of(World(seen), 300, seed=case.number())
    radius = float(case.rng.uniform(0.005, 0.03))
    cloud = PointCloud(points, radius, name="cloud")
    model, judge = judged.model.with_world(World([cloud])), CloudJudge(judged.robot, cloud.points, radius)
    cfgs = judged.cfgs(case.rng, 12)
    cfgs = cfgs[judged.model.free(cfgs)][:4]
    ours, spheres = model.free(cfgs), model.free(cfgs, by="spheres")
    for k, cfg in enumerate(cfgs):
        gap = judge.clearance(cfg)
        demand(
            gap > -1e-9 or not ours[k],
            f"free among the balls of a cloud, {gap:.3g} m from them: {cfg.tolist()}",
        )
        demand(gap <= 1e-4 or ours[k], f"refused {gap:.3g} m from the balls of a cloud: {cfg.tolist()}")
        demand(ours[k] or not spheres[k], f"free by spheres and not by meshes: {cfg.tolist()}")


def check_segments(judged: Judged, world: World, rng: np.random.Generator) -> None:
    """Proved free: Coal finds nothing on the way. Blocked: something touches there."""
    model, judge = judged.model.with_world(world), CoalWorld(judged.oracle, world)
    begins = judged.cfgs(rng, 16)
    begins = begins[model.free(begins)][:3]
    ends = begins + rng.uniform(0.02, 0.3) * (judged.cfgs(rng, len(begins)) - begins)
    proofs = model.segments_free(begins, ends)
    for k, (a, b) in enumerate(zip(begins, ends, strict=True)):
        proof, where = proofs[k], f"from {a.tolist()} to {b.tolist()}"
        if proof.blocked_at is not None:
            demand(
                not model.free(a + proof.blocked_at * (b - a)),
                f"blocked at {proof.blocked_at} and free there {where}",
            )
        if not proof.free:
            continue
        path = small_steps(judge, a, b, 0.004)
        demand(not refuted_by_world(judge, path, 0.004), f"proved, and an obstacle is touched {where}")
        hit = path[~judged.oracle.free(path, judged.pairs)]
        demand(not confirmed(judged.oracle, list(judged.pairs), hit), f"proved, and links touch {where}")
        low = float(model.clearance(path[:: len(path) // 8 + 1], exact=True).min())
        demand(
            proof.clearance <= low + 1e-9, f"clearance {proof.clearance!r} claimed, {low!r} measured {where}"
        )
