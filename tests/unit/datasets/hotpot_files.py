"""Records in HotpotQA's and 2WikiMultihopQA's own form, invented."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Record = dict[str, Any]


def hotpot_record(**changes: Any) -> Record:
    """A bridge question over four paragraphs, two of which share a title. Sentences bring their spaces along."""
    base: Record = {
        "_id": "5a01",
        "question": "Who founded the place where the Veyra rises?",
        "answer": "Ilse Brandt",
        "type": "bridge",
        "level": "hard",
        "supporting_facts": [["Veyra", 1], ["Tolm", 0]],
        "context": [
            ["Veyra", ["Veyra was a ship."]],
            ["Veyra", ["Veyra is a river.", " It rises in Tolm."]],
            ["Tolm", ["Tolm was founded by Ilse Brandt.", " It lies high."]],
            ["Quarn", ["Quarn is a town of weavers."]],
        ],
    }
    return base | changes


def two_wiki_record(**changes: Any) -> Record:
    """A bridge comparison over four paragraphs. Sentences bring no spaces along."""
    base: Record = {
        "_id": "8f02",
        "type": "bridge_comparison",
        "question": "Are the directors of Asch and Borl from the same town?",
        "answer": "yes",
        "supporting_facts": [["Asch (film)", 0], ["Borl", 0], ["Ina Fell", 1], ["Ulf Marr", 0]],
        "evidences": [["Asch", "director", "Ina Fell"], ["Borl", "director", "Ulf Marr"]],
        "context": [
            ["Asch (film)", ["Asch is a film by Ina Fell.", "It was shot in Tolm."]],
            ["Borl", ["Borl is a film by Ulf Marr."]],
            ["Ina Fell", ["Ina Fell is a director.", "She is from Quarn."]],
            ["Ulf Marr", ["Ulf Marr is from Quarn."]],
        ],
    }
    return base | changes


def write_array(path: Path, *records: Record) -> Path:
    path.write_text(json.dumps(records), encoding="utf-8")
    return path


def write_lines(path: Path, *records: Record) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path
