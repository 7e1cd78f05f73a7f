"""Answers: the records of card views."""

from collections.abc import Sequence
from datetime import date, datetime

from typing_extensions import Unpack

from ..batches import in_parts
from ..calls import Call, delete, get, get_page, patch, path, post_identified
from ..operation import D_co, Resource, listing, operation
from ..pages import Page
from ..types import Answer, AnswerPatch, AnswerState, NewAnswer, NewAnswers, Receipts

_ONE = "/v1/answers/{id}"


class Answers(Resource[D_co]):
    """Answers of users. Scopes: `answers:read`, `answers:write`."""

    @operation("recordAnswers")
    def record(self, answers: Sequence[NewAnswer], *, client_time: str | None = None) -> Call[Receipts]:
        """Records answers, 1 to 100 at a time and at most 256 KB; each names its `identity`.

        `accepted` answers are durable and stored exactly once, even if sent repeatedly. Invalid items are `rejected`
        individually; the others are not affected. If something on the way, such as a firewall, refuses them, they are
        sent in smaller requests; one that is refused in a request of its own is `rejected` with `refused`: send it
        again later.

        Args:
            answers: The answers, each with a client-generated `id`: a repeated id stores one answer.
            client_time: The sender's clock, used to correct the times in the answers.
        """
        body: NewAnswers = {"answers": list(answers)}
        if client_time is not None:
            body["client_time"] = client_time
        return post_identified("/v1/answers", body, in_parts if len(body["answers"]) > 1 else None)

    @listing("listAnswers")
    def list(
        self,
        *,
        question_id: str | None = None,
        state: AnswerState | Sequence[AnswerState] | None = None,
        identity: str | None = None,
        verified: bool | None = None,
        version: int | None = None,
        step: str | None = None,
        value: str | None = None,
        counted: bool | None = None,
        from_: date | str | None = None,
        to: date | str | None = None,
        tag: str | None = None,
        written: bool | None = None,
        q: str | None = None,
        updated_since: datetime | str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Call[Page[Answer]]:
        """Lists answers, latest received first; with `updated_since` in order of their last change.

        Args:
            question_id: Answers to this question.
            state: Answers in this state.
            identity: Answers of this user.
            verified: Answers of verified (True) or unverified (False) identities.
            version: Answers to this version of the question.
            step: Key of the step that `value` is about, by default `main`; without `value`: answers that have it.
            value: Answers with this value, as the results name it: a score, `true`, an option's id, or `other`.
            counted: Answers that are (True) or are not (False) counted in the results.
            from_: First day (UTC) of the first receipt.
            to: Last day (UTC), inclusive.
            tag: Answers with this tag.
            written: If `True`, only answers with a comment or text.
            q: Search words in comments and texts; all must match, in any order and case.
            updated_since: For incremental reads; late commits are not missed.
            limit: Page size, 1 to 100; defaults to 10.
            cursor: The `next_cursor` of the previous page.
        """
        return get_page(
            "/v1/answers",
            {
                "question_id": question_id,
                "state": state,
                "identity": identity,
                "verified": verified,
                "version": version,
                "step": step,
                "value": value,
                "counted": counted,
                "from": from_,
                "to": to,
                "tag": tag,
                "written": written,
                "q": q,
                "updated_since": updated_since,
                "limit": limit,
                "cursor": cursor,
            },
        )

    @operation("readAnswer")
    def read(self, id: str) -> Call[Answer]:
        """Returns an answer; `not-found` until it is stored."""
        return get(path(_ONE, id=id))

    @operation("patchAnswer")
    def update(self, id: str, *, if_match: str | None = None, **changes: Unpack[AnswerPatch]) -> Call[Answer]:
        """Sets the `tags` of an answer."""
        return patch(path(_ONE, id=id), changes, if_match=if_match)

    @operation("deleteAnswer")
    def delete(self, id: str, *, if_match: str | None = None) -> Call[None]:
        """Deletes an answer. Its id cannot be reused."""
        return delete(path(_ONE, id=id), if_match)
