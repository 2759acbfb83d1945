"""Language models as judges of answers, through the metered gate, and what their verdicts are worth as scores."""
