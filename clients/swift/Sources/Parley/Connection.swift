import Foundation

/// A request as the current user.
struct Call: Sendable {
  /// The `operationId` of the API.
  var operation: String
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
  var wire: Wire
  var policy: RetryPolicy
  let tokens: TokenCache
  let onAttempt: @Sendable (Attempt) -> Void

  /// Retries until success, a permanent failure or the policy's limit. Throws `ParleyError`.
  func request(_ call: Call) async throws -> WireReply {
    var errand = Errand(connection: self, call: call, visit: tokens.visit(), owner: call.owner)
    for retry in 1... {
      let start = Date()
      let result: Result<WireReply, any Error>
      do { result = .success(try await errand.attempt()) } catch { result = .failure(error) }
      let delay = delay(after: result, retry, of: call)
      report(call, result, number: retry, since: start, retryInMs: delay)
      guard let delay else { return try result.get() }
      try await wire.sleep(delay)
    }
    preconditionFailure("retries are counted without an end")
  }

  private func delay(after result: Result<WireReply, any Error>, _ retry: Int, of call: Call) -> Int? {
    guard case .failure(let failure) = result, let error = failure as? ParleyError, error.retryable else { return nil }
    return (call.policy ?? policy).delay(before: retry, random: wire.random(), retryAfterMs: error.retryAfterMs)
  }

  private func report(
    _ call: Call, _ result: Result<WireReply, any Error>, number: Int, since start: Date, retryInMs: Int?
  ) {
    let reply = try? result.get()
    var error: (any Error)?
    if case .failure(let failure) = result { error = failure }
    let known = error as? ParleyError
    onAttempt(
      Attempt(
        operation: call.operation, method: call.method, number: number, status: reply?.status ?? known?.status ?? 0,
        durationMs: max(0, Int(Date().timeIntervalSince(start) * 1000)),
        requestId: reply?.header("X-Request-Id") ?? known?.requestId, error: error, retryInMs: retryInMs))
  }

  fileprivate func send(_ call: Call, as token: Token) async throws -> WireReply {
    var headers = call.headers(token.owner)
    headers["Authorization"] = "Bearer \(token.text)"
    headers["User-Agent"] = userAgent
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
  var isPerhapsDone = false

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
    if let owner, !owner.isSame(as: token.owner) { throw ParleyError.userChanged }
    owner = token.owner
    do {
      let reply = try await connection.send(call, as: token)
      if call.method == "GET" { try visit.check() }  // never return a previous user's data
      return reply
    } catch let error as ParleyError {
      try visit.check()
      if isDone(error) { return WireReply(status: 204, headers: [:], body: Data()) }
      isPerhapsDone = isPerhapsDone || error.kind == .noReply || error.status >= 500
      throw error
    }
  }

  /// Whether a 404 for a deletion means that an earlier attempt, whose response was lost, succeeded.
  private func isDone(_ error: ParleyError) -> Bool {
    isPerhapsDone && call.method == "DELETE" && error.kind == .notFound
  }
}
