"""`arena report`: from a run folder to one HTML file."""
