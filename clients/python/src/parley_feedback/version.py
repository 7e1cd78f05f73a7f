"""Version of this package, independent of the server's version."""

__version__ = "0.2.0"
