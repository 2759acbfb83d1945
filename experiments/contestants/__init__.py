"""The strategies as a reader sees them: lists, cards, labels."""
