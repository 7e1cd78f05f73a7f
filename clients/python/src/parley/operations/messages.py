"""Messages of a conversation."""

from ..calls import Call, delete, get_page, patch, path, post, put_mark
from ..operation import Listing, Operation
from ..pages import Page
from ..types import Message, MessagePatch, NewMessage, ReadHorizon

_ALL = "/v1/conversations/{id}/messages"
_ONE = "/v1/conversations/{id}/messages/{message_id}"


class Messages:
    """What is in a conversation. Scopes: `conversations:read`, `conversations:write`."""

    @Listing
    def list_messages(
        self, id: str, *, after_seq: int | None = None, limit: int | None = None, cursor: str | None = None
    ) -> Call[Page[Message]]:
        """Lists the messages of a conversation with the team's notes and events, oldest first.

        Args:
            id: `conversation_…`.
            after_seq: Only what follows the reply of this number.
            limit: The size of a page, 1 to 100; 10 unless given.
            cursor: The `next_cursor` of a page, to begin behind it.
        """
        return get_page(path(_ALL, id=id), {"after_seq": after_seq, "limit": limit, "cursor": cursor})

    @Operation
    def create_message(self, id: str, body: NewMessage, *, idempotency_key: str | None = None) -> Call[Message]:
        """Writes a reply of the team, or with `{"kind": "note"}` a note that the user never sees.

        The same `client_message_id` again gives the first message.
        """
        return post(path(_ALL, id=id), body, idempotency_key)

    @Operation
    def patch_message(self, id: str, message_id: str, body: MessagePatch) -> Call[Message]:
        """Changes a message of one's own, for 15 minutes."""
        return patch(path(_ONE, id=id, message_id=message_id), body)

    @Operation
    def redact_message(self, id: str, message_id: str) -> Call[None]:
        """Takes back the text of a message of one's own; its place stays."""
        return delete(path(_ONE, id=id, message_id=message_id))

    @Operation
    def mark_conversation_read(self, id: str, body: ReadHorizon) -> Call[None]:
        """Says that the team has read everything up to `seq`; that never moves back."""
        return put_mark(path("/v1/conversations/{id}/read", id=id), body)
