"""Answers of other systems in, and runs out in the formats of other tools."""
