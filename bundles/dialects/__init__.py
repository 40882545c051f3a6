"""Run directories of several programs as one structure. Standard library only, Python 3.9 and newer."""
