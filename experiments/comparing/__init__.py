"""Several runs as one leaderboard, and what keeps them apart."""
