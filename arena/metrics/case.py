"""What a metric may look at (one record, what is right, the texts behind the ids), and why a score has no value.

The reasons are codes for `Score.reason`. Undefined: this record has no such score to be had; it leaves the mean and its
n. Most of these follow from the question or from the cell; what follows from the answer (it abstains, cites nothing,
has no words) has a metric of its own. Missing: there is a score to be had, but this run did not get it; it counts
against coverage.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from arena.types import Document, Gold, GoldSentence, Question, RunRecord, ShownDocument


@dataclass(frozen=True)
class Case:
    """One record with its question, its gold, and the documents of every source whose texts are known.

    `documents`: id -> document, of the corpus and of a second index; what a live search brought is in neither, and its
    text in the record.
    """

    record: RunRecord
    question: Question
    gold: Gold
    documents: Mapping[str, Document]

    @cached_property
    def shown(self) -> Mapping[str, str] | None:
        """Document id -> title and text of it that stood in the prompt of the answer; None = that is not known.

        Empty where there is no answer or nothing was shown. Unknown are the texts of records that do not say what was
        shown (of journals of the third schema, of foreign systems), and of documents that are not there any more.
        """
        answer = self.record.answer
        if answer is not None and (not self.record.tells_evidence or (answer.used_ids and answer.shown is None)):
            return None
        if answer is None or answer.shown is None:
            return {}
        texts = {one.doc_id: self._as_shown(one) for one in answer.shown}
        known = {doc_id: text for doc_id, text in texts.items() if text is not None}
        return known if len(known) == len(texts) else None

    @cached_property
    def assumed_shown(self) -> Mapping[str, str] | None:
        """`shown`; of a record that does not say, the documents whole, or the pieces of them that were retrieved.

        It tells apart what was judged, in journals too that are older than `shown`, and is judged by nobody.
        """
        answer = self.record.answer
        if answer is None or answer.shown is not None:
            return self.shown
        texts: dict[str, str] = {}
        for doc_id in answer.used_ids:
            document = self.documents.get(doc_id)
            if document is None:
                return None
            hits = (hit for retrieval in self.record.retrievals for hit in retrieval.hits if hit.doc_id == doc_id)
            texts[doc_id] = _part(document, sorted({hit.span for hit in hits if hit.span is not None}) or None)
        return texts

    def shows(self, sentence: GoldSentence) -> bool:
        """Whether a sentence stood in the prompt of the answer, whole, white space aside.

        Of a record that does not say what was shown: False.
        """
        answer, document = self.record.answer, self.documents.get(sentence.doc_id)
        shown = [one for one in (answer.shown if answer else None) or () if one.doc_id == sentence.doc_id]
        if not shown or document is None:
            return False
        if shown[0].text is not None:
            words = document.text[sentence.start : sentence.end].split()
            return " ".join(words) in " ".join(shown[0].text.split())
        return all(
            any(start <= place < end for start, end in shown[0].spans)
            for place in range(sentence.start, sentence.end)
            if not document.text[place].isspace()
        )

    def _as_shown(self, shown: ShownDocument) -> str | None:
        document = self.documents.get(shown.doc_id)
        if shown.text is not None or document is None:
            return shown.text
        return _part(document, shown.spans)


def _part(document: Document, spans: Sequence[tuple[int, int]] | None) -> str:
    """Title and text of these spans, a line each; None = of the whole document."""
    texts = [document.text] if spans is None else [document.text[start:end] for start, end in spans]
    return "\n".join((document.title, *texts))


NO_GOLD = "no_gold"  # the dataset names no supporting documents
NO_SENTENCES = "no_sentences"  # the dataset does not say which sentences carry the evidence
NO_CLAIMS = "no_claims"  # the reference is not annotated claim by claim
NO_HOP_ORDER = "no_hop_order"  # the dataset does not say which document serves which hop
FEWER_HOPS = "fewer_hops"  # the question has no hop of that number
UNANSWERABLE = "unanswerable"  # there is no right answer to compare with
ANSWERABLE = "answerable"  # there is a right answer: abstaining cannot be correct
NOT_A_SPAN = "not_a_span"  # the reference is prose: string overlap would measure style
NOT_A_SUMMARY = "not_a_summary"  # the reference is a span, not prose
NO_ANSWER_BY_DESIGN = "no_answer_by_design"  # the strategy only retrieves
NO_RETRIEVAL = "no_retrieval"  # the cell has no retriever (closed book)
GOLD_BY_CONSTRUCTION = "gold_by_construction"  # the retriever was handed the gold: nothing was ranked
CUT_BEYOND_K = "cut_beyond_k"  # the cell asks for fewer passages than the metric looks at
ABSTAINED = "abstained"  # the answer claims nothing, of which it could be asked whether it is supported
NO_CONTENT = "no_content"  # the answer has no words but stop words
NO_CITATIONS = "no_citations"  # the answer cites nothing

FAILED = "failed"  # the record is a failure
NOT_REPORTED = "not_reported"  # a foreign system answered and does not say what it retrieved
TEXT_UNKNOWN = "text_unknown"  # it is not known which texts were shown
NOT_JUDGED = "not_judged"  # no judge was asked, or it gave no verdict
PARTLY_JUDGED = "partly_judged"  # the judge gave a verdict on some parts only
JUDGE_FAILED = "judge_failed"  # the judge's calls failed, or could not be read

UNDEFINED = frozenset(
    {
        *(NO_GOLD, NO_SENTENCES, NO_CLAIMS, NO_HOP_ORDER, FEWER_HOPS, UNANSWERABLE, ANSWERABLE, NOT_A_SPAN),
        *(NOT_A_SUMMARY, NO_ANSWER_BY_DESIGN, NO_RETRIEVAL, GOLD_BY_CONSTRUCTION, CUT_BEYOND_K),
        *(ABSTAINED, NO_CONTENT, NO_CITATIONS),
    }
)
"""What leaves the questions that a mean is over; every other reason, one of a later version too, is a missing score."""


def is_undefined(reason: str | None) -> bool:
    """Whether a score with this reason is undefined, not missing. A score with a value has no reason: False."""
    return reason in UNDEFINED
