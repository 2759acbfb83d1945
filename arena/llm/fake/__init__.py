"""The `fake:` models: what they reply, by which script, and how a judge among them answers."""
