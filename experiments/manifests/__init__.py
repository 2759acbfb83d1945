"""What a run must remember to be understood, repeated and continued."""
