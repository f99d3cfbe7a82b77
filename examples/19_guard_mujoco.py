"""A simulation behind the guard: position actuators of MuJoCo are sent only what is
proved free.

Two arms on one base swing towards each other and hit, in MuJoCo. The same controls pass
through `ActuatorGuard` before each `mj_step`, which finds joints and actuators by name.
Prints in how many steps MuJoCo found contacts.

    python examples/19_guard_mujoco.py
"""

import mujoco

from elbowroom.bridges.mujoco import ActuatorGuard

ARM = """
<body name="{0}" pos="{1} 0 0">
  <joint name="{0}_joint" axis="0 0 1" range="-3.1 3.1" damping="1"/>
  <geom type="capsule" fromto="{2} 0 0 {3} 0 0" size=".03"/>
</body>
"""
SCENE = f"""
<mujoco model="two arms">
  <compiler angle="radian" autolimits="true"/>
  <option timestep="0.005"/>
  <worldbody>
    {ARM.format("left", -0.3, -0.1, -0.4)}{ARM.format("right", 0.3, 0.1, 0.4)}
  </worldbody>
  <actuator>
    <position name="left_servo" joint="left_joint" kp="50" kv="5"/>
    <position name="right_servo" joint="right_joint" kp="50" kv="5"/>
  </actuator>
</mujoco>
"""


def main(argv: list[str] | None = None) -> dict[str, int]:
    """Runs the simulation without and with the guard; steps with contacts."""
    mj, contacts = mujoco.MjModel.from_xml_string(SCENE), {}
    for name in ("without", "with"):
        guard, data = ActuatorGuard(mj, acceleration_limits=20.0), mujoco.MjData(mj)
        step, contacts[name] = None, 0
        for _ in range(800):
            data.ctrl[:] = (3.0, -3.0)  # what a policy would say
            if name == "with":
                step = guard.apply(data)  # the one line
            mujoco.mj_step(mj, data)
            contacts[name] += data.ncon > 0
        print(f"{name} guard: contacts in {contacts[name]} of 800 steps of MuJoCo")
    print(f"at the end: {step}")
    return contacts


if __name__ == "__main__":
    main()
