"""The bundled RH56 hands, right and left, in their revisions, from the shipped table of facts.

The MJCF files hold the specified revision; others change its coupling polynomials, ranges and fingertip points through
`mujoco.MjSpec`. The table is of the right hand; the left is its mirror image in the X-Z plane of the base frame, and
every body's own frame is mirrored too (`tools/model_rh56.py`). Constants of the specified planner that the table does
not hold stand here.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

from ..errors import UnknownNameError, unknown
from ..robot import load_robot
from ._hand import Actuator, Finger, Hand
from ._types import Opposition, ProportionalLaw, Wrap

ASSETS = "elbowroom.assets"
BUNDLED_HANDS = {"rh56": "rh56/rh56.xml", "rh56_left": "rh56/rh56_left.xml"}
"""By the name of the hand; the first is the right one."""
FACTS = "rh56/rh56_facts.json"

FINGERS = ("thumb", "index", "middle", "ring", "pinky")
PLANE_SETS = {3: ("middle", "index"), 4: ("middle", "index", "ring"), 5: ("middle", "index", "ring", "pinky")}
"""Fingers that oppose the thumb in a plane grasp with that many fingers, reference finger first."""
CYLINDER_SET = ("index", "middle", "ring", "pinky")

FINGER_CLOSED = 1.5
"""rad; the specified planner closes the reference finger as 1.5 s and the thumb through its control range."""

FINGER_SHAPE, THUMB_SHAPE = 1 / 1.6, 2.5
"""Exponents of the smooth closure: fingers close early, the thumb late (found by experiment)."""
CYLINDER_PLACES = {
    "spec": (
        (15, 60, 152),
        (25, 60, 149),
        (35, 56, 148),
        (45, 48, 151),
        (55, 40, 155),
        (65, 29, 157),
        (75, 21, 155.5),
        (85, 17, 162),
        (95, 18, 173),
        (105, 19, 182.5),
    ),
    "newest": (
        (15, 60, 152),
        (25, 58, 153),
        (35, 51, 155.5),
        (45, 43, 158.5),
        (55, 33, 160.5),
        (65, 23, 161),
        (75, 18, 167),
        (85, 18, 177.5),
        (90, 18, 182),
    ),
}
"""Where cylinders lie in the hand, mm: diameter, x of the palm side, z of the axis; see `Wrap`.

A smooth line near the best Ferrari-Canny quality of a grid of places (friction 0.5), kept away from where thumb and
fingertips cross, about which no tilt is level. In later revisions the thumb opens less. The last diameters are where
that quality has fallen to 0.01."""


@cache
def facts() -> dict[str, Any]:
    """The shipped table."""
    return json.loads(resources.files(ASSETS).joinpath(FACTS).read_text(encoding="utf-8"))


def load_mujoco() -> Any:
    """The mujoco module, imported when first needed; its compiled names are unknown to type checkers."""
    import mujoco

    return mujoco


def revisions() -> tuple[str, ...]:
    """Names of the revisions that can be loaded."""
    return tuple(facts()["revisions"])


def revision_facts(revision: str) -> dict[str, Any]:
    """The table's entry of a revision.

    Raises:
        UnknownNameError: there is no such revision.
    """
    if revision not in facts()["revisions"]:
        raise UnknownNameError(f"rh56: {unknown('revision', str(revision), revisions())}")
    return facts()["revisions"][revision]


def tip_sites(revision: str, name: str = "rh56") -> dict[str, tuple[str, str, tuple[float, float, float]]]:
    """Fingertips of a hand: finger -> name of the site, body, and point in the body."""
    moved = revision_facts(revision).get("tip_site_overrides", {})
    found: dict[str, tuple[str, str, tuple[float, float, float]]] = {}
    for finger, site in facts()["tip_sites"].items():
        x, y, z = moved.get(finger, site["pos"])
        left = name == "rh56_left"
        found[finger] = (
            site["name"].replace("right_", "left_") if left else site["name"],
            site["body"],
            (x, -y if left else y, z),
        )
    return found


def rh56_spec(revision: str = "spec", name: str = "rh56") -> Any:
    """A hand as a `mujoco.MjSpec` with the couplings, ranges and tip sites of a revision."""
    mujoco = load_mujoco()
    entry = revision_facts(revision)
    with resources.as_file(resources.files(ASSETS).joinpath(BUNDLED_HANDS[name])) as path:
        spec = mujoco.MjSpec.from_file(str(path))
    laws = {law["joint"]: law["polycoef"] for law in entry["couplings"]}
    for equality in spec.equalities:
        equality.data[:5] = laws[equality.name1]
    for joint, limits in entry["joint_range_overrides"].items():
        spec.joint(joint).range = limits
    for actuator in entry["actuators"]:
        spec.actuator(actuator["name"]).ctrlrange = actuator["ctrl_range"]
    for site, _, point in tip_sites(revision, name).values():
        spec.site(site).pos = point
    if revision != "spec":
        for key in list(spec.keys):  # they hold the couplings and ranges of `spec` only
            spec.delete(key)
    return spec


def load_rh56(revision: str = "spec", name: str = "rh56") -> Hand:
    """Loads a bundled hand; the left one knows the right one as `mirror_of`."""
    entry = revision_facts(revision)
    sites = tip_sites(revision, name)
    fingers = tuple(
        Finger(name=finger, tip_link=body, tip_point=point, knuckle_link=f"{finger}_intermediate")
        for finger in FINGERS
        for _, body, point in (sites[finger],)
    )
    actuators = tuple(
        Actuator(item["name"], item["joint"], float(item["ctrl_range"][0]), float(item["ctrl_range"][1]))
        for item in entry["actuators"]
    )
    return Hand(
        name=name,
        robot=load_robot(rh56_spec(revision, name)),
        actuators=actuators,
        fingers=fingers,
        thumb="thumb",
        oppositions=_oppositions(revision, entry),
        revision=revision,
        proportional=ProportionalLaw(
            pitch="thumb_proximal",
            yaw="thumb_yaw",
            pitch_range=next((a.lower, a.upper) for a in actuators if a.name == "thumb_proximal"),
            finger_closed=FINGER_CLOSED,
            yaw_line=float(entry["thumb_yaw_line"]),
            yaw_plane=float(entry["thumb_yaw_plane"]),
            plane_reference="middle",
            cylinder_reference="index",
        ),
        mirror_of=None if name == "rh56" else load_rh56(revision),
        registers={actuator.name: (actuator.lower, actuator.upper) for actuator in actuators},
    )


def _oppositions(revision: str, entry: dict[str, Any]) -> dict[str, Opposition | Wrap]:
    """Opposition sets with the postures and shapes of the smooth method."""
    yaw = float(entry["thumb_yaw_plane"])
    shape = {"thumb_proximal": THUMB_SHAPE, **dict.fromkeys(FINGERS[1:], FINGER_SHAPE)}
    pinch = {"thumb_proximal": 0.2, "thumb_yaw": yaw, **dict.fromkeys(FINGERS[1:], 0.8)}
    sets = {f"line {name}": (name,) for name in FINGERS[1:]}
    sets |= {f"plane {count}": names for count, names in PLANE_SETS.items()}
    oppositions = {
        name: Opposition(fingers, open={"thumb_yaw": yaw}, closed=pinch, shape=shape)
        for name, fingers in sets.items()
    }
    rows = CYLINDER_PLACES.get(revision, CYLINDER_PLACES["newest"])
    places = tuple((1e-3 * diameter, 1e-3 * x, 1e-3 * z) for diameter, x, z in rows)
    across = {"thumb_yaw": yaw}
    return {**oppositions, "cylinder": Wrap(CYLINDER_SET, places, open=across, closed=across)}
