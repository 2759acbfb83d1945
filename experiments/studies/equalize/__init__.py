"""equalize."""
