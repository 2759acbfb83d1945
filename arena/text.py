"""Text of any language, read without a model: its normal forms, scripts, words, sentences and marks of reasoning.

Everything that takes text apart does so here, in time and memory that grow with its length and no faster: these
functions run on the event loop, and what they are given was written by a model or a stranger.

A script that leaves no space between words (Chinese, Japanese, Korean, whose spaces vary, Thai, Lao, Khmer, Burmese)
is read by its characters, each with the marks that it bears: one by one where answers are compared, in overlapping
pairs where texts are searched. No dictionary decides what a word is, so that figures do not change with one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

# Letters, digits and marks of other scripts than Latin, and the full-width forms of Latin.
_BEYOND = (
    "\u0370-\u1dbf\u1f00-\u1fff\u2c00-\u2c5f\u2c80-\u2dff\u2e80-\ua71f\ua800-\uab2f\uab70-\ufaff\ufb07-\ufdff"
    "\ufe30-\uffef\U00010000-\U0001cfff\U0001e000-\U0001efff\U00020000-\U000323af"
)
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035"
    "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u318f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uaa60-\uaa7f\uac00-\ud7fb\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U000323af"
)
_HAS_BEYOND = re.compile(f"[{_BEYOND}]")
_RUN = re.compile(f"[{_UNSPACED}]+")
# Vowel points and the stretching of Arabic and Hebrew, and what is not seen: written or left out, the word is the same.
_OPTIONAL = re.compile(
    "[\u0591-\u05bd\u05bf\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u200b-\u200f\u2060\ufeff]"
)
_ARABIC = re.compile("[\u0621-\u064a\u066e-\u06d3]+")
_ARABIC_ARTICLES = ("وال", "بال", "كال", "فال", "ال", "لل")


def well_formed(text: str) -> str:
    """`text` with a `?` for every lone surrogate: JSON can spell one (backslash, `ud800`), UTF-8 cannot."""
    return text.encode("utf-8", "replace").decode()


def is_latin(text: str) -> bool:
    """Whether `text` holds nothing of another script than Latin; signs, symbols and accents belong to none."""
    return text.isascii() or not _HAS_BEYOND.search(text)


def lexical_form(text: str) -> str:
    """`text` as words are compared: compatibility forms unified (NFKC), optional points and unseen marks left out.

    Full width is half width, composed is decomposed. ASCII comes back as it is.
    """
    if text.isascii():
        return text
    plain = unicodedata.normalize("NFKC", text)
    return plain if is_latin(plain) else _OPTIONAL.sub("", plain)


def characters(run: str) -> list[str]:
    """What a reader takes for one character: each with the marks that follow it."""
    starts = [place for place, one in enumerate(run) if place == 0 or unicodedata.category(one)[0] != "M"]
    return [run[start:end] for start, end in pairwise([*starts, len(run)])]


def spaced(text: str, *, pairs: bool, singles: bool = False) -> str:
    """`text` with white space around the words of scripts that leave none; see the module for what these are.

    `pairs`: overlapping pairs of characters (a lone one stays), else one by one. `singles`: beside the pairs also
    their characters, for what is to be found by one of them alone.
    """
    if is_latin(text):
        return text

    def cut(run: re.Match[str]) -> str:
        single = characters(run[0])
        words = ["".join(pair) for pair in pairwise(single)] if pairs and len(single) > 1 else single
        return f" {' '.join([*words, *single] if singles and words is not single else words)} "

    return _RUN.sub(cut, text)


_LIGATURES = re.compile("[\ufb00-\ufb06]")
_UNSEEN_BY_TOKENIZERS = re.compile("[\u0e47-\u0e4e\u0ec8-\u0ece\u1037\u1039\u103a\u17d2\u17c6-\u17d1]")


def searchable(text: str, *, singles: bool) -> str:
    """`text` for an engine that finds words between spaces and signs: one form for all that mean the same.

    Composed (NFC), and but for plain Latin the lexical form; pairs of characters where words are not told apart (with
    `singles` also the characters, for what is searched), there without tone marks, at which engines would cut; Arabic
    words without the article (the light stemming of Larkey, Ballesteros and Connell, "Improving Stemming for Arabic
    Information Retrieval", SIGIR 2002).
    """
    if is_latin(text) and not _LIGATURES.search(text):
        return text if text.isascii() else unicodedata.normalize("NFC", text)
    plain = lexical_form(text)
    if is_latin(plain):
        return plain
    return spaced(_ARABIC.sub(_without_article, _UNSEEN_BY_TOKENIZERS.sub("", plain)), pairs=True, singles=singles)


def _without_article(word: re.Match[str]) -> str:
    text = word[0]
    article = next((one for one in _ARABIC_ARTICLES if text.startswith(one) and len(text) >= len(one) + 2), "")
    return text[len(article) :]


# English words that say nothing of a text's content. Not among them: negations, which change what is said, and what is
# also an answer (one, May, US). Other languages have none here: their figures are lower bounds of what is carried.
_LISTED = """
a an the this that these those such same other another each every either both all any some few many much more
most several own

i me my mine myself you your yours yourself yourselves he him his himself she her hers herself it its itself
we our ours ourselves they them their theirs themselves who whom whose which what where when why how
whoever whatever whichever there here

am is are was were be been being have has had having do does did doing done will would shall should can could
might must ought

of in on at by to from for with about against between among into onto upon through during before after above
below under over up down out off again further within across along around behind beside besides beyond near
since until till toward towards per via

and or but if then else than because as while although though whether so yet thus hence therefore however
also too very just only even still quite rather almost already once ever well

yes no answer
"""
STOP_WORDS = frozenset(_LISTED.split())

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_MARKS = "".join(chr(code) for code in range(0x0483, 0x1D00) if unicodedata.category(chr(code))[0] == "M")
_MARKED_WORD = re.compile(rf"[^\W_](?:[^\W_]|[{_MARKS}])*+(?:'[^\W_]++)*+")
_CLITIC = re.compile(r"'(?:s|re|ve|ll|d|m)\b")


def content_words(text: str, *, singles: bool = False) -> frozenset[str]:
    """The distinct words of `text` without English stop words, case-folded, in their lexical form.

    A hyphen separates words, an apostrophe does not, and "'s" and its like are taken off. `singles`: see `spaced`.
    """
    plain = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")
    if "'" in plain:
        plain = _CLITIC.sub("", plain)
    if is_latin(plain):
        return frozenset(_WORD.findall(plain)) - STOP_WORDS
    return frozenset(_MARKED_WORD.findall(searchable(plain, singles=singles))) - STOP_WORDS


_OPENING = "\"'\u201c\u2018(\\["
CLOSING = "\"'\u201d\u2019)]"
"""What may stand between a full stop and the white space after it."""
_CLOSING = re.escape(CLOSING)
_CERTAIN = "\u3002\uff01\uff1f\uff61\u0964\u0965\u06d4\u061f\u0589\u1362\u1367\u1368\u104b\u17d4\u17d5\u0f0d"
_BRACKETS = "\u300d\u300f\uff09\u3011\u300b\u3009"
_STOPS = re.compile(
    # A run of full stops that white space follows. `++` gives nothing back: it is read once, however long.
    rf"(?<![.!?\u2026])[.!?\u2026]++[{_CLOSING}]*+(?=\s)"
    # The full stops of other scripts need none: Chinese and Japanese, Devanagari, Urdu, Arabic, Armenian, Ethiopic, ...
    f"|(?<![{_CERTAIN}])[{_CERTAIN}]++"
    # A Japanese quotation may end before its sentence does.
    f"(?:[{_CLOSING}]*+[{_BRACKETS}][{_BRACKETS}{_CLOSING}]*+(?![\u3041-\u309f])|[{_CLOSING}]*+(?![{_BRACKETS}]))"
)
_BEGINS = re.compile(rf"\s++(?:[{_OPENING}]*+[^\W_a-z]|[{_OPENING}\u00ab\u2039\u201e]*+[{_BEYOND}])")
_ABBREVIATED = "st mt dr mr mrs ms prof sr jr gen col capt lt rev no vs"
ABBREVIATIONS = frozenset(_ABBREVIATED.split())
"""Their full stops end no sentence; nor do those of initials."""
_LAST_WORD = re.compile(r"(?:^|[\s(\"'])((?:[^\W\d_]\.)*[^\W\d_]|[a-z]+)\.$", re.IGNORECASE)
_LOOK_BACK = 16  # characters, more than any abbreviation has
_ITEM = re.compile(r"\s*(?:\d{1,2}[.)]|[-*\u2022])\s+")


@dataclass(frozen=True, slots=True)
class Stop:
    """Where a sentence may end: `text[start:end]` is a run of full stops and what closes after them.

    `certain`: no white space need follow, and no abbreviation has it.
    """

    start: int
    end: int
    certain: bool


def stops(text: str, start: int = 0) -> Iterator[Stop]:
    """Every place of `text` from `start` on at which a sentence may end, in order."""
    for found in _STOPS.finditer(text, start):
        yield Stop(found.start(), found.end(), text[found.start()] not in ".!?\u2026")


def sentence_spans(
    text: str, *, start: int = 0, abbreviations: frozenset[str] = ABBREVIATIONS
) -> list[tuple[int, int]]:
    """Start and end of each sentence of `text[start:]`, in order, without the white space around them.

    A full stop ends none after an initial or one of `abbreviations`, nor where a small letter follows.
    """
    ends = []
    begun = start
    for stop in stops(text, start):
        if stop.certain or (_begins(text, stop.end) and not _abbreviated(text, begun, stop.end, abbreviations)):
            ends.append(stop.end)
            begun = stop.end
    bounds = [start, *(end for end in ends if end < len(text)), len(text)]
    return [trimmed for span in pairwise(bounds) if (trimmed := _trimmed(text, *span))]


def sentences(text: str) -> list[str]:
    """The sentences of `text` in order, without the white space between them; one does not go on in the next line.

    A full stop after an initial, a title or an abbreviation ends none: "St. Louis" is one sentence. The numbers and
    bullets of a list belong to none.
    """
    found = []
    for line in text.splitlines():
        item = _ITEM.match(line)
        found += [line[start:end] for start, end in sentence_spans(line, start=item.end() if item else 0)]
    return found


def _begins(text: str, end: int) -> bool:
    """Whether what follows white space at `end` can open a sentence: anything but a small letter or a sign."""
    found = _BEGINS.match(text, end)
    if found is None:
        return False
    first = text[found.end() - 1]
    # Georgian letters are small ones to Unicode, and open sentences.
    return is_latin(first) or not first.islower() or "\u10d0" <= first <= "\u10ff"


def _abbreviated(text: str, begun: int, end: int, abbreviations: frozenset[str]) -> bool:
    """Whether the stop before `end` is that of an initial or an abbreviation."""
    word = _LAST_WORD.search(text[max(begun, end - _LOOK_BACK) : end])
    return word is not None and (len(word[1]) == 1 or "." in word[1] or word[1].lower() in abbreviations)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The span without white space at its ends; None when nothing is left."""
    inside = text[start:end]
    left = len(inside) - len(inside.lstrip())
    kept = len(inside.strip())
    return (start + left, start + left + kept) if kept else None


ABSTENTION = "I don't know"
"""What a model is asked to reply where it has no answer."""

_ABSTAINS = re.compile(
    r"[\"'\u201c\u2018*_`\s]*+(?:"
    # A capital in "Know" is a title's, as in "I Don't Know How to Love Him".
    r"i\s+(?:do\s+not|don.?t)\s+(?:(?-i:know|KNOW)\b|know(?=\W*+$|[.,;:!]))"
    r"|the\s+(?:\w+\s+)?passages?\s+do(?:es)?(?:\s+not|n.?t)\s+contain\s+(?:the|an|any)\s+answer\b"
    r")",
    re.IGNORECASE,
)
_BEFORE_PHRASE = "\"'\u201c\u2018\u300c\u300e\u00ab*_` \t\r\n"


def abstains(text: str, phrases: Sequence[str] = ()) -> bool:
    """Whether `text` opens with words that decline to answer.

    These are "I don't know", however it goes on ("... who founded it"), "The passages do not contain the answer", and
    `phrases`, whole words whatever their case. A title is told by its capitals alone: "I Don't Know Why" answers.
    """
    if _ABSTAINS.match(text):
        return True
    opening = lexical_form(text[: 4 * max(map(len, phrases), default=0) + 200]).casefold().lstrip(_BEFORE_PHRASE)
    return any(_opens_with(opening, lexical_form(phrase).casefold().strip()) for phrase in phrases)


def _opens_with(text: str, phrase: str) -> bool:
    if not phrase or not text.startswith(phrase):
        return False
    after = text[len(phrase) : len(phrase) + 1]
    return not after.isalnum() or _RUN.fullmatch(phrase[-1]) is not None


Marks = tuple[tuple[str, str], ...]
"""What opens and what closes a stretch of reasoning."""

THINK = ("<think>", "</think>")
REASONING_MARKS: Marks = (
    THINK,
    ("<thinking>", "</thinking>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("<|channel|>analysis", "<|channel|>final<|message|>"),
)
"""Those of DeepSeek, Qwen and most others; of prompts; of Seed; of Magistral; of gpt-oss (harmony)."""
_FRAMES = (
    *("</s>", "<s>", "<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|end|>", "<|return|>", "<|endoftext|>"),
    *("<|end_of_text|>", "<end_of_turn>", "<|start|>assistant", "<|im_start|>assistant"),
)
"""What a chat template puts around a turn, and a server should have taken off."""
_OPENS = re.compile(r"<think>", re.IGNORECASE)
_CLOSES = re.compile(r"</think>", re.IGNORECASE)


def marked_as_thought(text: str, marks: Marks = REASONING_MARKS) -> str:
    """`text` with its `marks` of reasoning written `<think>` and `</think>`, and no frame of a chat template around it.

    Marks in angle brackets are read whatever their case. Text without any is given back as it is.
    """
    for place, pattern in enumerate(_patterns(marks)):
        text = pattern.sub(THINK[place], text) if pattern else text
    start, end = 0, len(text)
    while (inner := _framed(text, start, end)) != (start, end):
        start, end = inner
    return text if (start, end) == (0, len(text)) else text[start:end].strip()


@lru_cache(maxsize=64)
def _patterns(marks: Marks) -> tuple[re.Pattern[str] | None, re.Pattern[str] | None]:
    def either(side: int) -> re.Pattern[str] | None:
        spelt = [re.escape(pair[side]) for pair in marks if pair != THINK and pair[side]]
        return re.compile("|".join(f"(?i:{one})" if one.startswith("<") else one for one in spelt)) if spelt else None

    return either(0), either(1)


def _framed(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without one frame at its beginning or end, and the white space outside that; the span, if none."""
    first, last = start, end
    while first < last and text[first].isspace():
        first += 1
    while last > first and text[last - 1].isspace():
        last -= 1
    for frame in _FRAMES:
        if text.startswith(frame, first, last):
            return first + len(frame), last
        if text.endswith(frame, first, last):
            return first, last - len(frame)
    return start, end


def holds_reasoning(text: str) -> bool:
    """Whether `text` has a block of reasoning, or a part of one."""
    return bool(_OPENS.search(text) or _CLOSES.search(text))


def without_reasoning(text: str) -> str:
    """What is left of `text` outside its reasoning, stripped.

    A `</think>` alone ends reasoning that the prompt had begun; a `<think>` alone was cut off, and all after it goes.
    """
    *closed, last = _CLOSES.split(text)
    halves = (_OPENS.split(block, maxsplit=1) for block in closed)
    outside = [half[0] for half in halves if len(half) > 1]
    return "".join([*outside, _OPENS.split(last, maxsplit=1)[0]]).strip()


def ends_in_reasoning(text: str) -> bool:
    """Whether the last block of reasoning has no end."""
    return bool(_OPENS.search(_CLOSES.split(text)[-1]))
