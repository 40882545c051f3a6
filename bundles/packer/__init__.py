"""The packer that stands alone: what it adds to format, dialects and rules, and how all of it becomes one file."""
