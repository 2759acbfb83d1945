"""ScoreTable -> leaderboard.json and what a person reads. The only place that averages and rounds."""
