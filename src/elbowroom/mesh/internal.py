"""What other folders need of meshes: the states of many poses. It may change without notice."""

from ._collide import STATES as STATES
from ._collide import collide_states as collide_states
