"""What a run is asked to do: frozen settings, their identity, and the only readings of the environment.

A config file is YAML with the same keys as `RunConfig`. Unknown keys are refused with the nearest known
one. `RunConfig.fingerprint_fields` lists what can change a result; where results are written, how many
questions run at once and what is printed cannot, and are left out.
"""

from arena.config.loading import (
    api_key,
    cache_dir,
    cache_folder,
    command_environment,
    load_config,
    merge,
    qdrant_key,
    system_key,
    tracking_uri,
    validate_config,
)
from arena.config.run import RunConfig, fingerprint
from arena.config.settings import (
    BudgetConfig,
    EmbeddingConfig,
    JudgeConfig,
    LLMSettings,
    PriceConfig,
    RerankConfig,
    SampleConfig,
    Settings,
)
from arena.config.systems import SystemConfig

__all__ = [
    "BudgetConfig",
    "EmbeddingConfig",
    "JudgeConfig",
    "LLMSettings",
    "PriceConfig",
    "RerankConfig",
    "RunConfig",
    "SampleConfig",
    "Settings",
    "SystemConfig",
    "api_key",
    "cache_dir",
    "cache_folder",
    "command_environment",
    "fingerprint",
    "load_config",
    "merge",
    "qdrant_key",
    "system_key",
    "tracking_uri",
    "validate_config",
]
