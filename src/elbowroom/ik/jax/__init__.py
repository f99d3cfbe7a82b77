"""The JAX engine of inverse kinematics: differentiable costs and a solver for many problems at once."""
