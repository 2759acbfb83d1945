"""From what a run folder holds to its scores and its leaderboard, without a model."""
