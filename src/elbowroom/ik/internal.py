"""What other folders need of inverse kinematics; it may change without notice. It loads no JAX.

Linearised distances (`CollisionRows`).
"""

from .track import CollisionRows as CollisionRows
