"""Conversations between a user and the team."""

from collections.abc import Sequence
from datetime import datetime

from typing_extensions import Unpack

from ..calls import Call, delete, get, get_page, patch, path, post, put_mark
from ..operation import D_co, Resource, listing, operation
from ..pages import Page
from ..types import (
    AppliedMacro,
    BulkResults,
    BulkUpdate,
    Conversation,
    ConversationMerge,
    ConversationPatch,
    ConversationSort,
    ConversationSource,
    ConversationStatus,
    MacroApplication,
    NewConversation,
    Priority,
)

_ALL = "/v1/conversations"
_ONE = "/v1/conversations/{id}"


class Conversations(Resource[D_co]):
    """Conversations with users. Scopes: `conversations:read`, `conversations:write`."""

    @listing("listConversations")
    def list(
        self,
        *,
        status: ConversationStatus | Sequence[ConversationStatus] | None = None,
        unread: bool | None = None,
        updated_since: datetime | str | None = None,
        deleted: bool | None = None,
        identity: str | None = None,
        verified: bool | None = None,
        assignee: str | None = None,
        tag: str | None = None,
        priority: Priority | Sequence[Priority] | None = None,
        source: ConversationSource | Sequence[ConversationSource] | None = None,
        overdue: bool | None = None,
        q: str | None = None,
        sort: ConversationSort | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Call[Page[Conversation]]:
        """Lists the tenant's conversations, latest activity first; with `updated_since` in order of change.

        Args:
            status: Conversations in this state.
            unread: Whether the team has unread messages.
            updated_since: For incremental reads; late commits are not missed.
            deleted: Whether pages also have the deleted conversations; only with `updated_since`.
            identity: Conversations with this user.
            verified: With verified (True) or unverified (False) identities.
            assignee: `member_…`, or `none` for unassigned conversations.
            tag: Conversations with this tag.
            priority: Conversations of this priority.
            source: Who started the conversation.
            overdue: Whether the reply is overdue by the tenant's reply targets.
            q: Search words in subject, messages and notes; all must match, in any order and case.
            sort: Sort order; `-` is descending.
            limit: Page size, 1 to 100; defaults to 10.
            cursor: The `next_cursor` of the previous page.
        """
        return get_page(
            _ALL,
            {
                "status": status,
                "unread": unread,
                "updated_since": updated_since,
                "deleted": deleted,
                "identity": identity,
                "verified": verified,
                "assignee": assignee,
                "tag": tag,
                "priority": priority,
                "source": source,
                "overdue": overdue,
                "q": q,
                "sort": sort,
                "limit": limit,
                "cursor": cursor,
            },
        )

    @operation("createConversation")
    def create(
        self, *, idempotency_key: str | None = None, **conversation: Unpack[NewConversation]
    ) -> Call[Conversation]:
        """Starts a conversation with the user that `identity` names: `identity`, `message`, `subject`.

        A repeated `client_message_id` returns the first conversation.
        """
        return post(_ALL, conversation, idempotency_key)

    @operation("readConversation")
    def read(self, id: str) -> Call[Conversation]:
        """Returns a conversation."""
        return get(path(_ONE, id=id))

    @operation("patchConversation")
    def update(
        self, id: str, *, if_match: str | None = None, **changes: Unpack[ConversationPatch]
    ) -> Call[Conversation]:
        """Changes `status`, `assignee_id`, tags, `priority`, `subject` or `custom` fields.

        The status `snoozed` needs `snoozed_until`. Setting the current status raises `conflict`, and so does a value in
        `was` that has changed meanwhile.
        """
        return patch(path(_ONE, id=id), changes, if_match=if_match)

    @operation("deleteConversation")
    def delete(self, id: str, *, if_match: str | None = None) -> Call[None]:
        """Deletes a conversation with its messages."""
        return delete(path(_ONE, id=id), if_match)

    @operation("updateConversations")
    def update_many(self, *, idempotency_key: str | None = None, **update: Unpack[BulkUpdate]) -> Call[BulkResults]:
        """Makes one `change` of up to 100 conversations (`ids`). Each has its own result, in order."""
        return post(f"{_ALL}/bulk", update, idempotency_key)

    @operation("mergeConversation")
    def merge(
        self,
        id: str,
        *,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **merge: Unpack[ConversationMerge],
    ) -> Call[Conversation]:
        """Resolves a conversation; later messages are written to `into`, a conversation of the same user."""
        return post(f"{path(_ONE, id=id)}/merge", merge, idempotency_key, if_match)

    @operation("applyMacro")
    def apply_macro(
        self, id: str, macro_id: str, *, idempotency_key: str | None = None, **application: Unpack[MacroApplication]
    ) -> Call[AppliedMacro]:
        """Writes the text of a macro and makes its changes.

        With `after`, a macro with a text does nothing if somebody has written since: the error is `conversation-moved`,
        and `force` applies it anyway.
        """
        return post(path(f"{_ONE}/macros/{{macro_id}}", id=id, macro_id=macro_id), application or None, idempotency_key)

    @operation("markConversationRead")
    def mark_read(self, id: str, *, seq: int) -> Call[None]:
        """Marks messages up to `seq` as read by the team; never moves back."""
        return put_mark(f"{path(_ONE, id=id)}/read", {"seq": seq})
