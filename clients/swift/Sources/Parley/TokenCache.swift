import Foundation

/// Caches one token for the current user; concurrent requests share one provider call.
final class TokenCache: Sendable {
  private let provider: TokenProvider
  private let wire: Wire
  private let current: Guarded<Visit>

  init(provider: TokenProvider, wire: Wire) {
    self.provider = provider
    self.wire = wire
    current = Guarded(Visit(provider: provider, wire: wire))
  }

  /// Session of the current user.
  func visit() -> Visit {
    current.use { $0 }
  }

  /// Ends the session: drops the token and requests the next user's in the background.
  func logout() {
    let next = Visit(provider: provider, wire: wire)
    current.use { visit in
      visit.end()
      visit = next
    }
    next.fetchAhead()
  }
}

/// The session of one user; ends at logout.
final class Visit: Sendable {
  private struct State {
    var held: Token?
    var pending: Task<Token, any Error>?
    var waiting = 0
    var isOver = false
  }

  private let provider: TokenProvider
  private let wire: Wire
  private let state = Guarded(State())

  init(provider: TokenProvider, wire: Wire) {
    self.provider = provider
    self.wire = wire
  }

  /// Returns the cached token or a new one. Throws `providerFailed`, `userChanged`.
  func token() async throws -> Token {
    try check()
    let serves: Token? = state.use { state in
      state.held.flatMap { wire.now() < $0.renewAt ? $0 : nil }
    }
    if let serves { return serves }
    return try await renew()
  }

  /// Returns a token to replace a rejected one: one fetched meanwhile by another call, or a new one.
  func replace(_ refused: Token) async throws -> Token {
    try check()
    let other: Token? = state.use { state in
      if state.held == refused { state.held = nil }
      return state.held
    }
    if let other { return other }
    return try await renew()
  }

  /// Throws `userChanged` if the session has ended.
  func check() throws {
    if state.use({ $0.isOver }) { throw ParleyError.userChanged }
  }

  /// The user of the cached token.
  var heldOwner: Owner? {
    state.use { $0.held?.owner }
  }

  /// Number of callers waiting for the provider.
  var waiting: Int {
    state.use { $0.waiting }
  }

  func end() {
    state.use { $0 = State(isOver: true) }
  }

  /// Starts a provider call without waiting. On failure, the next call retries and reports the error.
  func fetchAhead() {
    _ = startFetch()
  }

  private func renew() async throws -> Token {
    try await sharedValue(of: startFetch())
  }

  private func startFetch() -> Task<Token, any Error> {
    state.use { state -> Task<Token, any Error> in
      state.waiting += 1
      if let pending = state.pending { return pending }
      let started = Task { try await self.fetch() }
      state.pending = started
      return started
    }
  }

  private func fetch() async throws -> Token {
    let asked = await askProvider()
    return try state.use { state in
      state.pending = nil
      state.waiting = 0
      if state.isOver { throw ParleyError.userChanged }
      if case .failure = asked, let held = state.held, wire.now() < held.expiresAt { return held }
      return try asked.get()
    }
  }

  private func askProvider() async -> Result<Token, any Error> {
    do {
      let late = ParleyError.tooLate("The provider did not return a token", after: wire.timeout)
      return .success(try await within(wire.timeout, orThrow: late) { try await self.receiveToken() })
    } catch {
      return .failure(ParleyError.providerFailed(error))
    }
  }

  /// Asks the provider. A token that arrives after the time limit serves the next request.
  private func receiveToken() async throws -> Token {
    let token = try Token(await provider.fetch(), receivedAt: wire.now())
    state.use { state in
      if !state.isOver { state.held = token }  // discard tokens requested before the logout
    }
    return token
  }
}
