"""Commands of ROS 2 behind the guard: what the node in `ros2/` does, without ROS.

A stream of joint positions folds both arms into each other; `CommandFilter` sends the
nearest ones that are proved free. A trajectory to the same place is filtered as a
whole, and a state is checked, as for `GetStateValidity`.

    python examples/24_ros2_filter.py
"""

import numpy as np

import elbowroom as er
from elbowroom.bridges.ros2 import CommandFilter

RATE = 50.0


def main(argv: list[str] | None = None) -> np.ndarray:
    """Filters a stream and a trajectory; returns what was sent (n, dof)."""
    model = er.CollisionModel("teaarm")
    names = model.robot.joint_names
    a, b = (model.robot.named_cfgs[n] for n in ("arms_forward", "self_collision"))
    commands = CommandFilter(model, rate=RATE, clearance=0.005, budget=1.0)
    asked, sent, why = a + np.linspace(0.0, 1.0, 200)[:, None] * (b - a), [], ""
    commands.state(names, a, now=0.0)
    for k, row in enumerate(asked):
        positions, why = commands.positions(names, row, now=k / RATE)  # the one line
        commands.state(names, positions, now=k / RATE)  # a robot that obeys
        sent.append(positions)
    for who, rows in (("asked", asked), ("sent", np.array(sent))):
        print(
            f"{who}: {(~model.free(rows)).sum()} of {len(rows)} commands in collision"
        )
    print(f"the last command: {why}")

    commands.state(names, a, now=10.0)
    found = commands.trajectory(names, [a, b], [0.0, 4.0], now=10.0)
    print(f"a trajectory to the same place: {found.why}")
    why = commands.validity(names, b, now=10.0).why
    print(f"is that state valid? {why.splitlines()[0]}")
    return np.array(sent)


if __name__ == "__main__":
    main()
