"""Sharing a whole number out by weights."""

from __future__ import annotations

from collections.abc import Mapping


def apportion(total: int, weights: Mapping[str, int], at_least: int = 0) -> dict[str, int]:
    """Shares that add up to `total` by the largest-remainder method; ties go to the earlier key.

    `at_least`: what every share is raised to, at the cost of the largest, while the total allows it.
    """
    whole = sum(weights.values())
    shares = {key: total * weight // whole for key, weight in weights.items()}
    by_remainder = sorted(weights, key=lambda key: -(total * weights[key] % whole))
    for key in by_remainder[: total - sum(shares.values())]:
        shares[key] += 1
    if total >= at_least * len(shares):
        while (least := min(shares, key=lambda key: shares[key])) and shares[least] < at_least:
            shares[least] += 1
            shares[max(shares, key=lambda key: shares[key])] -= 1
    return shares
