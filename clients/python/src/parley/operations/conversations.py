"""Conversations between a user and the team."""

from datetime import datetime

from ..calls import Call, delete, get, get_page, patch, path, post
from ..operation import Listing, Operation
from ..pages import Page
from ..types import (
    Conversation,
    ConversationPatch,
    ConversationSort,
    ConversationSource,
    ConversationStatus,
    NewConversation,
    Priority,
)

_ALL = "/v1/conversations"
_ONE = "/v1/conversations/{id}"


class Conversations:
    """Conversations with users. Scopes: `conversations:read`, `conversations:write`."""

    @Listing
    def list_conversations(
        self,
        *,
        status: ConversationStatus | None = None,
        unread: bool | None = None,
        updated_since: datetime | str | None = None,
        identity: str | None = None,
        verified: bool | None = None,
        assignee: str | None = None,
        tag: str | None = None,
        priority: Priority | None = None,
        source: ConversationSource | None = None,
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
            identity: Conversations with this user.
            verified: With verified (True) or unverified (False) identities.
            assignee: `member_…`, or `none` for unassigned conversations.
            tag: Conversations with this tag.
            priority: Conversations of this priority.
            source: Who started the conversation.
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
                "identity": identity,
                "verified": verified,
                "assignee": assignee,
                "tag": tag,
                "priority": priority,
                "source": source,
                "q": q,
                "sort": sort,
                "limit": limit,
                "cursor": cursor,
            },
        )

    @Operation
    def create_conversation(self, body: NewConversation, *, idempotency_key: str | None = None) -> Call[Conversation]:
        """Starts a conversation with the user that `identity` names.

        A repeated `client_message_id` returns the first conversation.
        """
        return post(_ALL, body, idempotency_key)

    @Operation
    def read_conversation(self, id: str) -> Call[Conversation]:
        """Returns a conversation."""
        return get(path(_ONE, id=id))

    @Operation
    def patch_conversation(
        self, id: str, body: ConversationPatch, *, if_match: str | None = None
    ) -> Call[Conversation]:
        """Changes status, assignee, tags, priority or subject. Setting the current status raises `conflict`."""
        return patch(path(_ONE, id=id), body, if_match=if_match)

    @Operation
    def delete_conversation(self, id: str, *, if_match: str | None = None) -> Call[None]:
        """Deletes a conversation with its messages."""
        return delete(path(_ONE, id=id), if_match)
