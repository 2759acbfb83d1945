"""IRCoT beside its paper, clause by clause."""

from __future__ import annotations

from strategies.base import Clause, FidelityCard

CARD = FidelityCard(
    paper="Trivedi et al., Interleaving Retrieval with Chain-of-Thought Reasoning for Knowledge-Intensive Multi-Step "
    "Questions, ACL 2023 (arXiv 2212.10509 v2), and its released code StonyBrookNLP/ircot",
    decides=(
        "exit: after each sentence, whether the chain has ended (answer marker, nothing written, cap)",
        "query: which sentence the next retrieval asks for, or that there is none to ask",
        "collect: which retrieved passages are new, and whether there is room for them",
    ),
    clauses=(
        Clause("The first retrieval asks for the question.", "implemented", "node `retrieve`, shared by all"),
        Clause(
            "Each step writes on and keeps only the first sentence.",
            "implemented",
            "one call a step, stopped at the newline; the rest of the reply is thrown away",
        ),
        Clause("Sentences are found by spaCy.", "adapted", "by a rule that knows abbreviations, initials and decimals"),
        Clause(
            "The prompt is 15 worked chains over real paragraphs, a chain to be continued as plain text.",
            "adapted",
            "a worked chain and the beginning of another about a made-up place, as turns of a conversation, so that no "
            "benchmark's own questions are shown and a small model's context suffices; rules ask for one sentence and "
            "for the answer marker",
        ),
        Clause(
            "Exit when a sentence matches `.* answer is:? (.*)`, case-sensitive, or nothing is written.",
            "implemented",
            "as in the code: any sentence that matches ends the chain, and the marker needs words before it",
        ),
        Clause(
            "A cap on sentences: 8 at second hand, 10 in the code.",
            "implemented",
            "`max_sentences`, 8; what ended the chain is recorded: marker, empty or cap",
        ),
        Clause(
            "The next query is the last sentence that is no conclusion and no sum; without one, the question.",
            "implemented",
            "conclusions open with thus, so, that is, therefore or hence; a sum reads `a + b = c` or `a - b = c`",
        ),
        Clause(
            "Question words are taken out of the query; if nothing is left the retrieval is skipped.",
            "implemented",
            "whatever their case, as in the code; marks such as [2] go too",
        ),
        Clause(
            "Passages accumulate, at most 15; a full collection does not end the loop.",
            "implemented",
            "`max_passages`; in order of arrival, never reset",
        ),
        Clause(
            "Near-duplicates (fuzzy ratio of title and text 90 and more) are left out.",
            "adapted",
            "equal title and text: the corpus holds each such document once",
        ),
        Clause(
            "Paragraphs of more than 600 words are left out, the others cut to 350 words.",
            "left out",
            "every strategy sees the passages as the index holds them",
        ),
        Clause(
            "K passages a step, searched over 2, 4, 6 and 8 on a development set.",
            "adapted",
            "the comparison's own `k` at every step: one retrieve node, one request for all strategies",
        ),
        Clause(
            "BM25 over title and text.", "adapted", "the retrieval mode under comparison; title and text are indexed"
        ),
        Clause(
            "A separate reader answers from question and passages; the chain's own ending is not the answer.",
            "implemented",
            "the shared node `generate`, called once, last; it never sees the chain",
        ),
        Clause(
            "The reader is prompted with worked examples, direct or with a chain of thought.",
            "adapted",
            "direct, with the prompt that every strategy's final answer has",
        ),
        Clause(
            "Temperature 0, at most 300 new tokens.", "adapted", "the run's temperature; `sentence_tokens` for a step"
        ),
        Clause(
            "Every decision to go on is one step.", "implemented", "the score of the decision `exit` is the steps made"
        ),
        Clause(
            "A sentence that repeats an earlier one is no exit.",
            "implemented",
            "it is one more step, and is recorded as `query: repeated_sentence`",
        ),
    ),
)
