"""The public site over many runs: a bulk loader, and what its pages and its API cost then."""
