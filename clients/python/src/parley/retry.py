"""What is tried again, and when."""

from dataclasses import dataclass
from math import floor


@dataclass(frozen=True)
class RetryPolicy:
    """How often and after how long something is tried again.

    Attributes:
        retries: How many times at most after the first; None: without an end.
        base_ms: What the waiting begins with; it doubles each time.
        cap_ms: The longest that is waited between two attempts, unless the server says otherwise.
        longest_retry_after_ms: The longest `Retry-After` that is waited for; a longer one ends the attempts, or is cut
            where they have no end.
    """

    retries: int | None = 3
    base_ms: int = 500
    cap_ms: int = 8000
    longest_retry_after_ms: int = 30_000


REQUEST_POLICY = RetryPolicy()
"""A call that somebody waits for: four attempts within seconds."""


def delay_before(policy: RetryPolicy, retry: int, random: float, retry_after_ms: int | None) -> int | None:
    """Gives the milliseconds before a retry (the first is 1), with full jitter; None: it is given up."""
    if policy.retries is not None and retry > policy.retries:
        return None
    if retry_after_ms is None:
        grown: int = policy.base_ms * 2 ** (retry - 1)
        return floor(random * min(policy.cap_ms, grown))
    if policy.retries is not None and retry_after_ms > policy.longest_retry_after_ms:
        return None
    return min(retry_after_ms, policy.longest_retry_after_ms) + floor(random * policy.base_ms)
