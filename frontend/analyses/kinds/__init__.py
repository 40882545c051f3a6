"""One analysis a module."""
