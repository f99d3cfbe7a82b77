"""What other folders of the house need of the sphere model; it may change without notice.

Spheres as arrays (`sphere_arrays`, `link_values`), balls around balls (`enclosing_ball`, `split_balls`), the model that
the numba kernels run on (`pack_model`, `PackedModel`), and `bad_row`, the error for rows that they refuse. It loads no
JAX; kernels are in `elbowroom.distance.kernels`.
"""

from ._checker import bad_row as bad_row
from ._inputs import Spheres as Spheres
from ._inputs import link_values as link_values
from ._inputs import sphere_arrays as sphere_arrays
from ._model import PackedModel as PackedModel
from ._model import enclosing_ball as enclosing_ball
from ._model import pack_model as pack_model
from ._model import split_balls as split_balls
