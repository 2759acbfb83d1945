"""What a terminal shows: progress of long work, tables, JSON."""
