"""Guard a LeRobot policy: `<motor>.pos` actions are made safe before they are sent.

The policy crosses two arms until they touch. One line stands between it and the
motors, whose values are degrees; those of the right arm turn the other way round.
`Hardware` has the two methods that LeRobot calls on a robot. Prints how many of the
actions would have touched and the clearance that the sent ones keep.

    python examples/30_lerobot_guard.py
"""

from __future__ import annotations

import numpy as np

import elbowroom as er
from elbowroom.bridges.lerobot import ActionGuard, Motor, MotorMap

STEPS = 90
Moves = tuple[er.CollisionModel, np.ndarray, np.ndarray]


class Hardware:
    """A stand-in that goes where it is sent."""

    def __init__(self, present: dict[str, float]) -> None:
        """Takes the positions of the motors."""
        self.sent = [present]

    def get_observation(self) -> dict[str, float]:
        """Positions of the motors."""
        return self.sent[-1]

    def send_action(self, action: dict[str, float]) -> None:
        """Moves the motors."""
        self.sent.append(action)


def main(argv: list[str] | None = None) -> Moves:
    """Returns the model, the configurations asked for, and those sent."""
    model = er.CollisionModel("teaarm")
    robot, names = model.robot, model.robot.joint_names
    turns = {name: -1 if "right" in name else 1 for name in names}
    motors = MotorMap({name: Motor(name, "degrees", turns[name]) for name in names})
    a, b = robot.named_cfgs["arms_forward"], robot.named_cfgs["self_collision"]
    asked = a + np.linspace(0.0, 1.0, STEPS)[:, None] * (b - a)
    hardware = Hardware(motors.action_of(a, robot))
    guard = ActionGuard(motors, model, fps=30, clearance=0.01, budget=1.0)
    for cfg in asked:
        action = motors.action_of(cfg, robot)  # a policy's
        hardware.send_action(guard(action, hardware.get_observation()))
    sent = np.array([motors.cfg_of(row, robot, "sent") for row in hardware.sent])
    print(f"asked: {np.sum(~model.free(asked))} of {STEPS} actions touch")
    least = 1e3 * min(model.clearance(cfg, exact=True) for cfg in sent)
    print(f"sent: {np.sum(~model.free(sent))} touch, clearance at least {least:.1f} mm")
    print(f"last action {guard.step}")
    return model, asked, sent


if __name__ == "__main__":
    main()
