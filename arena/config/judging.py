"""Who judges answers, by which metrics, and how often."""

from __future__ import annotations

from pydantic import Field, field_validator

from arena.config.settings import LLMSettings, Settings
from arena.types import JudgeMetric


class JudgeModel(LLMSettings):
    """The judge's language model; its replies list statements one by one and need more room than an answer."""

    model: str
    max_tokens: int = Field(default=1024, ge=1, description="Upper bound of a reply, reasoning included.")


class JudgeConfig(Settings):
    """RAGAS judges over the answers of a run.

    `repeats`: how often everything is judged; more than once tells the judge's own variance.
    """

    llm: JudgeModel
    metrics: tuple[JudgeMetric, ...] = Field(default=("answer_accuracy", "faithfulness"), min_length=1)
    repeats: int = Field(default=1, ge=1)
    health_seconds: float = Field(
        default=30.0,
        gt=0,
        description="Seconds that each reply to the made-up answer before a run may take, whatever its time-out.",
    )

    @field_validator("metrics")
    @classmethod
    def _once_each(cls, metrics: tuple[JudgeMetric, ...]) -> tuple[JudgeMetric, ...]:
        if len(set(metrics)) < len(metrics):
            raise ValueError(f"metrics {list(metrics)} list one more than once")
        return metrics
