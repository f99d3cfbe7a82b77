"""What other folders of the house need of spheres: a proof for one mesh, links that mirror others.

It may change without notice.
"""

from ._proof import prove_mesh_coverage as prove_mesh_coverage
from ._twins import Twin as Twin
from ._twins import link_twins as link_twins
