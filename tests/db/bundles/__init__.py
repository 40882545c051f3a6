"""Bundles with a database."""
