"""The one verdict: is the robot free, how close is it to touching, why not, and is the motion between two
configurations free."""

from .._clash import Clash as Clash
from ._attach import Attachment as Attachment
from ._audit import audit as audit
from ._audit_report import Audit as Audit
from ._audit_report import Moment as Moment
from ._constant import ConstantClearance as ConstantClearance
from ._constant import VaryingClearance as VaryingClearance
from ._model import CollisionModel as CollisionModel
from ._model import as_model as as_model
from ._segment import SegmentProof as SegmentProof
from ._segment import SegmentProofs as SegmentProofs
from ._verdict import OutOfLimits as OutOfLimits
from ._verdict import Verdict as Verdict

__all__ = [
    "Attachment",
    "Audit",
    "Clash",
    "CollisionModel",
    "ConstantClearance",
    "Moment",
    "OutOfLimits",
    "SegmentProof",
    "SegmentProofs",
    "VaryingClearance",
    "Verdict",
    "as_model",
    "audit",
]
