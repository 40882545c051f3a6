"""What the rest of the platform asks of bundles."""
