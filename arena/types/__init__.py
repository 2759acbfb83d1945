"""The records that flow through the arena, from left to right and never back.

    Document -> Passage -> Hit -> Retrieval
    Question -> Task -> (strategy) -> Attempt -> RunRecord -> Score
                                                  RunRecord -> (judge) -> Verdict -> Score

    Gold meets RunRecord in scoring only; no strategy can reach it.

Undefined and unknown are None, never 0. Durations are seconds of a monotonic clock.
"""

from arena.text import ends_in_reasoning as ends_in_reasoning
from arena.text import holds_reasoning as holds_reasoning
from arena.text import well_formed as well_formed
from arena.text import without_reasoning as without_reasoning
from arena.types.data import KINDS as KINDS
from arena.types.data import AnswerStyle as AnswerStyle
from arena.types.data import Claim as Claim
from arena.types.data import Dataset as Dataset
from arena.types.data import Document as Document
from arena.types.data import Gold as Gold
from arena.types.data import GoldSentence as GoldSentence
from arena.types.data import Kind as Kind
from arena.types.data import Passage as Passage
from arena.types.data import Question as Question
from arena.types.data import Scalar as Scalar
from arena.types.data import Task as Task
from arena.types.data import grouped as grouped
from arena.types.evidence import FOREIGN_MODES as FOREIGN_MODES
from arena.types.evidence import GOLD_MODE as GOLD_MODE
from arena.types.evidence import IMPORTED_MODE as IMPORTED_MODE
from arena.types.evidence import LIVE_MODE as LIVE_MODE
from arena.types.evidence import NO_RETRIEVAL_MODE as NO_RETRIEVAL_MODE
from arena.types.evidence import OWN_MODE as OWN_MODE
from arena.types.evidence import UNMAPPED as UNMAPPED
from arena.types.evidence import Hit as Hit
from arena.types.evidence import LaneHit as LaneHit
from arena.types.evidence import Retrieval as Retrieval
from arena.types.evidence import RetrievalRequest as RetrievalRequest
from arena.types.evidence import RetrievalSeconds as RetrievalSeconds
from arena.types.evidence import ShownDocument as ShownDocument
from arena.types.run import ALL_CALLS as ALL_CALLS
from arena.types.run import FIT as FIT
from arena.types.run import MOST_COUNTED as MOST_COUNTED
from arena.types.run import UNSTATED as UNSTATED
from arena.types.run import Answer as Answer
from arena.types.run import Attempt as Attempt
from arena.types.run import CallAttempt as CallAttempt
from arena.types.run import Cell as Cell
from arena.types.run import Count as Count
from arena.types.run import Decision as Decision
from arena.types.run import Failure as Failure
from arena.types.run import JudgeMetric as JudgeMetric
from arena.types.run import LLMCall as LLMCall
from arena.types.run import Outcome as Outcome
from arena.types.run import PaidAttempt as PaidAttempt
from arena.types.run import Partial as Partial
from arena.types.run import Purpose as Purpose
from arena.types.run import RunRecord as RunRecord
from arena.types.run import Score as Score
from arena.types.run import Stage as Stage
from arena.types.run import Tier as Tier
from arena.types.run import Verdict as Verdict
from arena.types.run import VerdictPart as VerdictPart
from arena.types.run import cut_before_speaking as cut_before_speaking
from arena.types.run import known_count as known_count
from arena.types.run import sum_known as sum_known
from arena.types.run import was_cut as was_cut
