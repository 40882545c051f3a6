"""The bundle format. Standard library only, Python 3.9 and newer: the packer carries these modules."""
