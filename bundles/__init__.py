"""A whole run in one archive: its format, unpacking, checking and export."""
