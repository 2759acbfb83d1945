"""What of IRCoT can be set."""

from __future__ import annotations

from pydantic import Field

from strategies.params import Params


class IrcotParams(Params):
    """The caps of the loop. How many passages a step retrieves is the comparison's own `k`."""

    max_sentences: int = Field(
        default=8,
        ge=1,
        le=30,
        description="Sentences of reasoning at most; the reader follows. 8 is reported of the paper at second hand "
        "(arXiv 2212.10509), 10 is the default of its released code.",
    )
    max_passages: int = Field(
        default=15,
        ge=1,
        le=100,
        description="Passages collected at most over all steps; later ones are left out and the loop goes on. "
        "15 in the paper, section 4.",
    )
    sentence_tokens: int = Field(
        default=60,
        ge=8,
        le=4096,
        description="Tokens a step may take, unless the model thinks before it speaks. Ours: the paper allows 300 and "
        "throws away all but the first sentence.",
    )
