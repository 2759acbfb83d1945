"""A finished run as MLflow runs: one parent, one child per cell, and traces of some questions. A sink.

Everything is read from the run folder and written once, by one writer, after the run: losing the server loses nothing.
This package is the only one that imports MLflow, and does so inside functions.
"""

from arena.tracking.database import check_store, local_uri
from arena.tracking.server import EXPERIMENT
from arena.tracking.track import Tracked, track

__all__ = ["EXPERIMENT", "Tracked", "check_store", "local_uri", "track"]
