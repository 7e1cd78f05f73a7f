import Foundation

/// Calls with completion handlers, for apps that don't use `async`. Handlers are called once, on the queue of the
/// client's options (by default the main queue), with a value or an error.
extension ParleyClient {
  public typealias Completion<Value> = @Sendable (Result<Value, any Error>) -> Void

  public func whoAmI(completion: @escaping Completion<Me>) {
    complete(completion) { try await self.whoAmI() }
  }

  public func patchMyAttributes(
    _ attributes: [String: Attribute?], completion: @escaping Completion<[String: Attribute]>
  ) {
    complete(completion) { try await self.patchMyAttributes(attributes) }
  }

  public func listCards(_ query: CardQuery = CardQuery(), completion: @escaping Completion<[Card]>) {
    complete(completion) { try await self.listCards(query) }
  }

  public func record(_ answer: NewAnswer, completion: @escaping Completion<Void>) {
    complete(completion) { try await self.record(answer) }
  }

  public func flush(completion: @escaping Completion<FlushOutcome>) {
    complete(completion) { try await self.flush() }
  }

  public func countUnsentAnswers(completion: @escaping Completion<Int>) {
    complete(completion) { try await self.countUnsentAnswers() }
  }

  public func readAnswer(_ id: String, completion: @escaping Completion<Answer>) {
    complete(completion) { try await self.readAnswer(id) }
  }

  /// Returns one page; pass `nextCursor` of the previous page for the next one.
  public func listConversations(
    _ query: ConversationQuery = ConversationQuery(), completion: @escaping Completion<Page<Conversation>>
  ) {
    complete(completion) { try await self.listConversations(query).page() }
  }

  public func readConversation(_ id: String, completion: @escaping Completion<Conversation>) {
    complete(completion) { try await self.readConversation(id) }
  }

  public func createConversation(
    subject: String? = nil, message: String, clientMessageId: String = newId(),
    completion: @escaping Completion<Conversation>
  ) {
    complete(completion) {
      try await self.createConversation(subject: subject, message: message, clientMessageId: clientMessageId)
    }
  }

  public func patchConversation(
    _ id: String, status: Conversation.Status, completion: @escaping Completion<Conversation>
  ) {
    complete(completion) { try await self.patchConversation(id, status: status) }
  }

  /// Returns one page; pass `nextCursor` of the previous page for the next one.
  public func listMessages(
    _ conversationId: String, afterSeq: Int? = nil, limit: Int? = nil, cursor: String? = nil,
    completion: @escaping Completion<Page<Message>>
  ) {
    complete(completion) {
      try await self.listMessages(conversationId, afterSeq: afterSeq, limit: limit, cursor: cursor).page()
    }
  }

  public func createMessage(
    _ conversationId: String, body: String, format: MessageFormat? = nil, clientMessageId: String = newId(),
    completion: @escaping Completion<Message>
  ) {
    complete(completion) {
      try await self.createMessage(conversationId, body: body, format: format, clientMessageId: clientMessageId)
    }
  }

  public func patchMessage(
    _ conversationId: String, _ messageId: String, body: String, format: MessageFormat? = nil,
    completion: @escaping Completion<Message>
  ) {
    complete(completion) { try await self.patchMessage(conversationId, messageId, body: body, format: format) }
  }

  public func redactMessage(_ conversationId: String, _ messageId: String, completion: @escaping Completion<Void>) {
    complete(completion) { try await self.redactMessage(conversationId, messageId) }
  }

  public func markConversationRead(_ id: String, seq: Int, completion: @escaping Completion<Void>) {
    complete(completion) { try await self.markConversationRead(id, seq: seq) }
  }

  public func countUnreadConversations(completion: @escaping Completion<Int>) {
    complete(completion) { try await self.countUnreadConversations() }
  }

  private func complete<Value: Sendable>(
    _ completion: @escaping Completion<Value>, _ work: @escaping @Sendable () async throws -> Value
  ) {
    let queue = completionQueue
    Task {
      let result: Result<Value, any Error>
      do {
        result = .success(try await work())
      } catch {
        result = .failure(error)
      }
      queue.async { completion(result) }
    }
  }
}
