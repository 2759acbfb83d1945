"""The commands on finished runs, one a file: parse, call, print."""
