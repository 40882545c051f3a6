"""Bytes of a transcript to events, whatever its dialect and however it is cut into pieces."""
