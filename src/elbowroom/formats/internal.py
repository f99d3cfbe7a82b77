"""What the command line and the page need of formats: names by extension, facts of a robot for planners, how
files name each other.

It may change without notice.
"""

from ._by_extension import EXTENSIONS as EXTENSIONS
from ._by_extension import format_of as format_of
from ._options import path_text as path_text
from ._options import robot_facts as robot_facts
