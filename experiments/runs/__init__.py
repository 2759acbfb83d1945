"""One run: begun, continued, shared out, joined, ended."""
