"""What other folders need of planning: the joints that move, the limits that hold.

It may change without notice.
"""

from ._group import Group as Group
from ._limits import limits_of as limits_of
