"""Reports that people open without us: one HTML file with all that it shows, which asks no network for anything."""

from ._document import Figure as Figure
from ._document import Section as Section
from ._document import document as document
from ._document import playback_html as playback_html
from ._document import there_and_back as there_and_back

__all__ = ["Figure", "Section", "document", "playback_html", "there_and_back"]
