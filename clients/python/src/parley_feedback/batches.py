"""Answers that something on the way, such as a firewall, refuses: the others are sent without them."""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from .errors import ParleyError
from .replies import Reply

if TYPE_CHECKING:
    from .calls import Call
    from .types import NewAnswer, NewAnswers, Receipt

_TOO_LARGE = 413
_REFUSING = {400, 403, 406, _TOO_LARGE, 415, 422}

Parts = Generator["Call[Any]", "Reply[Any] | ParleyError", "Reply[Any]"]
"""Yields the requests of a call, receives the outcome of each, and returns the whole result."""


def in_parts(call: Call[Any]) -> Parts:
    """Halves a request down to the answers that are refused. Raises the refusal if no answer was sent."""
    body = cast("NewAnswers", call.body)
    answers = body["answers"]
    results: list[Receipt] = []
    refusal: ParleyError | None = None
    reply: Reply[Any] | None = None
    size = len(answers)
    done = 0  # not the number of results: a reply may have fewer
    while True:
        part = answers[done : done + size]
        outcome = yield replace(call, body={**body, "answers": part}, parts=None)
        if isinstance(outcome, Reply):
            reply = outcome
            results += outcome.data["results"]
            done += len(part)
            size *= 2
        elif not _is_about_content(outcome):
            raise outcome
        elif len(part) > 1:
            size = len(part) // 2
        else:
            refusal = refusal or outcome
            done += 1
            results.append(_refused(part[0], outcome))
        if done < len(answers):
            continue
        if reply is None:
            raise cast("ParleyError", refusal)
        return replace(reply, data={**reply.data, "results": results})


def _is_about_content(error: ParleyError) -> bool:
    """Whether fewer answers may pass. Parley itself reports a fault of an answer by its receipt."""
    is_page = 200 <= error.status < 300  # a success that is not of Parley
    return error.status == _TOO_LARGE or (not _is_of_parley(error) and (error.status in _REFUSING or is_page))


def _is_of_parley(error: ParleyError) -> bool:
    return re.fullmatch(r"[a-z-]+", error.code or "") is not None


def _refused(answer: NewAnswer, error: ParleyError) -> Receipt:
    code = cast("str", error.code) if _is_of_parley(error) else "refused"
    return {
        "id": answer["id"],
        "revision": answer["revision"],
        "status": "rejected",
        "code": code,
        "detail": str(error),
    }
