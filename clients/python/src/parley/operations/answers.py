"""Answers: the records of card views."""

from datetime import datetime

from ..calls import Call, delete, get, get_page, patch, path, post_identified
from ..operation import Listing, Operation
from ..pages import Page
from ..types import Answer, AnswerPatch, AnswerState, NewAnswers, Receipts

_ONE = "/v1/answers/{id}"


class Answers:
    """What users answered. Scopes: `answers:read`, `answers:write`."""

    @Operation
    def record_answers(self, body: NewAnswers) -> Call[Receipts]:
        """Records answers, 1 to 100 at a time and at most 256 KB; each names its `identity`.

        What is `accepted` is on disk and will be stored exactly once, however often it is sent. A fault inside an item
        makes that item `rejected` and leaves the others alone.
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
        """Lists the answers, newest received first; with `updated_since` in the order of their last change.

        Args:
            question_id: Answers to this question.
            state: Answers in this state.
            identity: Answers of this user.
            verified: Answers of proven identities, or of claimed ones.
            version: Answers to this version of the question.
            tag: Answers with this label.
            written: With `True` those where the user wrote something, a comment or a text.
            q: Parts of what the user wrote; all of them, in any order and case.
            updated_since: For incremental reads, which skip no write that commits late.
            limit: The size of a page, 1 to 100; 10 unless given.
            cursor: The `next_cursor` of a page, to begin behind it.
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
        """Gives an answer once it is stored; `not-found` before."""
        return get(path(_ONE, id=id))

    @Operation
    def patch_answer(self, id: str, body: AnswerPatch, *, if_match: str | None = None) -> Call[Answer]:
        """Puts labels on an answer."""
        return patch(path(_ONE, id=id), body, if_match=if_match)

    @Operation
    def delete_answer(self, id: str, *, if_match: str | None = None) -> Call[None]:
        """Deletes an answer; its id stays taken."""
        return delete(path(_ONE, id=id), if_match)
