"""What one process does beside its work: its clock, its signals, its writes, how it is gone on with."""
