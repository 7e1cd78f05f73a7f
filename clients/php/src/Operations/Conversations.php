<?php

declare(strict_types=1);

namespace Parley\Operations;

use Parley\Listing;
use Parley\Path;
use Parley\Shapes;

/**
 * Conversations and their messages. An API key acts as the team.
 *
 * @phpstan-import-type BulkResults from Shapes
 * @phpstan-import-type BulkUpdate from Shapes
 * @phpstan-import-type Conversation from Shapes
 * @phpstan-import-type ConversationPatch from Shapes
 * @phpstan-import-type ConversationQuery from Shapes
 * @phpstan-import-type Message from Shapes
 * @phpstan-import-type MessagePatch from Shapes
 * @phpstan-import-type NewConversation from Shapes
 * @phpstan-import-type NewMessage from Shapes
 */
trait Conversations
{
    /**
     * Lists the tenant's conversations, latest activity first.
     *
     * @param ConversationQuery $query
     * @return Listing<Conversation>
     */
    public function listConversations(array $query = []): Listing
    {
        /** @var Listing<Conversation> */
        return $this->list(__FUNCTION__, '/v1/conversations', $query);
    }

    /**
     * Starts a conversation with a user.
     *
     * @param NewConversation $body
     * @return Conversation
     */
    public function createConversation(array $body, ?string $idempotencyKey = null): array
    {
        /** @var Conversation */
        return $this->post(__FUNCTION__, '/v1/conversations', $body, $idempotencyKey);
    }

    /**
     * @param-out string|null $etag for `ifMatch`
     * @return Conversation
     */
    public function readConversation(string $id, ?string &$etag = null): array
    {
        /** @var Conversation */
        return $this->read(__FUNCTION__, Path::fill('/v1/conversations/{id}', $id), etag: $etag);
    }

    /**
     * Changes status, subject, assignee, tags or priority. Setting the current status is a conflict, and so is a value
     * in `was` that has changed meanwhile. The status `snoozed` needs `snoozed_until`.
     *
     * @param ConversationPatch $body
     * @return Conversation
     */
    public function patchConversation(string $id, array $body, ?string $ifMatch = null): array
    {
        /** @var Conversation */
        return $this->change(__FUNCTION__, 'PATCH', Path::fill('/v1/conversations/{id}', $id), $body, ifMatch: $ifMatch);
    }

    /** Permanently deletes a conversation with its messages. */
    public function deleteConversation(string $id, ?string $ifMatch = null): void
    {
        $this->delete(__FUNCTION__, Path::fill('/v1/conversations/{id}', $id), $ifMatch);
    }

    /**
     * Makes one change of up to 100 conversations. Each has its own result, in order.
     *
     * @param BulkUpdate $body
     * @return BulkResults
     */
    public function updateConversations(array $body, ?string $idempotencyKey = null): array
    {
        /** @var BulkResults */
        return $this->post(__FUNCTION__, '/v1/conversations/bulk', $body, $idempotencyKey);
    }

    /**
     * Resolves a conversation; later messages are written to the other one, of the same user.
     *
     * @param array{into: string} $body
     * @return Conversation
     */
    public function mergeConversation(
        string $id,
        array $body,
        ?string $idempotencyKey = null,
        ?string $ifMatch = null,
    ): array {
        $path = Path::fill('/v1/conversations/{id}/merge', $id);
        /** @var Conversation */
        return $this->post(__FUNCTION__, $path, $body, $idempotencyKey, $ifMatch);
    }

    /**
     * Lists messages, including notes and events, oldest first; with `order: desc` newest first.
     *
     * @param array{after_seq?: int, after_note_seq?: int, order?: 'asc'|'desc', limit?: int, cursor?: string} $query
     * @return Listing<Message>
     */
    public function listMessages(string $id, array $query = []): Listing
    {
        /** @var Listing<Message> */
        return $this->list(__FUNCTION__, Path::fill('/v1/conversations/{id}/messages', $id), $query);
    }

    /**
     * Sends a reply or, with `kind: note`, adds an internal note. With `after`, nothing is written if somebody has written
     * since (`conversation-moved`), unless `force` is true.
     *
     * @param NewMessage $body
     * @return Message
     */
    public function createMessage(string $id, array $body, ?string $idempotencyKey = null): array
    {
        /** @var Message */
        return $this->post(__FUNCTION__, Path::fill('/v1/conversations/{id}/messages', $id), $body, $idempotencyKey);
    }

    /**
     * Edits a message of this key within 15 minutes.
     *
     * @param MessagePatch $body
     * @return Message
     */
    public function patchMessage(string $id, string $messageId, array $body): array
    {
        $path = Path::fill('/v1/conversations/{id}/messages/{message_id}', $id, $messageId);
        /** @var Message */
        return $this->change(__FUNCTION__, 'PATCH', $path, $body);
    }

    /**
     * Returns a message, also a note or an event.
     *
     * @return Message
     */
    public function readMessage(string $id, string $messageId): array
    {
        /** @var Message */
        return $this->read(__FUNCTION__, Path::fill('/v1/conversations/{id}/messages/{message_id}', $id, $messageId));
    }

    /** Removes the text of a message; an empty message remains. */
    public function redactMessage(string $id, string $messageId): void
    {
        $this->delete(__FUNCTION__, Path::fill('/v1/conversations/{id}/messages/{message_id}', $id, $messageId));
    }

    /**
     * Marks messages up to this one as read by the team; never moves back.
     *
     * @param array{seq: int} $body
     */
    public function markConversationRead(string $id, array $body): void
    {
        $this->change(__FUNCTION__, 'PUT', Path::fill('/v1/conversations/{id}/read', $id), $body);
    }
}
