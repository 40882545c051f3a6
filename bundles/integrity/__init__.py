"""Signs of contact with held-out data and of copied weights: evidence for a person, never a verdict."""
