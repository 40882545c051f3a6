"""Archives of strangers: nothing is believed, nothing is written outside the folder given."""
