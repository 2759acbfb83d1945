"""A config at several values of its settings: points, what they share, and the curves through them."""
