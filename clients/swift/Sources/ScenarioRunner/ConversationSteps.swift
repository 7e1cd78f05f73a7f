import Parley

extension Player {
  func startConversation(_ step: Step) async throws {
    let made = try await client.createConversation(
      subject: step.subject, message: try need(step.message), clientMessageId: try need(step.clientMessageId))
    let name = try need(step.as)
    try expect(made.id, conversations[name])
    conversations[name] = made.id
  }

  func reply(_ step: Step) async throws {
    _ = try await client.createMessage(
      try conversation(step), body: try need(step.body), clientMessageId: try need(step.clientMessageId))
  }

  func awaitMessages(_ step: Step) async throws {
    let id = try conversation(step)
    try await eventually {
      try await succeedOrFail(step) {
        var bodies: [String] = []
        for try await message in client.listMessages(id, limit: 1) { bodies.append(message.body) }
        try expect(bodies, step.bodies)
      }
    }
  }

  func awaitUnread(_ step: Step) async throws {
    try await eventually { try expect(try await client.countUnreadConversations(), step.count) }
  }

  func markRead(_ step: Step) async throws {
    let conversation = try await client.readConversation(try conversation(step))
    try await client.markConversationRead(conversation.id, seq: conversation.lastMessage.seq)
  }

  func awaitConversations(_ step: Step) async throws {
    try await eventually {
      try await succeedOrFail(step) {
        var subjects: [String] = []
        for try await each in client.listConversations(ConversationQuery(limit: step.limit)) {
          subjects.append(each.subject)
        }
        try expect(subjects, step.subjects)
      }
    }
  }

  private func conversation(_ step: Step) throws -> String {
    try need(conversations[try need(step.conversation)])
  }
}
