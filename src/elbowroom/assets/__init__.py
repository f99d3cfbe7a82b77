"""The bundled robots: `teaarm` (dual arm, URDF and SRDF with meshes) and `rh56` (right hand, MJCF).

Data only. Each folder holds the table of facts the model is written from; the models are written anew by
`tools/model_teaarm.py` and `tools/model_rh56.py`.
"""
