"""Bundles through real processes."""
