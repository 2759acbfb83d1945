"""report.html: one self-contained page about one run."""
