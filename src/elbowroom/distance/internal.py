"""What other folders need of the sphere model; it may change without notice.

Spheres as arrays (`sphere_arrays`, `link_values`), balls around balls (`enclosing_ball`, `split_balls`), the spheres of
link pairs in the compiled core (`PairSpheres`), the joint values that its error bound covers (`largest_values`; angles
up to `MAX_ANGLE`), and `bad_row`, the error for rows beyond them. It loads no JAX.
"""

from ._inputs import Spheres as Spheres
from ._inputs import link_values as link_values
from ._inputs import sphere_arrays as sphere_arrays
from ._model import MAX_ANGLE as MAX_ANGLE
from ._model import PairSpheres as PairSpheres
from ._model import bad_row as bad_row
from ._model import enclosing_ball as enclosing_ball
from ._model import largest_values as largest_values
from ._model import split_balls as split_balls
