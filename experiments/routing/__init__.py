"""`arena train-router`: from a run's outcomes to a router for its reader, checked for leaks and measured."""
