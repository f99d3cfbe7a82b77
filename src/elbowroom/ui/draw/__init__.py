"""Pictures of robots and their collision models, drawn without a display."""

from ._camera import Camera as Camera
from ._scene import Scene as Scene
from ._scene import robot_scene as robot_scene
from ._scene import save_png as save_png

__all__ = ["Camera", "Scene", "robot_scene", "save_png"]
