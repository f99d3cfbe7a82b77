"""Robot -> SphereModel: conservative spheres for every link, proved to cover, with a report of their quality."""

from __future__ import annotations

from ._fit import fit_spheres as fit_spheres
from ._model import SphereModel as SphereModel
from ._options import ClipPlane as ClipPlane
from ._options import FitOptions as FitOptions
from ._proof import CoverageProof as CoverageProof
from ._proof import LinkCoverage as LinkCoverage
from ._proof import prove_coverage as prove_coverage
from ._quality import LinkQuality as LinkQuality
from ._quality import QualityReport as QualityReport
from ._quality import sphere_quality as sphere_quality

__all__ = [
    "ClipPlane",
    "CoverageProof",
    "FitOptions",
    "LinkCoverage",
    "LinkQuality",
    "QualityReport",
    "SphereModel",
    "fit_spheres",
    "prove_coverage",
    "sphere_quality",
]
