import Foundation

/// Holds one token for the present user; however many ask at a time, the provider is asked once.
final class TokenCache: Sendable {
  private let provider: TokenProvider
  private let now: @Sendable () -> Date
  private let current: Guarded<Visit>

  init(provider: TokenProvider, now: @escaping @Sendable () -> Date) {
    self.provider = provider
    self.now = now
    current = Guarded(Visit(provider: provider, now: now))
  }

  /// The present user's.
  func visit() -> Visit {
    current.use { $0 }
  }

  /// Ends the visit: forgets the token, and asks for the next user's beside.
  func logout() {
    let next = Visit(provider: provider, now: now)
    current.use { visit in
      visit.end()
      visit = next
    }
    next.fetchAhead()
  }
}

/// One user's time with the app: it is over when somebody logs out.
final class Visit: Sendable {
  private struct State {
    var held: Token?
    var pending: Task<Token, any Error>?
    var waiting = 0
    var isOver = false
  }

  /// How long before its end a token is replaced.
  private static let renewBefore: TimeInterval = 60

  private let provider: TokenProvider
  private let now: @Sendable () -> Date
  private let state = Guarded(State())

  init(provider: TokenProvider, now: @escaping @Sendable () -> Date) {
    self.provider = provider
    self.now = now
  }

  /// A token that serves: the one held, or a new one. Throws `providerFailed`, `userChanged`.
  func token() async throws -> Token {
    try check()
    let serves: Token? = state.use { state in
      state.held.flatMap { now() < $0.expiresAt.addingTimeInterval(-Self.renewBefore) ? $0 : nil }
    }
    if let serves { return serves }
    return try await renew()
  }

  /// A token in place of one that the server refused: the one that somebody else got meanwhile, or a new one.
  func replace(_ refused: Token) async throws -> Token {
    try check()
    let other: Token? = state.use { state in
      if state.held == refused { state.held = nil }
      return state.held
    }
    if let other { return other }
    return try await renew()
  }

  /// Throws `userChanged` when the visit is over.
  func check() throws {
    if state.use({ $0.isOver }) { throw ParleyError.userChanged }
  }

  /// How many wait for the provider's reply.
  var waiting: Int {
    state.use { $0.waiting }
  }

  func end() {
    state.use { $0 = State(isOver: true) }
  }

  /// Asks the provider, and waits for nothing. If it fails, whoever needs the token asks again and is told.
  func fetchAhead() {
    _ = startFetch()
  }

  private func renew() async throws -> Token {
    try await startFetch().value
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
      if state.isOver { throw ParleyError.userChanged }  // what was on its way at a logout serves nobody
      if case .failure = asked, let held = state.held, now() < held.expiresAt { return held }
      let token = try asked.get()
      state.held = token
      return token
    }
  }

  private func askProvider() async -> Result<Token, any Error> {
    do {
      return .success(try Token(await provider.fetch()))
    } catch {
      let why = (error as? LocalizedError)?.errorDescription ?? String(describing: error)
      return .failure(ParleyError(.providerFailed, "The provider gave no access token: \(why)", cause: error))
    }
  }
}
