"""From texts back to facts and queries, and the check that they agree with the gold."""
