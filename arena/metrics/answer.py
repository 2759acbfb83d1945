"""Score an answer by its words: exact match, F1, ROUGE-L, lexical support, citations, abstention, official figures.

`answers`: the main answer and its aliases; a score is the best over them, None when there are none. All scores are in
[0, 1]. Two texts in Latin letters are compared as MuSiQue's official evaluation compares them (Trivedi et al., TACL
2022, section 7, after SQuAD, Rajpurkar et al. 2016; HotpotQA's and 2WikiMultihopQA's normalise alike); two of which one
holds another script, by a normalisation that knows it. `official`: by MuSiQue's whatever they hold, as the datasets ask
for that have an official evaluation.

ROUGE-L is for references in prose. Source: Lin, "ROUGE: A Package for Automatic Evaluation of Summaries", ACL 2004. Of
two texts in Latin letters the tokens are those of the `rouge-score` library without a stemmer: runs of ASCII letters
and digits, in lower case. That library drops all other letters; of two texts of which one holds another script, the
tokens are those by which answers are compared (`any_script_normalised`). Only the length of the longest common
subsequence is worked out here, because the library's table takes milliseconds a pair.

Lexical support tells by words alone whether texts carry a statement, which is a sentence of the answer. It is supported
when enough of its content words stand in the texts, in any order and any of them. That catches invented names and
numbers; it does not see wrong relations between right words, nor paraphrase. Never call it faithfulness without
"lexical".

Marks such as [2] are taken off an answer's text when it is read, and what they point to is kept for the answer as a
whole: a citation counts for each of its statements.

The official evaluation is that of Trivedi, Balasubramanian, Khot and Sabharwal, "MuSiQue: Multihop Questions via
Single-hop Question Composition", TACL 2022, section 7, as version 1.0 of the authors' evaluation has it.
"""

from __future__ import annotations

import re
import string
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from math import fsum

from arena.metrics.case import Case
from arena.metrics.retrieval import support_em, support_f1
from arena.text import content_words, is_latin, lexical_form, sentences, spaced
from arena.types import grouped
from arena.types.data import OfficialGold, OfficialPrediction

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


@lru_cache(maxsize=16_384)  # the same gold meets every cell, and the same prediction every metric
def musique_normalised(text: str) -> str:
    """Lower-case, delete ASCII punctuation, drop the words a, an, the, collapse white space; in this order.

    Punctuation is deleted, not replaced: "U.S." becomes "us", "well-known" becomes "wellknown". Normalising
    twice changes nothing.
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


@lru_cache(maxsize=16_384)
def any_script_normalised(text: str) -> str:
    """As `musique_normalised`, for every script: in lexical form, case-folded, without any of Unicode's punctuation.

    The characters of scripts that leave no space between words are tokens by themselves, as in MLQA's evaluation (Lewis
    et al., ACL 2020); so spaces between them say nothing. Normalising twice changes nothing.
    """
    plain = lexical_form(text).casefold().translate(_PUNCTUATION)
    bare = "".join(one for one in plain if unicodedata.category(one)[0] != "P")
    return " ".join(_ARTICLES.sub(" ", spaced(bare, pairs=False)).split())


def exact_match(prediction: str, answers: Sequence[str], *, official: bool = False) -> float | None:
    """1.0 if the normalised prediction equals a normalised answer, else 0.0."""
    return _best(lambda predicted, gold: float(predicted == gold), prediction, answers, official)


def token_f1(prediction: str, answers: Sequence[str], *, official: bool = False) -> float | None:
    """2c / (p + g): p and g tokens of prediction and answer, c of them in common, repeats counted.

    If either side has no tokens, 1.0 when both have none, else 0.0.
    """
    return _best(_pair_f1, prediction, answers, official)


def contains(prediction: str, answers: Sequence[str], *, official: bool = False) -> float | None:
    """1.0 if the tokens of an answer stand in the prediction, adjacent and in order, else 0.0.

    Whole tokens: "us" is not in "bus". An answer without tokens stands only in a prediction without tokens.
    Generous to long predictions; read it beside exact match, never instead.
    """
    return _best(_pair_contains, prediction, answers, official)


def _best(
    compare: Callable[[str, str], float], prediction: str, answers: Sequence[str], official: bool
) -> float | None:
    latin = is_latin(prediction)
    scores = []
    for answer in answers:
        if official:
            scores.append(compare(musique_normalised(prediction), musique_normalised(answer)))
        elif latin and is_latin(answer):
            scores.append(compare(musique_normalised(_composed(prediction)), musique_normalised(_composed(answer))))
        else:
            scores.append(compare(any_script_normalised(prediction), any_script_normalised(answer)))
    return max(scores, default=None)


def _composed(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _pair_f1(predicted: str, gold: str) -> float:
    if not predicted or not gold:
        return float(predicted == gold)
    left, right = predicted.split(), gold.split()
    common = (Counter(left) & Counter(right)).total()
    return 2 * common / (len(left) + len(right))


def _pair_contains(predicted: str, gold: str) -> float:
    return float(f" {gold} " in f" {predicted} ") if gold else float(not predicted)


def rouge_l(prediction: str, references: Sequence[str], *, official: bool = False) -> float | None:
    """Best F1 over the references, in [0, 1]: 2 L / (p + r) of their tokens, L in common and in the same order.

    0.0 where either side has no tokens; None without references. `official`: by the library's tokens always.
    """
    return max((_f1(prediction, reference, official) for reference in references), default=None)


def _f1(prediction: str, reference: str, official: bool) -> float:
    library = official or (is_latin(prediction) and is_latin(reference))
    predicted, wanted = _tokens(prediction, library), _tokens(reference, library)
    if not predicted or not wanted:
        return 0.0
    return 2 * _common_length(predicted, _places(reference, library), len(wanted)) / (len(predicted) + len(wanted))


def _common_length(tokens: Sequence[str], places: dict[str, int], length: int) -> int:
    """Length of the longest common subsequence, a column of the table at a time in the bits of one integer.

    Allison and Dix, "A Bit-String Longest-Common-Subsequence Algorithm", 1986, in the form of Hyyro, 2004: a bit of
    `row` is 0 where the table grows by one.
    """
    whole = (1 << length) - 1
    row = whole
    for token in tokens:
        matched = row & places.get(token, 0)
        row = ((row + matched) | (row - matched)) & whole
    return length - row.bit_count()


@lru_cache(maxsize=4_096)  # the same references meet every cell
def _places(reference: str, library: bool) -> dict[str, int]:
    """Token -> the places where it stands, as bits."""
    places: dict[str, int] = {}
    for place, token in enumerate(_tokens(reference, library)):
        places[token] = places.get(token, 0) | 1 << place
    return places


@lru_cache(maxsize=4_096)
def _tokens(text: str, library: bool) -> tuple[str, ...]:
    if not library:
        return tuple(any_script_normalised(text).split())
    from rouge_score.tokenize import tokenize  # its class of the same rule loads the whole of nltk, three seconds

    return tuple(tokenize(text, None))


SUPPORTED_AT = 0.7
"""Share of a statement's content words from which on it counts as supported."""

Words = frozenset[str]


@lru_cache(maxsize=32_768)  # the same documents meet every cell; as many as MuSiQue's corpus has
def _known_words(text: str) -> Words:
    """Content words of a text that is looked up often; equal words are one object, which halves the memory."""
    return frozenset(map(sys.intern, content_words(text, singles=True)))


@lru_cache(maxsize=4_096)  # every metric of one record asks
def statements(answer: str) -> tuple[Words, ...]:
    """The content words of each sentence, in order; a sentence that has none states nothing and is left out."""
    return tuple(words for sentence in sentences(answer) if (words := content_words(sentence)))


def share_found(statement: Words, texts: Iterable[str]) -> float:
    """Share of the words of `statement` (not empty) that stand in any of the texts, in [0, 1]."""
    missing = statement
    for text in texts:
        missing = missing - _known_words(text)
    return (len(statement) - len(missing)) / len(statement)


def is_supported(statement: Words, texts: Iterable[str]) -> bool:
    """Whether the texts together carry the statement. No texts carry none."""
    return share_found(statement, texts) >= SUPPORTED_AT


def supported_share(answer: str, texts: Sequence[str]) -> float | None:
    """Share of the answer's statements that the texts together carry, in [0, 1]; 0.0 for no texts.

    None where the answer states nothing.
    """
    made = statements(answer)
    return sum(is_supported(statement, texts) for statement in made) / len(made) if made else None


def lexical_citation_precision(answer: str, cited: Sequence[str]) -> float | None:
    """Share of the cited texts that carry a statement of the answer on their own; None without either.

    Of a chain of hops only the document that names the answer does so: a low bound for short answers.
    """
    made = statements(answer)
    if not cited or not made:
        return None
    return sum(any(is_supported(statement, [text]) for statement in made) for text in cited) / len(cited)


def uncited_statements(answer: str, cited: Sequence[str]) -> float | None:
    """Share of the answer's statements without a citation: all of them or none. None where it states nothing."""
    return float(not cited) if statements(answer) else None


def answered(case: Case) -> float | None:
    """1.0 if the record claims something, 0.0 if it abstains."""
    answer = case.record.answer
    return None if answer is None else float(not answer.abstained)


def abstained(case: Case) -> float | None:
    """1.0 if the record abstains, 0.0 if it claims something."""
    answer = case.record.answer
    return None if answer is None else float(answer.abstained)


def worth_of_abstaining(case: Case) -> float | None:
    """0.0 where the record abstains on a question that has an answer; None where it does not, or has none.

    The rule of every metric that says how good an answer is, judged or not: abstaining is no way past a wrong answer.
    What is measured on claims alone (faithfulness, citations) is undefined for an abstention, which claims nothing.
    """
    answer = case.record.answer
    return 0.0 if answer is not None and answer.abstained and case.gold.answerable else None


Pair = tuple[OfficialPrediction, OfficialGold]


NOT_OFFICIAL = frozenset({"support_em"})
"""What `evaluate` gives beside the figures of the official program, which prints none of it."""


def evaluate(predictions: Sequence[OfficialPrediction], gold: Sequence[OfficialGold]) -> dict[str, float]:
    """The official metrics, in [0, 1] and unrounded (the authors round to three decimals).

    Answer and support are averaged over the answerable records. With an unanswerable record among the gold the setting
    is the full one, and there are group metrics: mean over the questions of the answerable twin's F1, 0 unless
    `answerable` is predicted rightly of both twins.

    Args:
        predictions: one per record, in the order of the gold.
        gold: at least one answerable record, each with an answer; in the full setting two per id, one of them
            answerable.

    Raises:
        ValueError: predictions and gold are not of the same records, or not as above.
    """
    if len(predictions) != len(gold):
        raise ValueError(f"{len(predictions)} predictions for {len(gold)} records")
    pairs = list(zip(predictions, gold, strict=True))
    for predicted, record in pairs:
        if predicted.question_id != record.question_id:
            raise ValueError(f"a prediction for {predicted.question_id!r} stands where {record.question_id!r} should")
    answerable = [pair for pair in pairs if pair[1].answerable]
    if not answerable:
        raise ValueError("the gold has no answerable record: nothing can be averaged")
    scores = [_official_scores(pair) for pair in answerable]
    metrics = {name: _mean([one[name] for one in scores]) for name in scores[0]}
    if len(answerable) < len(pairs):
        groups = [(_official_scores(pair), right) for pair, right in _groups(pairs)]
        metrics["group_answer_sufficiency_f1"] = _mean([right * one["answer_f1"] for one, right in groups])
        metrics["group_support_sufficiency_f1"] = _mean([right * one["support_f1"] for one, right in groups])
    return metrics


def _groups(pairs: Sequence[Pair]) -> list[tuple[Pair, bool]]:
    """Of each id its answerable twin, and whether sufficiency was predicted rightly of both."""
    groups = grouped((pair[1].question_id, pair) for pair in pairs)
    for question_id, twins in groups.items():
        if sorted(record.answerable for _, record in twins) != [False, True]:
            raise ValueError(f"{question_id!r} needs one answerable and one unanswerable record in the full setting")
    return [
        (
            next(pair for pair in twins if pair[1].answerable),
            all(predicted.answerable == record.answerable for predicted, record in twins),
        )
        for twins in groups.values()
    ]


def _official_scores(pair: Pair) -> dict[str, float]:
    predicted, record = pair
    return {
        "answer_em": exact_match(predicted.answer, record.answers, official=True) or 0.0,
        "answer_f1": token_f1(predicted.answer, record.answers, official=True) or 0.0,
        "support_em": support_em(predicted.support_idxs, record.support_idxs),
        "support_f1": support_f1(predicted.support_idxs, record.support_idxs),
    }


def _mean(values: Sequence[float]) -> float:
    return fsum(values) / len(values)
