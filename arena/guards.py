"""What makes a cell, or a metric of it, no result at all: it is marked invalid, never scored 0."""
