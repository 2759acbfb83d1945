"""From a size and a seed to things, facts, passages and questions."""
