"""compute_pairs: reasons, evidence, determinism, interruption, clusters.

Looks inside: the bound's formula is compared with SciPy, and chunks of samples are interrupted.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from elbowroom import load_robot
from elbowroom.distance import SelfCollisionChecker
from elbowroom.errors import InputError, UnknownLinkError, UnknownNameError
from elbowroom.pairs import PairOptions, PairReason, compute_pairs
from elbowroom.pairs._sentences import upper_bound
from elbowroom.robot.internal import adjacent_pairs


@pytest.fixture(scope="module")
def teaarm(model):
    robot, spheres = model("teaarm")
    return robot, spheres, compute_pairs(robot, spheres)


@pytest.mark.long
def test_every_pair_has_a_reason_and_a_sentence(teaarm):
    robot, spheres, pairs = teaarm
    n = len(spheres.counts)
    assert len(pairs.entries) == n * (n - 1) // 2
    assert sum(pairs.counts().values()) == len(pairs.entries)
    assert list(pairs.checked) == sorted(pairs.checked)
    for (a, b), found in pairs.entries.items():
        assert a < b
        assert found.text.startswith(
            "checked because" if found.reason is PairReason.CHECKED else "ignored because"
        )
        assert pairs.reason(b, a) is found.reason
    for pair in adjacent_pairs(robot, spheres.counts):
        if set(pair) <= set(spheres.counts):
            assert pairs.reason(*pair) is PairReason.ADJACENT
    assert "left_arm_l1" in pairs.table()


def test_counts_are_what_the_checker_counts(teaarm):
    robot, spheres, pairs = teaarm
    checked = [pair for pair in pairs.checked if pairs.evidence(*pair).hits]
    checker = SelfCollisionChecker(robot, spheres, checked, padding=0.01)  # 0.01 on each side: 0.02 a pair
    rate = checker.pair_hits(robot.random_cfgs(20_000, seed=3)).mean(axis=0)
    ours = np.array([pairs.evidence(*pair).hits / pairs.evidence(*pair).samples for pair in checker.pairs])
    # Two estimates of one probability: within five standard deviations of their difference.
    spread = np.sqrt(np.maximum(rate * (1 - rate), 1e-4) * (1 / 20_000 + 1 / 10_000))
    assert (np.abs(rate - ours) < 5 * spread).all()


def test_links_without_meshes_are_decided_by_their_spheres(load):
    robot = replace(load("panda"), shapes={})
    names = robot.link_names
    # Two large balls around the wrist that no joint can part, and one far smaller on the base.
    links = [names.index("panda_link5"), names.index("panda_link7"), names.index("panda_link0")]
    spheres = SimpleNamespace(
        link_names=names, centers=np.zeros((3, 3)), radii=np.array([0.3, 0.3, 0.01]), link_idx=np.array(links)
    )
    options = PairOptions(samples=2000, default_cfgs=(), use_srdf=False)
    found = compute_pairs(robot, spheres, options).evidence("panda_link5", "panda_link7")
    assert found.reason is PairReason.ALWAYS
    assert found.hits == found.samples == 2000
    assert found.mesh_samples == 0
    assert found.bound == pytest.approx(1 - 0.05 ** (1 / 2000))
    at_rest = compute_pairs(robot, spheres, PairOptions(samples=100, use_srdf=False))
    assert at_rest.reason("panda_link5", "panda_link7") is PairReason.DEFAULT
    assert "no mesh to say more" in at_rest.evidence("panda_link5", "panda_link7").text


def test_a_needle_in_the_joint_space_is_found_by_search_not_called_never(load):
    robot = replace(load("panda"), shapes={})
    names = robot.link_names
    links = np.array([names.index("panda_link0"), names.index("panda_link7")])
    cfg = robot.random_cfgs(1, seed=77)[0]
    poses = robot.link_poses(cfg)
    # A grain on the base exactly where the flange origin is at cfg: random samples miss it.
    from elbowroom._poses import matrix_from_wxyz_xyz

    T = matrix_from_wxyz_xyz(poses)
    point = T[links[0], :3, :3].T @ (T[links[1], :3, 3] - T[links[0], :3, 3])
    spheres = SimpleNamespace(
        link_names=names, centers=np.array([point, np.zeros(3)]), radii=np.full(2, 0.002), link_idx=links
    )
    options = PairOptions(samples=1000, buffer=0.0, default_cfgs=(), use_srdf=False)
    found = compute_pairs(robot, spheres, options).evidence("panda_link0", "panda_link7")
    assert found.reason is PairReason.CHECKED
    assert found.hits == 0
    assert found.witness is not None
    checker = SelfCollisionChecker(robot, spheres, [("panda_link0", "panda_link7")])
    assert not checker.free(np.array(found.witness))


def test_bounds_are_clopper_pearson():
    from scipy.stats import binomtest

    for hits, n in ((0, 100), (3, 1000), (50, 60)):
        exact = binomtest(hits, n).proportion_ci(confidence_level=0.90, method="exact").high  # two-sided 90 %
        assert upper_bound(hits, n, 0.95) == pytest.approx(exact, rel=1e-6)
    assert upper_bound(5, 5, 0.95) == 1.0


def test_same_seed_same_answer_for_any_number_of_workers(model):
    robot, spheres = model("panda")
    options = PairOptions(samples=40_000, seed=5, proof_boxes=2000)
    one = compute_pairs(robot, spheres, options, workers=1)
    two = compute_pairs(robot, spheres, options, workers=2)
    assert one == two
    assert compute_pairs(robot, spheres, PairOptions(samples=40_000, seed=6, proof_boxes=2000)) != one


def test_an_interrupted_run_goes_on_where_it_stopped(model, tmp_path, monkeypatch):
    from elbowroom.pairs import _sample

    robot, spheres = model("panda")
    monkeypatch.setattr(_sample, "ROUND", 2)
    options = PairOptions(samples=60_000, proof_boxes=2000)
    file = tmp_path / "run.npz"
    done: list[int] = []

    def interrupt(samples, total):
        done.append(samples)
        if len(done) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compute_pairs(robot, spheres, options, progress=interrupt, checkpoint=file)
    assert done == [16_384, 32_768]
    seen: list[tuple[int, int]] = []
    resumed = compute_pairs(
        robot, spheres, options, progress=lambda k, n: seen.append((k, n)), checkpoint=file
    )
    assert seen[0] == (49_152, 60_000)
    assert resumed == compute_pairs(robot, spheres, options)
    with pytest.raises(InputError, match="another robot"):
        compute_pairs(robot, spheres, PairOptions(samples=60_000, seed=1), checkpoint=file)


@pytest.mark.long
def test_dask_cluster_gives_the_same_answer(model):
    distributed = pytest.importorskip("distributed")
    import joblib

    robot, spheres = model("panda")
    options = PairOptions(samples=30_000, proof_boxes=1000)
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        assert compute_pairs(robot, spheres, options) == compute_pairs(robot, spheres, options, workers=1)


@pytest.mark.long
def test_ray_cluster_gives_the_same_answer(model):
    ray = pytest.importorskip("ray")
    import joblib
    from ray.util.joblib import register_ray

    robot, spheres = model("panda")
    options = PairOptions(samples=30_000, proof_boxes=1000)
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, configure_logging=False)
    try:
        register_ray()
        with joblib.parallel_config(backend="ray"):
            there = compute_pairs(robot, spheres, options)
    finally:
        ray.shutdown()
    assert there == compute_pairs(robot, spheres, options, workers=1)


def test_the_users_word_and_the_srdf_stand(model):
    robot, spheres = model("panda")
    pair, other = ("panda_hand", "panda_link0"), ("panda_link1", "panda_link2")
    options = PairOptions(samples=500, ignore=[pair[::-1]], check=[other], proof_boxes=100)
    pairs = compute_pairs(robot, spheres, options)
    assert pairs.reason(*pair) is PairReason.USER
    assert pairs.reason(*other) is PairReason.CHECKED
    with pytest.raises(InputError, match="both"):
        compute_pairs(robot, spheres, PairOptions(samples=10, ignore=[pair], check=[pair]))
    srdf = compute_pairs(robot, spheres, PairOptions(samples=500, proof_boxes=100))
    assert len(set(robot.disabled_pairs) & set(srdf.entries)) > 10
    for given, reason in robot.disabled_pairs.items():
        if set(given) <= set(spheres.counts):
            found = srdf.evidence(*given)
            assert found.source == "SRDF"
            assert found.srdf_reason == reason
            assert found.reason is not PairReason.CHECKED
            assert f"the SRDF says {reason!r}" in found.text


def test_bad_input_is_refused(model):
    robot, spheres = model("panda")
    for bad in ({"samples": 0}, {"samples": 1.5}, {"buffer": -0.1}, {"buffer": float("nan")}, {"seed": -1}):
        with pytest.raises(InputError):
            PairOptions(**bad)
    with pytest.raises(UnknownNameError, match="no named configuration"):
        compute_pairs(robot, spheres, PairOptions(samples=10, default_cfgs=("lying",)))
    with pytest.raises(InputError, match="shape"):
        compute_pairs(robot, spheres, PairOptions(samples=10, default_cfgs=(np.zeros(3),)))
    with pytest.raises(UnknownLinkError):
        compute_pairs(robot, spheres, PairOptions(samples=10, ignore=[("a", "b")]))
    pairs = compute_pairs(robot, spheres, PairOptions(samples=100, proof_boxes=10))
    with pytest.raises(UnknownLinkError, match="did you mean"):
        pairs.reason("panda_link0", "panda_lnk1")
    with pytest.raises(InputError, match="itself"):
        pairs.evidence("panda_link0", "panda_link0")
    assert pairs.reason("panda_link8", "panda_link0") is PairReason.NEVER_PROVED  # a frame without geometry


def test_with_user_diff_and_picture(model):
    robot, spheres = model("panda")
    pairs = compute_pairs(robot, spheres, PairOptions(samples=500, proof_boxes=100))
    pair = pairs.checked[0]
    changed = pairs.with_user(ignore=[pair], why="a cover is mounted")
    assert changed.reason(*pair) is PairReason.USER
    assert "a cover is mounted" in changed.evidence(*pair).text
    assert pair not in changed.checked
    diff = pairs.diff(changed)
    assert diff.changed == {pair: (PairReason.CHECKED, PairReason.USER)}
    assert diff.newly_ignored == (pair,)
    assert not pairs.diff(pairs)
    assert str(pairs.diff(pairs)) == "no difference"


def test_a_changed_description_shows_in_the_diff(load, model):
    robot, spheres = model("panda")
    options = PairOptions(samples=2000, proof_boxes=500, use_srdf=False)
    before = compute_pairs(robot, spheres, options)
    stiff = load_robot("panda", hold={"panda_joint4": -1.5, "panda_joint6": 1.5})
    diff = before.diff(compute_pairs(stiff, spheres, options))
    assert diff.changed
    assert all(old is not new for old, new in diff.changed.values())


def test_a_map_of_buffers_adds_up_by_pair(model):
    robot, spheres = model("panda")
    options = PairOptions(samples=200, buffer={"panda_link0": 0.01, "panda_hand": 0.03}, proof_boxes=10)
    pairs = compute_pairs(robot, spheres, options)
    assert pairs.evidence("panda_hand", "panda_link0").buffer == pytest.approx(0.04)
    assert pairs.evidence("panda_hand", "panda_link1").buffer == pytest.approx(0.03)
    assert pairs.evidence("panda_link1", "panda_link4").buffer == 0.0


def test_adjacency_goes_through_fixed_joints_and_bare_links(load):
    robot = load("panda")
    adjacent = adjacent_pairs(robot)
    assert ("panda_hand", "panda_link7") in adjacent  # fixed through panda_link8
    assert ("panda_link7", "panda_link8") in adjacent
    assert ("panda_link6", "panda_link7") in adjacent
    assert ("panda_link6", "panda_link8") not in adjacent  # link7 is between them
    bare = adjacent_pairs(robot, [name for name in robot.mesh_links if name != "panda_link7"])
    assert ("panda_hand", "panda_link6") in bare
