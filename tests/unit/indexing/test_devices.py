from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from indexing.devices import BATCH_TOKENS, TOKENIZED_TEXTS, token_bounded, token_counts


@given(st.lists(st.integers(0, 3 * BATCH_TOKENS)), st.integers(1, 9))
def test_batches_hold_everything_once_within_both_bounds(lengths: list[int], batch_size: int) -> None:
    longest_first = sorted(lengths, reverse=True)
    batches = list(token_bounded(longest_first, lambda length: length, batch_size))
    assert [length for batch in batches for length in batch] == longest_first
    for batch in batches:
        assert 1 <= len(batch) <= batch_size
        assert len(batch) == 1 or len(batch) * batch[0] <= batch_size * BATCH_TOKENS


def test_no_batch_is_smaller_than_it_has_to_be() -> None:
    lengths = [2 * BATCH_TOKENS, 2 * BATCH_TOKENS, 2 * BATCH_TOKENS, 1, 1, 1, 1, 1]
    batches = list(token_bounded(lengths, lambda length: length, 4))
    assert [len(batch) for batch in batches] == [2, 2, 4]


def test_the_tokenizer_is_never_given_a_whole_corpus() -> None:
    asked: list[int] = []

    def count(texts: Sequence[str]) -> list[int]:
        asked.append(len(texts))
        return [len(text) for text in texts]

    texts = ["x" * (number % 7) for number in range(2 * TOKENIZED_TEXTS + 1)]
    assert list(token_counts(count, texts)) == [len(text) for text in texts]
    assert asked == [TOKENIZED_TEXTS, TOKENIZED_TEXTS, 1]
    assert list(token_counts(count, [])) == []
