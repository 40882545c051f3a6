"""Object storage of sealed files: what it promises, and the one over S3."""
