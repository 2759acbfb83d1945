"""Published figures beside ours: the figures with their sources, the settings they were made under, and the badge."""
