"""The reports of all runs behind one small local page, read-only, live while a run goes on."""
