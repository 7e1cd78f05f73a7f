import Foundation

/// The user's own conversations with the team. A public access token has none: `forbidden`.
extension ParleyClient {
  /// Newest activity first.
  public func listConversations(_ query: ConversationQuery = ConversationQuery()) -> PagedList<Conversation> {
    PagedList { try await self.read(query.path(cursor: $0)) }
  }

  public func readConversation(_ id: String) async throws -> Conversation {
    try await read(path("conversations", id))
  }

  /// Starts one. The same `clientMessageId` again gives the first, so a call that got no reply can be made once more.
  ///
  /// A message has at most 10,000 characters, a subject 200.
  @discardableResult
  public func createConversation(
    subject: String? = nil, message: String, clientMessageId: String = newId()
  ) async throws -> Conversation {
    try await write(
      "POST", path("conversations"),
      ConversationBody(subject: subject, message: message, clientMessageId: clientMessageId))
  }

  /// Says that the user is done with it; `resolved` is the one status that a user may set.
  @discardableResult
  public func patchConversation(_ id: String, status: Conversation.Status) async throws -> Conversation {
    try await write("PATCH", path("conversations", id), ["status": status])
  }

  /// Oldest first; only what follows the message of the number `afterSeq`.
  public func listMessages(
    _ conversationId: String, afterSeq: Int? = nil, limit: Int? = nil, cursor: String? = nil
  ) -> PagedList<Message> {
    PagedList { next in
      let query: Query = [
        ("after_seq", afterSeq.map(String.init)), ("limit", limit.map(String.init)), ("cursor", next ?? cursor),
      ]
      return try await self.read(path("conversations", conversationId, "messages", query: query))
    }
  }

  /// Replies. In a conversation resolved more than 30 days ago it starts a new one, which `conversationId` names.
  @discardableResult
  public func createMessage(
    _ conversationId: String, body: String, format: MessageFormat? = nil, clientMessageId: String = newId()
  ) async throws -> Message {
    let body = MessageBody(body: body, format: format, clientMessageId: clientMessageId)
    return try await write("POST", path("conversations", conversationId, "messages"), body)
  }

  /// Changes a message of one's own, for 15 minutes.
  @discardableResult
  public func patchMessage(
    _ conversationId: String, _ messageId: String, body: String, format: MessageFormat? = nil
  ) async throws -> Message {
    let body = MessageBody(body: body, format: format, clientMessageId: nil)
    return try await write("PATCH", path("conversations", conversationId, "messages", messageId), body)
  }

  /// Takes back the text of a message of one's own; its place stays.
  public func redactMessage(_ conversationId: String, _ messageId: String) async throws {
    try await act("DELETE", path("conversations", conversationId, "messages", messageId))
  }

  /// Everything up to the message `seq` was read; never moves back.
  public func markConversationRead(_ id: String, seq: Int) async throws {
    try await act("PUT", path("conversations", id, "read"), JSON.encoder.encode(["seq": seq]))
  }

  /// How many conversations hold something unread.
  public func countUnreadConversations() async throws -> Int {
    let unread: UnreadCount = try await read(path("conversations", "unread-count"))
    return unread.count
  }
}

private struct ConversationBody: Encodable {
  let subject: String?
  let message: String
  let clientMessageId: String
}

private struct MessageBody: Encodable {
  let body: String
  let format: MessageFormat?
  let clientMessageId: String?
}

private struct UnreadCount: Decodable {
  let count: Int
}
