from __future__ import annotations

from arena.datasets.table import BY_SCRIPT, ENGLISH_ONLY, OFFICIALLY, WordCounts, describe
from arena.types import Dataset, Document, Gold, Question

DOCUMENTS = (
    Document("d1", "Veyra", "one two three four"),
    Document("d2", "Veyra", "one  two\nthree"),
    Document("d3", "Tolm", "one two"),
    Document("d4", "", "one"),
    Document("d5", "", ""),
)
QUESTIONS = (
    Question("q1", "?", "multi_hop", hops=3, hop_shape="3hop1"),
    Question("q2", "?", "multi_hop", hops=2, hop_shape="2hop"),
    Question("q3", "?", "single_hop", hops=1),
    Question("q4", "?", "unanswerable"),
)
GOLD = {
    "q1": Gold("q1", ("a",), ("d1", "d3")),
    "q2": Gold("q2", ("a",), ("d3", "d4")),
    "q3": Gold("q3", ("a",), ("d2",)),
    "q4": Gold("q4", (), (), answerable=False),
}


def test_counts_what_is_there() -> None:
    info = describe(Dataset("mine", DOCUMENTS, QUESTIONS, GOLD, "ds_1", ("a note",)))
    assert (info.name, info.fingerprint, info.notes) == ("mine", "ds_1", ("a note",))
    assert (info.n_documents, info.n_questions) == (5, 4)
    assert info.by_kind == {"multi_hop": 2, "single_hop": 1, "unanswerable": 1}
    assert list(info.by_hops.items()) == [(1, 1), (2, 1), (3, 1)]
    assert list(info.by_shape.items()) == [("2hop", 1), ("3hop1", 1)]
    assert info.gold_share == 0.75


def test_homonyms_are_shared_titles_and_blank_ones_are_none() -> None:
    info = describe(Dataset("mine", DOCUMENTS, QUESTIONS, GOLD, "ds_1"))
    assert (info.homonym_titles, info.documents_with_homonym_title) == (1, 2)
    assert info.questions_with_homonym_support == 2


def test_words_are_separated_by_white_space() -> None:
    info = describe(Dataset("mine", DOCUMENTS, QUESTIONS, GOLD, "ds_1"))
    assert info.words == WordCounts(minimum=0, median=2.0, mean=2.0, p95=3.8, maximum=4)


def test_words_of_scripts_without_spaces_are_their_characters() -> None:
    documents = (Document("d1", "", "北京是中国的首都。"), Document("d2", "", "in 北京"))
    words = describe(Dataset("mine", documents, (), {}, "ds_1")).words
    assert words is not None
    assert (words.minimum, words.maximum) == (3, 9)


def test_nothing_to_count_is_none_not_zero() -> None:
    info = describe(Dataset("empty", (), (), {}, "ds_0"))
    assert info.words is None
    assert info.gold_share is None
    assert (info.n_documents, info.by_kind) == (0, {})


def test_what_is_english_only_is_said_of_other_scripts_alone() -> None:
    question, gold = Question("q1", "首都在哪里？", "single_hop"), Gold("q1", ("北京",), ())
    chinese = describe(Dataset("jsonl:x", (), (question,), {"q1": gold}, "ds_0"))
    assert (chinese.other_scripts, chinese.answers_compared, chinese.english_only) == (1, BY_SCRIPT, ENGLISH_ONLY)
    english = describe(Dataset("m", (), QUESTIONS[2:3], {"q3": Gold("q3", ("a",), (), official=True)}, "ds_0"))
    assert (english.other_scripts, english.answers_compared, english.english_only) == (0, OFFICIALLY, ())
