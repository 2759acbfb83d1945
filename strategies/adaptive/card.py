"""Adaptive-RAG beside its paper, clause by clause."""

from __future__ import annotations

from strategies.base import Clause, FidelityCard

CARD = FidelityCard(
    paper="Jeong et al., Adaptive-RAG: Learning to Adapt Retrieval-Augmented Large Language Models through Question "
    "Complexity, NAACL 2024 (arXiv 2403.14403), and its released code starsuzi/Adaptive-RAG",
    decides=(
        "classify: how complex the question is (A, B or C), once, before anything",
        "within C: exit, query and collect, as in ircot",
    ),
    clauses=(
        Clause(
            "The classifier sees the question only and decides once; no strategy falls back on another.",
            "implemented",
            "node `classify` is the first, and no edge leads back to it",
        ),
        Clause("A: the model alone.", "implemented", "the shared answer without passages; no retrieval"),
        Clause("B: one retrieval.", "implemented", "the one retrieve node and the shared answer: `vanilla`"),
        Clause("C: IRCoT.", "implemented", "the nodes of `ircot`, with the differences its own card lists"),
        Clause(
            "The classifier is T5-large, trained on labels made with the same reader.",
            "adapted",
            "policy router: a T5 of any size, fine-tuned by `arena train-router` on this reader's outcomes (T2-local: "
            "learning rate 3e-5 falling linearly to 0, no weight decay) or a light stand-in, embedding + logistic "
            "regression, which is T1 and never T2; the cell's `router_kind` says which. Policy "
            "classifier, the default: a prompted three-way label with two examples of each",
        ),
        Clause(
            "The label is the argmax of a softmax over the letters at the first decoding step.",
            "implemented",
            "the T5 router to the letter; at T1 over the prompted probabilities of A, B and C; at T0 the reply's "
            "letter, and no confidence",
        ),
        Clause("No preference for cheaper labels.", "implemented", "`cost_bias` 0; more is ours, for a cheaper router"),
        Clause(
            "Silver labels: of the strategies that answer right, the simplest; right means exact match.",
            "adapted",
            "aliases count too, which the paper's code ignores for MuSiQue; a question whose call failed has none",
        ),
        Clause(
            "Questions that no strategy answers get the data set's prior: single-hop B, multi-hop C.",
            "implemented",
            "by the question's own kind; for the unanswered questions themselves, as the paper says (its code labels "
            "other ones); summaries and unanswerable questions are left out",
        ),
        Clause(
            "400 training queries a data set, apart from the test queries.",
            "adapted",
            "the part dev, as many as the run asked; questions that share an id, the wording, a sub-question or a "
            "paragraph with any question of the part eval are kept out, counted and listed in the router's card",
        ),
        Clause(
            "The oracle row has a perfect classifier.",
            "implemented",
            "policy oracle reads silver labels from a file, so it knows the outcomes: a ceiling, never a contestant",
        ),
        Clause(
            "K is 15 for B and 6 for C with Flan-T5 (6 and 3 with GPT-3.5), at most 15 passages for C.",
            "adapted",
            "the comparison's own `k` for both: one retrieve node, one request for all; the cap is kept",
        ),
        Clause("BM25 over each data set's own corpus.", "adapted", "the retrieval mode under comparison"),
        Clause(
            "15 worked examples in the reader's prompt; GPT-3.5 reasons before it answers.",
            "adapted",
            "the direct answer prompt that every strategy here has",
        ),
        Clause(
            "Step: 0 for A, 1 for B, for C the decisions to go on and 1.",
            "adapted",
            "the reports count retrievals, which are as many, but for one skipped because nothing was left to ask",
        ),
        Clause(
            "Time is a ratio to the single-step strategy.", "left out", "seconds are reported, for every strategy alike"
        ),
        Clause(
            "The released code chooses its classifier on labels made from test predictions.",
            "left out",
            "a leak; the best epoch is chosen on training questions set aside, never on the part eval",
        ),
    ),
)
