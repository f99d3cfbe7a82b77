"""What other folders of the house need of obstacles; it may change without notice.

`PackedWorld` and `PackedGrid` are what the kernels of `elbowroom.world.kernels` take; the rest tells scene files apart.
"""

from ._file import is_scene as is_scene
from ._file import scene_bytes as scene_bytes
from ._file import scene_format as scene_format
from ._grid import PackedGrid as PackedGrid
from ._pack import PackedWorld as PackedWorld
