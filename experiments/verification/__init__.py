"""`arena verify`: is a run folder still what it says it is?

Everything that a run wrote down is derived again from what it rests on, and compared: settings, data, code, weights,
index, journals, and the tables and figures. No model is asked, and nothing is written.
"""

from experiments.verification.check import Check
from experiments.verification.run import verify_run

__all__ = ["Check", "verify_run"]
