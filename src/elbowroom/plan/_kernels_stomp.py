# pyright: basic
"""Numba kernels of `Stomp`: rollouts from noise, the weighted mean of rollouts, the joint-limit filter."""

from __future__ import annotations

import numpy as np

from .._jit import njit


@njit(cache=True, nogil=True, error_model="numpy")
def spread(mean, noise, sigma, lower, upper, moving, out):
    """Noisy trajectories within limits; ends and joints that are held stay as `out` has them.

    Args:
        mean: (t, m) the trajectory that noise is added to.
        noise: (t - 2, k, m) of unit size.
        sigma: (m,) its size per joint.
        lower, upper: (m,) limits.
        moving: (m,) entries of the joints in a configuration.
        out: (k, t, dof) trajectories.
    """
    n, rollouts, joints = noise.shape
    for k in range(rollouts):
        for t in range(n):
            for j in range(joints):
                value = mean[t + 1, j] + sigma[j] * noise[t, k, j]
                out[k, t + 1, moving[j]] = min(max(value, lower[j]), upper[j])


@njit(cache=True, nogil=True, error_model="numpy")
def weigh(trajectories, costs, moving, sensitivity, mean, delta):
    """Per timestep, how far the mean of the rollouts, weighted by exponentiated cost, is from a trajectory.

    The cost of a timestep is scaled to 0 for the best rollout and 1 for the worst; a rollout weighs
    exp(-sensitivity * scaled cost). Where all cost the same, nothing is learnt and nothing moves.

    Args:
        trajectories: (r, t, dof) rollouts.
        costs: (r, t) theirs.
        moving: (m,) entries of the joints in a configuration.
        sensitivity: h.
        mean: (t, m) the trajectory.
        delta: (t - 2, m) out.
    """
    rollouts, timesteps = costs.shape
    joints = len(moving)
    for t in range(1, timesteps - 1):
        least, most = np.inf, -np.inf
        for k in range(rollouts):
            least, most = min(least, costs[k, t]), max(most, costs[k, t])
        for j in range(joints):
            delta[t - 1, j] = 0.0
        if not most - least > 1e-12 * max(abs(most), 1e-300):
            continue
        scale = sensitivity / (most - least)
        total = 0.0
        for k in range(rollouts):
            weight = np.exp(-scale * (costs[k, t] - least))
            total += weight
            for j in range(joints):
                delta[t - 1, j] += weight * (trajectories[k, t, moving[j]] - mean[t, j])
        for j in range(joints):
            delta[t - 1, j] /= total


@njit(cache=True, nogil=True, error_model="numpy")
def keep_within(path, covariance, lower, upper):
    """Moves a trajectory back within limits by smooth bends, the worst timestep first; in place.

    A bend that takes one timestep to its limit takes its neighbours along. What is left after as many bends as there
    are timesteps is clipped.

    Args:
        path: (t, m) trajectory whose ends are within the limits.
        covariance: (t - 2, t - 2) of smooth noise.
        lower, upper: (m,) limits.
    """
    timesteps, joints = path.shape
    for j in range(joints):
        for _ in range(timesteps):
            worst, at = 0.0, -1
            for t in range(1, timesteps - 1):
                beyond = max(path[t, j] - upper[j], lower[j] - path[t, j])
                if beyond > worst:
                    worst, at = beyond, t
            if at < 0:
                break
            back = min(max(path[at, j], lower[j]), upper[j]) - path[at, j]
            for t in range(1, timesteps - 1):
                path[t, j] += back * covariance[t - 1, at - 1] / covariance[at - 1, at - 1]
            path[at, j] = min(max(path[at, j], lower[j]), upper[j])
        for t in range(1, timesteps - 1):
            path[t, j] = min(max(path[t, j], lower[j]), upper[j])


@njit(cache=True, nogil=True, error_model="numpy")
def add_control_cost(trajectories, moving, factor, costs):
    """Adds `factor` times the squared second differences of the moving joints to the costs of the timesteps.

    Before the first and after the last timestep the robot rests.

    Args:
        trajectories: (k, t, dof).
        moving: (m,) entries of the joints in a configuration.
        factor: cost of a squared difference.
        costs: (k, t), added to.
    """
    rollouts, timesteps, _ = trajectories.shape
    for k in range(rollouts):
        for t in range(timesteps):
            before, after = max(t - 1, 0), min(t + 1, timesteps - 1)
            total = 0.0
            for j in moving:
                bend = trajectories[k, before, j] - 2.0 * trajectories[k, t, j] + trajectories[k, after, j]
                total += bend * bend
            costs[k, t] += factor * total
