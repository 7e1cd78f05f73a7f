import Foundation

/// Calls with completion handlers, for apps that don't use `async`. Handlers are called once, on the queue of the
/// client's options (by default the main queue), with a value or an error. Each call returns a handle that can cancel it.
extension ParleyClient {
  public typealias Completion<Value> = @Sendable (Result<Value, any Error>) -> Void

  @discardableResult
  public func whoAmI(completion: @escaping Completion<Me>) -> CallHandle {
    complete(completion) { try await self.whoAmI() }
  }

  @discardableResult
  public func patchMyAttributes(
    _ attributes: [String: Attribute?], completion: @escaping Completion<[String: Attribute]>
  ) -> CallHandle {
    complete(completion) { try await self.patchMyAttributes(attributes) }
  }

  @discardableResult
  public func listCards(_ query: CardQuery = CardQuery(), completion: @escaping Completion<[Card]>) -> CallHandle {
    complete(completion) { try await self.listCards(query) }
  }

  @discardableResult
  public func record(_ answer: NewAnswer, completion: @escaping Completion<Void>) -> CallHandle {
    complete(completion) { try await self.record(answer) }
  }

  @discardableResult
  public func flush(completion: @escaping Completion<FlushOutcome>) -> CallHandle {
    complete(completion) { try await self.flush() }
  }

  @discardableResult
  public func countUnsentAnswers(completion: @escaping Completion<Int>) -> CallHandle {
    complete(completion) { try await self.countUnsentAnswers() }
  }

  @discardableResult
  public func readAnswer(_ id: String, completion: @escaping Completion<Answer>) -> CallHandle {
    complete(completion) { try await self.readAnswer(id) }
  }

  /// Returns one page; pass `nextCursor` of the previous page for the next one.
  @discardableResult
  public func listConversations(
    _ query: ConversationQuery = ConversationQuery(), completion: @escaping Completion<Page<Conversation>>
  ) -> CallHandle {
    complete(completion) { try await self.listConversations(query).page() }
  }

  @discardableResult
  public func readConversation(_ id: String, completion: @escaping Completion<Conversation>) -> CallHandle {
    complete(completion) { try await self.readConversation(id) }
  }

  @discardableResult
  public func createConversation(
    subject: String? = nil, message: String, clientMessageId: String = newId(),
    completion: @escaping Completion<Conversation>
  ) -> CallHandle {
    complete(completion) {
      try await self.createConversation(subject: subject, message: message, clientMessageId: clientMessageId)
    }
  }

  @discardableResult
  public func patchConversation(
    _ id: String, status: Conversation.Status, completion: @escaping Completion<Conversation>
  ) -> CallHandle {
    complete(completion) { try await self.patchConversation(id, status: status) }
  }

  /// Returns one page; pass `nextCursor` of the previous page for the next one.
  @discardableResult
  public func listMessages(
    _ conversationId: String, afterSeq: Int? = nil, order: Message.Order? = nil, limit: Int? = nil,
    cursor: String? = nil, completion: @escaping Completion<Page<Message>>
  ) -> CallHandle {
    complete(completion) {
      try await self.listMessages(
        conversationId, afterSeq: afterSeq, order: order, limit: limit, cursor: cursor
      ).page()
    }
  }

  @discardableResult
  public func createMessage(
    _ conversationId: String, body: String, format: MessageFormat? = nil, clientMessageId: String = newId(),
    completion: @escaping Completion<Message>
  ) -> CallHandle {
    complete(completion) {
      try await self.createMessage(conversationId, body: body, format: format, clientMessageId: clientMessageId)
    }
  }

  @discardableResult
  public func readMessage(
    _ conversationId: String, _ messageId: String, completion: @escaping Completion<Message>
  ) -> CallHandle {
    complete(completion) { try await self.readMessage(conversationId, messageId) }
  }

  @discardableResult
  public func patchMessage(
    _ conversationId: String, _ messageId: String, body: String, format: MessageFormat? = nil,
    completion: @escaping Completion<Message>
  ) -> CallHandle {
    complete(completion) { try await self.patchMessage(conversationId, messageId, body: body, format: format) }
  }

  @discardableResult
  public func redactMessage(_ conversationId: String, _ messageId: String, completion: @escaping Completion<Void>) -> CallHandle {
    complete(completion) { try await self.redactMessage(conversationId, messageId) }
  }

  @discardableResult
  public func markConversationRead(_ id: String, seq: Int, completion: @escaping Completion<Void>) -> CallHandle {
    complete(completion) { try await self.markConversationRead(id, seq: seq) }
  }

  @discardableResult
  public func countUnreadConversations(completion: @escaping Completion<Int>) -> CallHandle {
    complete(completion) { try await self.countUnreadConversations() }
  }

  private func complete<Value: Sendable>(
    _ completion: @escaping Completion<Value>, _ work: @escaping @Sendable () async throws -> Value
  ) -> CallHandle {
    let queue = completionQueue
    let task = Task {
      let result: Result<Value, any Error>
      do {
        result = .success(try await work())
      } catch {
        result = .failure(error)
      }
      queue.async { completion(result) }
    }
    return CallHandle(task: task)
  }
}
