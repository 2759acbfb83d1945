"""One question of a run in the terminal: what the explorer of its report shows."""
