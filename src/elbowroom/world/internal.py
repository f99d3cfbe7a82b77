"""What other folders need of obstacles; it may change without notice.

They tell scene files apart.
"""

from ._file import is_scene as is_scene
from ._file import scene_bytes as scene_bytes
from ._file import scene_format as scene_format
