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
    """What users and the team write to each other. Scopes: `conversations:read`, `conversations:write`."""

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
        """Lists the tenant's conversations, newest activity first; with `updated_since` in the order of change.

        Args:
            status: Conversations in this state.
            unread: Whether something of the user is unread.
            updated_since: For incremental reads, which skip no write that commits late.
            identity: Conversations with this user.
            verified: With proven identities, or with claimed ones.
            assignee: `member_…`, or `none`: nobody has it.
            tag: Conversations with this label.
            priority: Conversations of this priority.
            source: Who began.
            q: Words of the subject, of a message or a note; all of them, in any order and case.
            sort: Another order; `-` is newest first.
            limit: The size of a page, 1 to 100; 10 unless given.
            cursor: The `next_cursor` of a page, to begin behind it.
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

        The same `client_message_id` again gives the first conversation.
        """
        return post(_ALL, body, idempotency_key)

    @Operation
    def read_conversation(self, id: str) -> Call[Conversation]:
        """Gives a conversation."""
        return get(path(_ONE, id=id))

    @Operation
    def patch_conversation(
        self, id: str, body: ConversationPatch, *, if_match: str | None = None
    ) -> Call[Conversation]:
        """Changes status, assignee, labels, priority or subject. The state it is in: `conflict`."""
        return patch(path(_ONE, id=id), body, if_match=if_match)

    @Operation
    def delete_conversation(self, id: str, *, if_match: str | None = None) -> Call[None]:
        """Deletes a conversation with its messages."""
        return delete(path(_ONE, id=id), if_match)
