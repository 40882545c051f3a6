"""What a bundle must fulfil, and what is said of it. Standard library only, Python 3.9 and newer."""
