"""A run of this platform as a bundle."""
