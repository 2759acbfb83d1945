from __future__ import annotations

from arena.config import RunConfig
from experiments.execution.manifest import git_state, library_versions, machine, prices_of, with_warnings

STARTED = "2026-11-30T00:00:00+00:00"


def test_warnings_are_kept_once_each_in_order() -> None:
    once = with_warnings({"status": "running"}, ["b", "a", "b"])
    assert once == {"status": "running", "warnings": ["b", "a"]}
    assert with_warnings(once, ["c", "a"])["warnings"] == ["b", "a", "c"]


def test_the_fingerprint_of_prices_follows_the_users_own_and_the_day() -> None:
    own = RunConfig.model_validate({"prices": {"openai:m": {"input_usd_per_million": 1, "output_usd_per_million": 2}}})
    fingerprints = {
        prices_of(RunConfig(), STARTED)["prices_fingerprint"],
        prices_of(own, STARTED)["prices_fingerprint"],
        prices_of(RunConfig(), "2026-12-01T00:00:00+00:00")["prices_fingerprint"],
    }
    assert len(fingerprints) == 3
    assert prices_of(own, STARTED)["prices"]["own"] == ["openai:m"]


def test_the_machine_and_its_versions_are_known_here() -> None:
    here = machine()
    assert here["cores"] >= here["cores_usable"] >= 1
    assert here["memory_bytes"] > 10**8
    assert here["processor"]
    versions = library_versions()
    assert next(iter(versions)) == "rag-strategy-arena"
    assert versions["pydantic"]
    assert {"ragas", "scipy", "mlflow"} <= versions.keys()


def test_a_checkout_has_a_commit_and_says_whether_it_was_changed() -> None:
    state = git_state()
    assert state is None or (len(state["commit"]) == 40 and isinstance(state["dirty"], bool))
