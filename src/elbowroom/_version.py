__version__ = "0.1.0"
"""Version of this package."""
