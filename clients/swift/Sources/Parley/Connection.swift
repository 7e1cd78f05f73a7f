import Foundation

/// A request as the current user.
struct Call: Sendable {
  var method: String
  /// Path with query.
  var path: String
  var body: Data?
  /// Headers that depend on the token's owner.
  var headers: @Sendable (Owner) -> [String: String] = { _ in [:] }
  /// The only user the request may be sent as; defaults to the current one.
  var owner: Owner?
  /// Retry policy; defaults to that of the client.
  var policy: RetryPolicy?
}

/// Sends requests as the current user.
struct Connection: Sendable {
  let baseURL: String
  let wire: Wire
  let policy: RetryPolicy
  let tokens: TokenCache

  /// Retries until success, a permanent failure or the policy's limit. Throws `ParleyError`.
  func request(_ call: Call) async throws -> WireReply {
    var errand = Errand(connection: self, call: call, visit: tokens.visit(), owner: call.owner)
    for retry in 1... {
      do {
        return try await errand.attempt()
      } catch let error as ParleyError where error.retryable {
        let delay = (call.policy ?? policy)
          .delay(before: retry, random: wire.random(), retryAfterMs: error.retryAfterMs)
        guard let delay else { throw error }
        try await wire.sleep(delay)
      }
    }
    preconditionFailure("retries are counted without an end")
  }

  fileprivate func send(_ call: Call, as token: Token) async throws -> WireReply {
    var headers = call.headers(token.owner)
    headers["Authorization"] = "Bearer \(token.text)"
    if call.body != nil { headers["Content-Type"] = "application/json" }
    let request = WireRequest(method: call.method, url: baseURL + call.path, headers: headers, body: call.body)
    return try await wire.send(request)
  }
}

/// A request in progress, bound to the user it was first sent as.
private struct Errand {
  let connection: Connection
  let call: Call
  let visit: Visit
  var owner: Owner?
  var wasRefused = false
  var wasUnanswered = false

  mutating func attempt() async throws -> WireReply {
    let token = try await visit.token()
    do {
      return try await send(as: token)
    } catch let error as ParleyError where error.kind == .unauthenticated && !wasRefused {
      wasRefused = true
      return try await send(as: visit.replace(token))
    }
  }

  private mutating func send(as token: Token) async throws -> WireReply {
    if let owner, owner != token.owner { throw ParleyError.userChanged }
    owner = token.owner
    do {
      return try await connection.send(call, as: token)
    } catch let error as ParleyError {
      try visit.check()
      if isDone(error) { return WireReply(status: 204, headers: [:], body: Data()) }
      wasUnanswered = wasUnanswered || error.kind == .noReply
      throw error
    }
  }

  /// Whether a 404 for a deletion means that an earlier attempt, whose response was lost, succeeded.
  private func isDone(_ error: ParleyError) -> Bool {
    wasUnanswered && call.method == "DELETE" && error.kind == .notFound
  }
}
