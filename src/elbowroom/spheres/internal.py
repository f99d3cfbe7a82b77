"""What other folders need of spheres: a proof for one mesh, one made of proofs of single links, links
that mirror others.

It may change without notice.
"""

from ._mirror import Twin as Twin
from ._mirror import link_twins as link_twins
from ._proof import coverage_of as coverage_of
from ._proof import prove_mesh_coverage as prove_mesh_coverage
