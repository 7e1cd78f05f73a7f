<?php

declare(strict_types=1);

namespace Parley\Operations;

use Parley\Listing;
use Parley\Path;
use Parley\Shapes;

/**
 * Conversations and their messages. An API key acts as the team.
 *
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
     * All of the tenant's, newest activity first.
     *
     * @param ConversationQuery $query
     * @return Listing<Conversation>
     */
    public function listConversations(array $query = []): Listing
    {
        /** @var Listing<Conversation> */
        return $this->list('/v1/conversations', $query);
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
        return $this->post('/v1/conversations', $body, $idempotencyKey);
    }

    /**
     * @param-out string|null $etag for `ifMatch`
     * @return Conversation
     */
    public function readConversation(string $id, ?string &$etag = null): array
    {
        /** @var Conversation */
        return $this->read(Path::fill('/v1/conversations/{id}', $id), etag: $etag);
    }

    /**
     * Changes its state, subject, or what the team alone sees. Setting the state that it is in is a conflict.
     *
     * @param ConversationPatch $body
     * @return Conversation
     */
    public function patchConversation(string $id, array $body, ?string $ifMatch = null): array
    {
        /** @var Conversation */
        return $this->change('PATCH', Path::fill('/v1/conversations/{id}', $id), $body, ifMatch: $ifMatch);
    }

    /** Deletes it with its messages, for good. */
    public function deleteConversation(string $id, ?string $ifMatch = null): void
    {
        $this->delete(Path::fill('/v1/conversations/{id}', $id), $ifMatch);
    }

    /**
     * Oldest first, with the team's notes and events.
     *
     * @param array{after_seq?: int, limit?: int, cursor?: string} $query
     * @return Listing<Message>
     */
    public function listMessages(string $id, array $query = []): Listing
    {
        /** @var Listing<Message> */
        return $this->list(Path::fill('/v1/conversations/{id}/messages', $id), $query);
    }

    /**
     * Replies to the user, or with `kind: note` writes what the team alone sees.
     *
     * @param NewMessage $body
     * @return Message
     */
    public function createMessage(string $id, array $body, ?string $idempotencyKey = null): array
    {
        /** @var Message */
        return $this->post(Path::fill('/v1/conversations/{id}/messages', $id), $body, $idempotencyKey);
    }

    /**
     * Changes a message of this key, for 15 minutes.
     *
     * @param MessagePatch $body
     * @return Message
     */
    public function patchMessage(string $id, string $messageId, array $body): array
    {
        $path = Path::fill('/v1/conversations/{id}/messages/{message_id}', $id, $messageId);
        /** @var Message */
        return $this->change('PATCH', $path, $body);
    }

    /** Takes back the text of a message; its place stays. */
    public function redactMessage(string $id, string $messageId): void
    {
        $this->delete(Path::fill('/v1/conversations/{id}/messages/{message_id}', $id, $messageId));
    }

    /**
     * The team has read everything up to this message; never moves back.
     *
     * @param array{seq: int} $body
     */
    public function markConversationRead(string $id, array $body): void
    {
        $this->change('PUT', Path::fill('/v1/conversations/{id}/read', $id), $body);
    }
}
