"""People judge answers: sheets out of a run folder, what they said back in, and how far they agree."""
