import Foundation

/// The user's conversations with the team. Public tokens: `forbidden`.
extension ParleyClient {
  /// Lists conversations, latest activity first.
  public func listConversations(_ query: ConversationQuery = ConversationQuery()) -> PagedList<Conversation> {
    PagedList(tokens: connection.tokens) { try await self.read("listConversations", query.path(cursor: $0)) }
  }

  public func readConversation(_ id: String) async throws -> Conversation {
    try await read("readConversation", path("conversations", id))
  }

  /// Starts a conversation. A repeated `clientMessageId` returns the first one, so failed calls can be retried safely.
  ///
  /// Messages have at most 10,000 characters, subjects 200.
  @discardableResult
  public func createConversation(
    subject: String? = nil, message: String, clientMessageId: String = newId()
  ) async throws -> Conversation {
    try await write(
      "createConversation", "POST", path("conversations"),
      ConversationBody(subject: subject, message: message, clientMessageId: clientMessageId))
  }

  /// Marks the conversation as resolved, the only status that a user can set.
  @discardableResult
  public func patchConversation(_ id: String, status: Conversation.Status) async throws -> Conversation {
    try await write("patchConversation", "PATCH", path("conversations", id), ["status": status])
  }

  /// Lists messages after the sequence number `afterSeq`, oldest first unless `order` is given.
  public func listMessages(
    _ conversationId: String, afterSeq: Int? = nil, order: Message.Order? = nil, limit: Int? = nil,
    cursor: String? = nil
  ) -> PagedList<Message> {
    PagedList(tokens: connection.tokens) { next in
      let query: Query = [
        ("after_seq", afterSeq.map(String.init)), ("order", order?.rawValue), ("limit", limit.map(String.init)),
        ("cursor", next ?? cursor),
      ]
      return try await self.read(
        "listMessages", path("conversations", conversationId, "messages", query: query))
    }
  }

  /// Sends a message. If the conversation was resolved more than 30 days ago, starts a new one: see `conversationId`.
  @discardableResult
  public func createMessage(
    _ conversationId: String, body: String, format: MessageFormat? = nil, clientMessageId: String = newId()
  ) async throws -> Message {
    let body = MessageBody(body: body, format: format, clientMessageId: clientMessageId)
    return try await write("createMessage", "POST", path("conversations", conversationId, "messages"), body)
  }

  public func readMessage(_ conversationId: String, _ messageId: String) async throws -> Message {
    try await read("readMessage", path("conversations", conversationId, "messages", messageId))
  }

  /// Edits an own message within 15 minutes.
  @discardableResult
  public func patchMessage(
    _ conversationId: String, _ messageId: String, body: String, format: MessageFormat? = nil
  ) async throws -> Message {
    let body = MessageBody(body: body, format: format, clientMessageId: nil)
    return try await write(
      "patchMessage", "PATCH", path("conversations", conversationId, "messages", messageId), body)
  }

  /// Removes the text of an own message; an empty message remains.
  public func redactMessage(_ conversationId: String, _ messageId: String) async throws {
    try await act("redactMessage", "DELETE", path("conversations", conversationId, "messages", messageId))
  }

  /// Marks messages up to `seq` as read; never moves back.
  public func markConversationRead(_ id: String, seq: Int) async throws {
    try await act("markConversationRead", "PUT", path("conversations", id, "read"), JSON.encoder.encode(["seq": seq]))
  }

  /// Counts the conversations with unread messages.
  public func countUnreadConversations() async throws -> Int {
    let unread: UnreadCount = try await read(
      "countUnreadConversations", path("conversations", "unread-count"))
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
