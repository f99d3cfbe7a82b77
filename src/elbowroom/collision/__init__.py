"""The one verdict: is the robot free, how far from touching, why not, and all the way between two configurations."""

from .._clash import Clash as Clash
from ._attach import Attachment as Attachment
from ._audit import audit as audit
from ._audit_report import BETWEEN as BETWEEN
from ._audit_report import Audit as Audit
from ._audit_report import Moment as Moment
from ._cover import covering as covering
from ._cover import one_ball_a_link as one_ball_a_link
from ._defaults import cached_pairs as cached_pairs
from ._lanes import Lanes as Lanes
from ._model import CollisionModel as CollisionModel
from ._parts import OwnParts as OwnParts
from ._parts import Parts as Parts
from ._parts import WorldParts as WorldParts
from ._segment import SegmentProof as SegmentProof
from ._segment import SegmentProofs as SegmentProofs
from ._segment_world import LinkChains as LinkChains
from ._slack import as_slacks as as_slacks
from ._verdict import OutOfLimits as OutOfLimits
from ._verdict import Verdict as Verdict
from ._warm import Helper as Helper
from ._warm import is_warm as is_warm
from ._warm import start_helper as start_helper

__all__ = [
    "BETWEEN",
    "Attachment",
    "Audit",
    "Clash",
    "CollisionModel",
    "Helper",
    "Lanes",
    "LinkChains",
    "Moment",
    "OutOfLimits",
    "OwnParts",
    "Parts",
    "SegmentProof",
    "SegmentProofs",
    "Verdict",
    "WorldParts",
    "as_slacks",
    "audit",
    "cached_pairs",
    "covering",
    "is_warm",
    "one_ball_a_link",
    "start_helper",
]
