"""The files of a trace: its transcript, its events' texts, and what is searched."""
