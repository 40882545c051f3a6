"""Checking one bundle in a process of its own: hostile input, bounded time and memory. Needs no Django."""
