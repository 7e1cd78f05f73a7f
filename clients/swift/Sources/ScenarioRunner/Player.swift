import Foundation
import Parley

/// Runs the steps of a part in order, as an app would.
actor Player {
  let client: ParleyClient
  let login: Login
  var cards: [Card] = []
  var answers: [String: NewAnswer] = [:]
  var conversations: [String: String] = [:]
  let lost = Lost()

  init(_ setting: Setting) throws {
    let login = Login(setting)
    let lost = lost
    self.login = login
    client = try ParleyClient(
      baseURL: setting.baseURL, provider: TokenProvider { try await login.nextToken() },
      options: setting.options { lost.add($0) })
  }

  /// Returns true if all steps passed; stops at the first failure.
  func play(_ part: Part) async throws -> Bool {
    for (index, step) in part.steps.enumerated() {
      do {
        try await play(step)
        try report(Line(step: index, do: step.do, passed: true))
      } catch {
        try report(Line(step: index, do: step.do, passed: false, detail: String(describing: error)))
        return false
      }
    }
    return true
  }

  private func play(_ step: Step) async throws {
    switch step.do {
    case "provider": await login.change(to: try need(step.user), kinds: try need(step.tokens))
    case "logout": try await logOut()
    case "cards": try await awaitCards(step)
    case "record": try await record(step)
    case "flush": try await flush(step)
    case "stored": try await awaitStored(step)
    case "not_found": try await awaitNotFound(step)
    case "start_conversation": try await startConversation(step)
    case "reply": try await reply(step)
    case "messages": try await awaitMessages(step)
    case "unread": try await awaitUnread(step)
    case "read": try await markRead(step)
    case "conversations": try await awaitConversations(step)
    case "record_many": try await recordMany(step)
    case "drain": try await drain()
    default: throw Wrong("unknown step")
    }
  }

  private func logOut() async throws {
    client.logout()
    try await eventually { try expect(client.isAskingProvider, false) }
  }
}

/// IDs of answers that were given up.
final class Lost: @unchecked Sendable {
  private let lock = NSLock()
  private var ids: [String] = []

  func add(_ answer: LostAnswer) {
    lock.lock()
    defer { lock.unlock() }
    ids.append(answer.id)
  }

  /// Answers given up since the last call.
  func take() -> [String] {
    lock.lock()
    defer { lock.unlock() }
    defer { ids = [] }
    return ids
  }
}
