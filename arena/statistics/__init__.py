"""From values per question to figures, how sure they are, and which differences are more than chance."""
