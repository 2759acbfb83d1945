"""RAGRouter-Bench: documents and questions of four domains, a third of them made by a model.

Wang, Zhu, Lin, Xue, Guo and Zhang, "RAGRouter-Bench: A Dataset and Benchmark for Adaptive RAG Routing",
arXiv:2602.00296, 2026. The config musique holds the 2,417 development questions of MuSiQue over their 21,100
paragraphs, and 939 questions made for it.
"""

from __future__ import annotations

from arena.datasets.ragrouter.load import load_ragrouter

__all__ = ["load_ragrouter"]
