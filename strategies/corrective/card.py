"""Corrective RAG beside its paper."""

from __future__ import annotations

from strategies.base import Clause, FidelityCard

CARD = FidelityCard(
    paper="Yan, Gu, Zhu and Ling, Corrective Retrieval Augmented Generation, arXiv 2401.15884 v3, 2024",
    decides=(
        "evaluate: what each retrieved passage is worth",
        "decide_action: correct, ambiguous or incorrect",
        "refine, select_external: which strips are kept",
        "rewrite: what the external search is asked",
        "recompose: whether any knowledge is left to answer from",
    ),
    clauses=(
        Clause(
            "A T5-large trained on PopQA scores each question-passage pair (4.2).",
            "adapted",
            "Evaluator t5 loads the released checkpoint (T2). Without it the model itself judges: by label (T0) or by "
            "label probabilities, 2 P(yes) - 1 (T1). A cross-encoder, which reports T1, is another scorer and asks "
            "for thresholds calibrated on it.",
        ),
        Clause(
            "Any score above the upper threshold: Correct; all below the lower: Incorrect; else Ambiguous (4.3).",
            "implemented",
            "Compared with >=, as the released code does. The paper's thresholds hold for t5 only. Nothing retrieved "
            "is Incorrect.",
        ),
        Clause("Ten passages are retrieved.", "adapted", "As many as the comparison's one retrieve node brings."),
        Clause(
            "A passage of one or two sentences is one strip, a longer one is cut into strips of a few sentences (4.4).",
            "implemented",
            "Three sentences a strip. A passage that is one strip keeps its score, which saves a call.",
        ),
        Clause(
            "Strips above -0.5, at most five, are put together in original order (4.4).",
            "implemented",
            "By label -0.5 keeps relevant and unsure strips; by probabilities the cut is 0 until calibrated. Strips of "
            "one document are shown as one numbered passage, so that they can be cited.",
        ),
        Clause(
            "What if no strip survives?",
            "adapted",
            "The paper does not say. Correct and Ambiguous keep the best strip of all.",
        ),
        Clause(
            "Incorrect discards every retrieved passage (4.4).",
            "implemented",
            "With external off, or when nothing is found, the model answers from memory and the decision "
            "recompose/without_knowledge says so.",
        ),
        Clause(
            "The question is rewritten into at most three keywords (4.5).",
            "implemented",
            "One worked example in the prompt. Without a usable keyword the question itself is searched, and the "
            "decision rewrite/question says so. The question is never overwritten.",
        ),
        Clause(
            "A web search brings the external knowledge, Wikipedia preferred (4.5).",
            "adapted",
            "A second index, or any search tool; off by default, because a live web leaks answers of public "
            "benchmarks. No preference for Wikipedia.",
        ),
        Clause(
            "Result pages are fetched and cut into paragraphs (4.5).",
            "left out",
            "The tool's own text is taken as the passage; choose a tool that returns page text.",
        ),
        Clause(
            "External knowledge is refined by the same evaluator (4.5).",
            "implemented",
            "The same strips, threshold and limit; where no strip passes, nothing is kept.",
        ),
        Clause(
            "Ambiguous gives the generator both, internal knowledge first (4.4).",
            "implemented",
            "Both branches run at once; a document that came from both is shown once.",
        ),
        Clause(
            "One generation from the original question and the knowledge; no loop, no check of the answer.",
            "implemented",
            "With the answer prompt that all contestants share.",
        ),
        Clause(
            "Self-CRAG: Self-RAG reads the corrected knowledge (5).",
            "left out",
            "It needs the Self-RAG checkpoint as generator.",
        ),
    ),
)
