"""Self-RAG beside its paper, clause by clause."""

from __future__ import annotations

from strategies.base import Clause, FidelityCard

CARD = FidelityCard(
    paper="Asai et al., Self-RAG: Learning to Retrieve, Generate, and Critique through Self-Reflection, ICLR 2024 "
    "(arXiv 2310.11511 v1), and its released code AkariAsai/self-rag",
    decides=(
        "retrieve?: before each segment of each text, whether to retrieve, to go without, or to go on with the "
        "evidence in hand",
        "critique: how each candidate scores, and whether it lives on",
        "constraints: under hard constraints, which candidates are dropped",
        "select: which text goes on, beside the first passage's",
        "stop: in long form, whether all texts are complete or the depth is reached",
    ),
    clauses=(
        Clause(
            "A generator and a critic are trained to emit reflection tokens.",
            "adapted",
            "`checkpoint` runs the trained generator (T2); any other model is asked for each reflection in words of "
            "our own (T0, T1), which claims the control flow and the arithmetic, not the published scores",
        ),
        Clause(
            "The checkpoint's prompt: instruction block, response block, retrieval token, passage between its tags.",
            "implemented",
            "T2: as in the code; earlier passages stay in the response, as in the training data, where the code leaves "
            "them out; special tokens inside a question or passage are defused",
        ),
        Clause(
            "Retrieve is yes, no or continue, before each segment.",
            "implemented",
            "per text; `continue` is on offer where the last segment was written from a passage",
        ),
        Clause(
            "Retrieve when P(yes) / (P(yes) + P(no)) exceeds delta, 0.2.",
            "implemented",
            "appendix A.3, over probabilities (the code's short form divides log-probabilities, which inverts it); the "
            "origin `paper` only at T2, elsewhere delta wants calibration; at T0 the label decides",
        ),
        Clause(
            "The top K passages for the question and the last segment, anew for each segment.",
            "implemented",
            "the one retrieve node, once per text; K is the comparison's own (paper: 5, plus 5 from the web)",
        ),
        Clause(
            "One candidate per passage, in parallel: IsRel, the segment, IsSup, IsUse.",
            "implemented",
            "one branch per text and passage; IsRel is judged beside the writing, IsSup beside IsUse; at T0 and T1 "
            "IsRel of a passage is not asked again in a later segment, as it depends on the question alone",
        ),
        Clause("An irrelevant passage lowers the score and is not dropped.", "implemented", "a soft term"),
        Clause(
            "s_rel, s_sup and s_use are label values weighted by renormalised probabilities.",
            "implemented",
            "one formula; a hard label is a probability of 1 (T0)",
        ),
        Clause(
            "A reflection token that never appears counts 0 (code).",
            "implemented",
            "for all three, and for a judgement that could not be read; an unreadable Retrieve decision retrieves",
        ),
        Clause(
            "f = p(segment) + 1.0 s_rel + 1.0 s_sup + 0.5 s_use, p length-normalised.",
            "implemented",
            "p where the model gives log-probabilities, for all candidates of a level or for none (noted on `select`); "
            "the code's long form has neither p nor utility by mistake",
        ),
        Clause(
            "Without retrieval: the segment and IsUse.",
            "implemented",
            "ranked by its utility on the same scale; nothing puts it first",
        ),
        Clause(
            "Beam search over segments, width 2, to the end of text or a depth.",
            "implemented",
            "finished texts stay in the pool (the code reads back the deepest level only); depth 6",
        ),
        Clause(
            "How segment scores add up is not stated; the code multiplies.",
            "adapted",
            "the mean per segment by default, so that length alone wins nothing; `accumulate=sum` favours longer "
            "texts, `accumulate=product` is the code's",
        ),
        Clause(
            "A segment is a sentence; decoding is greedy.",
            "adapted",
            "T2: up to the next Retrieve token. T0, T1: the first new sentence of what the model writes on; the "
            "text is complete when it writes no more. The run's temperature",
        ),
        Clause(
            "Where tokens are read: IsRel at the first token, IsSup and IsUse where their group is first emitted.",
            "implemented",
            "T2: inside the segment; the code also reads on behind its end. A segment that continues on the evidence "
            "in hand, which emits no IsRel, keeps that of the passage",
        ),
        Clause(
            "Hard constraints: retrieve only where yes is emitted; drop candidates with an undesired value.",
            "implemented",
            "`constraints=hard` drops those without support; when all are, the best of them is kept and that is noted",
        ),
        Clause("Short form: one retrieval at most, the best single candidate.", "implemented", "`mode=short`"),
        Clause(
            "Closed set: the option with the largest sum of S over its passages.",
            "adapted",
            "`mode=closed_set`; options are chosen by letter. The checkpoint is asked with one instruction of ours, "
            "and the code has one a task (fact checking, four-way science questions): closed-set figures of T2 are "
            "not the paper's",
        ),
        Clause(
            "Long form cites for each segment the passage it was written from.",
            "implemented",
            "as the answer's cited documents, without marks in the text",
        ),
        Clause("Ablations: always and never retrieve.", "implemented", "`retrieval=always`, `retrieval=never`"),
        Clause(
            "There is no abstention.",
            "adapted",
            "every strategy here may abstain; an abstention is a candidate that its utility and support rank",
        ),
        Clause(
            "Retrieved by Contriever from Wikipedia of 2018 or 2020.",
            "left out",
            "corpus and retrieval mode are the comparison's, the same for every strategy",
        ),
        Clause(
            "Substring accuracy, FactScore, str-em, rouge, MAUVE, citation precision and recall.",
            "left out",
            "scored like every strategy, by the arena's own metrics",
        ),
    ),
)
