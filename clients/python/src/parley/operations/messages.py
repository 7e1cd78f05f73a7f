"""Messages of a conversation."""

from ..calls import Call, delete, get_page, patch, path, post, put_mark
from ..operation import Listing, Operation
from ..pages import Page
from ..types import Message, MessagePatch, NewMessage, ReadHorizon

_ALL = "/v1/conversations/{id}/messages"
_ONE = "/v1/conversations/{id}/messages/{message_id}"


class Messages:
    """Messages of a conversation. Scopes: `conversations:read`, `conversations:write`."""

    @Listing
    def list_messages(
        self, id: str, *, after_seq: int | None = None, limit: int | None = None, cursor: str | None = None
    ) -> Call[Page[Message]]:
        """Lists the messages of a conversation, including notes and events, oldest first.

        Args:
            id: `conversation_…`.
            after_seq: Only messages after this sequence number.
            limit: Page size, 1 to 100; defaults to 10.
            cursor: The `next_cursor` of the previous page.
        """
        return get_page(path(_ALL, id=id), {"after_seq": after_seq, "limit": limit, "cursor": cursor})

    @Operation
    def create_message(self, id: str, body: NewMessage, *, idempotency_key: str | None = None) -> Call[Message]:
        """Sends a reply or, with `{"kind": "note"}`, adds a note that the user cannot see.

        A repeated `client_message_id` returns the first message.
        """
        return post(path(_ALL, id=id), body, idempotency_key)

    @Operation
    def patch_message(self, id: str, message_id: str, body: MessagePatch) -> Call[Message]:
        """Edits an own message within 15 minutes."""
        return patch(path(_ONE, id=id, message_id=message_id), body)

    @Operation
    def redact_message(self, id: str, message_id: str) -> Call[None]:
        """Removes the text of an own message; an empty message remains."""
        return delete(path(_ONE, id=id, message_id=message_id))

    @Operation
    def mark_conversation_read(self, id: str, body: ReadHorizon) -> Call[None]:
        """Marks messages up to `seq` as read by the team; never moves back."""
        return put_mark(path("/v1/conversations/{id}/read", id=id), body)
