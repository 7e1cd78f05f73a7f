"""Answers: the records of card views."""

from datetime import datetime

from ..calls import Call, delete, get, get_page, patch, path, post_identified
from ..operation import Listing, Operation
from ..pages import Page
from ..types import Answer, AnswerPatch, AnswerState, NewAnswers, Receipts

_ONE = "/v1/answers/{id}"


class Answers:
    """Answers of users. Scopes: `answers:read`, `answers:write`."""

    @Operation
    def record_answers(self, body: NewAnswers) -> Call[Receipts]:
        """Records answers, 1 to 100 at a time and at most 256 KB; each names its `identity`.

        `accepted` answers are durable and stored exactly once, even if sent repeatedly. Invalid items are `rejected`
        individually; the others are not affected.
        """
        return post_identified("/v1/answers", body)

    @Listing
    def list_answers(
        self,
        *,
        question_id: str | None = None,
        state: AnswerState | None = None,
        identity: str | None = None,
        verified: bool | None = None,
        version: int | None = None,
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
                "tag": tag,
                "written": written,
                "q": q,
                "updated_since": updated_since,
                "limit": limit,
                "cursor": cursor,
            },
        )

    @Operation
    def read_answer(self, id: str) -> Call[Answer]:
        """Returns an answer; `not-found` until it is stored."""
        return get(path(_ONE, id=id))

    @Operation
    def patch_answer(self, id: str, body: AnswerPatch, *, if_match: str | None = None) -> Call[Answer]:
        """Sets the tags of an answer."""
        return patch(path(_ONE, id=id), body, if_match=if_match)

    @Operation
    def delete_answer(self, id: str, *, if_match: str | None = None) -> Call[None]:
        """Deletes an answer. Its id cannot be reused."""
        return delete(path(_ONE, id=id), if_match)
