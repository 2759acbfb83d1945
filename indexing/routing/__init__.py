"""Trained routers: how complex a question is, as probabilities, from its text alone.

`light` is an embedding and a logistic regression, `t5` the paper's fine-tuned T5 (Adaptive-RAG, arXiv 2403.14403).
Both are folders that `arena train-router` writes and `open_router` reads.
"""
