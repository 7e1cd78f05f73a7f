"""Messages of a conversation."""

from typing_extensions import Unpack

from ..calls import Call, delete, get, get_page, patch, path, post
from ..operation import D_co, Resource, listing, operation
from ..pages import Page
from ..types import Message, MessageOrder, MessagePatch, NewMessage

_ALL = "/v1/conversations/{id}/messages"
_ONE = "/v1/conversations/{id}/messages/{message_id}"


class Messages(Resource[D_co]):
    """Messages of a conversation. Scopes: `conversations:read`, `conversations:write`."""

    @listing("listMessages")
    def list(
        self,
        id: str,
        *,
        after_seq: int | None = None,
        after_note_seq: int | None = None,
        order: MessageOrder | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Call[Page[Message]]:
        """Lists the messages of a conversation, including notes and events.

        Args:
            id: `conversation_…`.
            after_seq: Only messages after the reply with this sequence number.
            after_note_seq: With `after_seq`: only notes and events after this one.
            order: `desc` for the newest first; defaults to `asc`.
            limit: Page size, 1 to 100; defaults to 10.
            cursor: The `next_cursor` of the previous page.
        """
        query = {
            "after_seq": after_seq,
            "after_note_seq": after_note_seq,
            "order": order,
            "limit": limit,
            "cursor": cursor,
        }
        return get_page(path(_ALL, id=id), query)

    @operation("createMessage")
    def create(self, id: str, *, idempotency_key: str | None = None, **message: Unpack[NewMessage]) -> Call[Message]:
        """Sends a reply to a conversation or, with `kind="note"`, adds a note that the user cannot see.

        A repeated `client_message_id` returns the first message. With `after`, the error `conversation-moved` says that
        somebody has written since; `force` writes anyway.
        """
        return post(path(_ALL, id=id), message, idempotency_key)

    @operation("readMessage")
    def read(self, id: str, message_id: str) -> Call[Message]:
        """Returns a message of the conversation `id`, also a note or an event."""
        return get(path(_ONE, id=id, message_id=message_id))

    @operation("patchMessage")
    def update(
        self, id: str, message_id: str, *, if_match: str | None = None, **changes: Unpack[MessagePatch]
    ) -> Call[Message]:
        """Edits an own message of the conversation `id` within 15 minutes."""
        return patch(path(_ONE, id=id, message_id=message_id), changes, if_match=if_match)

    @operation("redactMessage")
    def redact(self, id: str, message_id: str, *, if_match: str | None = None) -> Call[None]:
        """Removes the text of an own message; an empty message remains."""
        return delete(path(_ONE, id=id, message_id=message_id), if_match)
