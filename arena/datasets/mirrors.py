"""Where the files of question sets lie on the hub, and what pins them.

Commits and hashes were published by several projects that use these files and agree with one another; this project
had no network to check them against the hub. A file that does not fit is refused when it is fetched.
"""

from __future__ import annotations

from arena.datasets.hub import HubFile

MUSIQUE = HubFile(
    repository="dgslibisey/MuSiQue",
    path="musique_ans_v1.0_dev.jsonl",
    revision="c8f4f8c9465fb69d31a8eae894c3fd509c4ca321",
    vouched="a mirror; others found its bytes equal to those of the authors' archive musique_data_v1.0.zip",
    sha256="15fa63794d18a94ce12411aca6e2327e65b6e83b0b1490efab3f1962e48abf3b",
    size_bytes=30_439_728,
)
MUSIQUE_QUESTIONS = 2417

HOTPOTQA = HubFile(
    repository="namlh2004/hotpotqa",
    path="hotpot_dev_distractor_v1.json",
    revision="7e54db4656209750ff487f6fdf8e39a66dba136b",
    vouched="a mirror that wrote the authors' records anew: its bytes are not those of the authors' own server",
    sha256="e3da074df24e8369009918aa5cdbdd254dadcde4c63f7569d36afd6f2268caa8",
    size_bytes=61_065_698,
)
HOTPOTQA_QUESTIONS = 7405

TWO_WIKI = HubFile(
    repository="voidful/2WikiMultihopQA",
    path="dev.json",
    revision="16852fde9d85cba158cf7e6517e7a3f9415a28c0",
    vouched="a mirror, pinned by its commit alone: no hash of the file was published",
)
TWO_WIKI_QUESTIONS = 12_576
