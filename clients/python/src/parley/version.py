"""The version of this package, which need not be that of the server."""

__version__ = "0.1.0"
