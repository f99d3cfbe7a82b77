"""What the command line and the page need of formats: names by extension, facts of a robot for planners.

It may change without notice.
"""

from ._by_extension import EXTENSIONS as EXTENSIONS
from ._by_extension import format_of as format_of
from ._options import robot_facts as robot_facts
