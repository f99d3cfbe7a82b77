"""What other folders of the house need of meshes: many of them packed for kernels, states of many poses.

It may change without notice. Kernels are in `elbowroom.mesh.kernels`.
"""

from ._collide import STATES as STATES
from ._collide import collide_states as collide_states
from ._scene import pack_meshes as pack_meshes
