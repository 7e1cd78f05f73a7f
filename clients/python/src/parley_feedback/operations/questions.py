"""Questions and their results."""

from collections.abc import Sequence
from datetime import date
from typing import Literal

from typing_extensions import Unpack

from ..calls import Call, delete, get, get_page, patch, path, post
from ..operation import D_co, Resource, listing, operation
from ..pages import Page
from ..types import (
    NewQuestion,
    Question,
    QuestionListItem,
    QuestionPatch,
    QuestionStatus,
    QuestionTemplates,
    QuestionType,
    QuestionVersion,
    Reach,
    ReachRequest,
    Results,
)

_ALL = "/v1/questions"
_ONE = "/v1/questions/{id}"


def _act(action: str, id: str, idempotency_key: str | None, if_match: str | None) -> Call[Question]:
    return post(f"{path(_ONE, id=id)}/{action}", None, idempotency_key, if_match)


class Questions(Resource[D_co]):
    """Questions. Scopes: `questions:read`, `questions:write`."""

    @listing("listQuestions")
    def list(
        self,
        *,
        status: QuestionStatus | Sequence[QuestionStatus] | None = None,
        type: QuestionType | Sequence[QuestionType] | None = None,
        q: str | None = None,
        include: Literal["results"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Call[Page[QuestionListItem]]:
        """Lists the questions, newest first.

        Args:
            status: Questions in this state.
            type: Questions of this type.
            q: Part of the name or the title.
            include: `results`: include the results of each question.
            limit: Page size, 1 to 100; defaults to 10.
            cursor: The `next_cursor` of the previous page.
        """
        return get_page(
            _ALL, {"status": status, "type": type, "q": q, "include": include, "limit": limit, "cursor": cursor}
        )

    @operation("createQuestion")
    def create(self, *, idempotency_key: str | None = None, **question: Unpack[NewQuestion]) -> Call[Question]:
        """Creates a question as a draft: `type`, `title`, `description`, `config`, `frequency` and more."""
        return post(_ALL, question, idempotency_key)

    @operation("readQuestion")
    def read(self, id: str) -> Call[Question]:
        """Returns a question."""
        return get(path(_ONE, id=id))

    @operation("patchQuestion")
    def update(self, id: str, *, if_match: str | None = None, **changes: Unpack[QuestionPatch]) -> Call[Question]:
        """Updates a question: a draft in place, a live one by creating an immutable version."""
        return patch(path(_ONE, id=id), changes, if_match=if_match)

    @operation("deleteQuestion")
    def delete(self, id: str, *, if_match: str | None = None) -> Call[None]:
        """Deletes a draft."""
        return delete(path(_ONE, id=id), if_match)

    @operation("cloneQuestion")
    def clone(self, id: str, *, idempotency_key: str | None = None) -> Call[Question]:
        """Copies a question into a new draft."""
        return _act("clone", id, idempotency_key, None)

    @listing("listQuestionVersions")
    def list_versions(
        self, id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> Call[Page[QuestionVersion]]:
        """Lists the immutable versions of a question, newest first, each with its changes.

        Args:
            id: `question_…`.
            limit: Page size, 1 to 100; defaults to 10.
            cursor: The `next_cursor` of the previous page.
        """
        return get_page(f"{path(_ONE, id=id)}/versions", {"limit": limit, "cursor": cursor})

    @operation("publishQuestion")
    def publish(self, id: str, *, if_match: str | None = None, idempotency_key: str | None = None) -> Call[Question]:
        """Publishes a draft."""
        return _act("publish", id, idempotency_key, if_match)

    @operation("pauseQuestion")
    def pause(self, id: str, *, if_match: str | None = None, idempotency_key: str | None = None) -> Call[Question]:
        """Pauses a live question: it is no longer shown."""
        return _act("pause", id, idempotency_key, if_match)

    @operation("resumeQuestion")
    def resume(self, id: str, *, if_match: str | None = None, idempotency_key: str | None = None) -> Call[Question]:
        """Resumes a paused question."""
        return _act("resume", id, idempotency_key, if_match)

    @operation("closeQuestion")
    def close(self, id: str, *, if_match: str | None = None, idempotency_key: str | None = None) -> Call[Question]:
        """Closes a question: answers are accepted for 7 more days."""
        return _act("close", id, idempotency_key, if_match)

    @operation("archiveQuestion")
    def archive(self, id: str, *, if_match: str | None = None, idempotency_key: str | None = None) -> Call[Question]:
        """Archives a closed question."""
        return _act("archive", id, idempotency_key, if_match)

    @operation("readQuestionTemplates")
    def read_templates(self, *, locale: str | None = None) -> Call[QuestionTemplates]:
        """Returns common questions to start from. Pass `question` of a template to `create`.

        Args:
            locale: Language of the texts: German for `de`, otherwise English.
        """
        return get("/v1/question-templates", {"locale": locale})

    @operation("readResults")
    def read_results(
        self,
        id: str,
        *,
        from_: date | str | None = None,
        to: date | str | None = None,
        group_by: Literal["day", "week", "month"] | None = None,
        step: str | None = None,
        version: int | None = None,
        verified: bool | None = None,
        test: bool | None = None,
    ) -> Call[Results]:
        """Returns the results of a question.

        Args:
            id: `question_…`.
            from_: First day (UTC), by the time answers were first received.
            to: Last day, inclusive.
            group_by: Buckets over time: day, week (from Monday) or month.
            step: Key of the step whose figures are returned; the question itself by default.
            version: Only answers to this version of the question.
            verified: Only answers of verified (True) or unverified (False) identities.
            test: If `True`, only the answers given with test tokens in the last 24 hours.
        """
        query = {
            "from": from_,
            "to": to,
            "group_by": group_by,
            "step": step,
            "version": version,
            "verified": verified,
            "test": test,
        }
        return get(f"{path(_ONE, id=id)}/results", query)

    @operation("estimateReach")
    def estimate_reach(
        self, id: str, *, idempotency_key: str | None = None, **rules: Unpack[ReachRequest]
    ) -> Call[Reach]:
        """Returns how many of the last 5,000 people who were shown a card the question would reach now.

        Args:
            id: `question_…`.
            idempotency_key: Replaces the generated key.
            **rules: `audience` and `sampling_percent` to evaluate instead of those of the question.
        """
        return post(f"{path(_ONE, id=id)}/reach", rules, idempotency_key)
