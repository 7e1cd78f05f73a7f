"""Retry policies."""

from dataclasses import dataclass
from math import floor


@dataclass(frozen=True)
class RetryPolicy:
    """Retry policy with exponential backoff.

    Attributes:
        retries: Maximum number of retries; None for no limit other than the call's `timeout_s`.
        base_ms: Initial delay; doubles with each retry.
        cap_ms: Maximum delay between attempts, unless `Retry-After` is longer.
        longest_retry_after_ms: Maximum honored `Retry-After`. A longer one ends the attempts or, without a retry limit,
            is capped.
    """

    retries: int | None = 3
    base_ms: int = 500
    cap_ms: int = 8000
    longest_retry_after_ms: int = 30_000


REQUEST_POLICY = RetryPolicy()
"""Policy of interactive calls: four attempts within seconds."""


def delay_before(policy: RetryPolicy, retry: int, random: float, retry_after_ms: int | None) -> int | None:
    """Returns the delay in milliseconds before a retry (counted from 1), with full jitter; None to give up."""
    if policy.retries is not None and retry > policy.retries:
        return None
    if retry_after_ms is None:
        grown: int = policy.base_ms * 2 ** (retry - 1)
        return floor(random * min(policy.cap_ms, grown))
    if policy.retries is not None and retry_after_ms > policy.longest_retry_after_ms:
        return None
    return min(retry_after_ms, policy.longest_retry_after_ms) + floor(random * policy.base_ms)
