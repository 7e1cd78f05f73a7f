import Foundation

/// Outcome of a flush.
public enum FlushOutcome: String, Sendable {
  /// All answers of the current user were sent.
  case done
  /// The rest is retried automatically by a timer.
  case later
  /// Retrying now does not help; the rest is sent with the next flush.
  case stopped
}

/// Stores answers on disk and sends each as the user who gave it.
final class Outbox: Sendable {
  private struct State {
    var running: Task<FlushOutcome, any Error>?
    var timer: Task<Void, any Error>?
    /// Number of consecutive flushes that ended with `later`.
    var failures = 0
    /// Why the last flush did not send all answers.
    var failure: ParleyError?
  }

  let connection: Connection
  let shelf: OutboxShelf
  private let policy: RetryPolicy
  private let state = Guarded(State())

  init(
    connection: Connection, folder: OutboxFolder, policy: RetryPolicy,
    onLost: @escaping @Sendable (LostAnswer) -> Void,
    onRefused: @escaping @Sendable (NewAnswer, ParleyError) -> Void
  ) {
    self.connection = connection
    self.policy = policy
    shelf = OutboxShelf(folder: folder, now: connection.wire.now, onLost: onLost, onRefused: onRefused)
  }

  deinit {
    state.use { $0.timer?.cancel() }
  }

  /// Writes an answer for its user to disk without sending it.
  func record(_ answer: NewAnswer) async throws {
    let present = connection.tokens.visit()
    let owner: Owner
    if let known = answer.owner { owner = known } else { owner = try await present.token().owner }
    try await shelf.put(OutboxEntry(owner: owner, answer: answer))
  }

  var lastFailure: ParleyError? {
    state.use { $0.failure }
  }

  /// Sends the current user's answers; one flush at a time.
  func flush() async throws -> FlushOutcome {
    let (task, isOurs) = state.use { state -> (Task<FlushOutcome, any Error>, Bool) in
      if let running = state.running { return (running, false) }
      state.timer?.cancel()
      let started = Task { try await self.run() }
      state.running = started
      return (started, true)
    }
    let outcome = try await task.value
    // Answers recorded since the other flush began may not be included in it.
    return isOurs || outcome != .done ? outcome : try await flush()
  }

  /// Flushes without a caller; its failure is `lastFailure`.
  func flushInBackground() {
    Task { [weak self] in _ = try? await self?.flush() }
  }

  private func run() async throws -> FlushOutcome {
    do {
      var sending = OutboxFlush(connection: connection, shelf: shelf)
      switch try await sending.run() {
      case .done: return end(.done)
      case .incomplete: return end(.later)
      case .apart(let time): return end(.later, nextTryAt: time)
      }
    } catch let error as ParleyError {
      // A redirect is often that of a network whose sign-in is not done yet.
      let isWorthWaiting = error.retryable || [.providerFailed, .unreadable].contains(error.kind)
      return end(isWorthWaiting ? .later : .stopped, error)
    } catch {
      _ = end(.stopped)
      throw error
    }
  }

  /// Ends a flush and sets the timer atomically: otherwise the timer could fire while the flush is still running.
  private func end(_ outcome: FlushOutcome, _ failure: ParleyError? = nil, nextTryAt: Date? = nil) -> FlushOutcome {
    state.use { state in
      state.running = nil
      state.failure = failure
      if outcome == .done || nextTryAt != nil { state.failures = 0 }
      guard outcome == .later else { return outcome }
      if let nextTryAt {
        let wait = nextTryAt.timeIntervalSince(connection.wire.now())
        state.timer = startTimer(Int((max(0, wait) * 1000).rounded(.up)))
        return .later
      }
      state.failures += 1
      let random = connection.wire.random()
      let delay = policy.delay(before: state.failures, random: random, retryAfterMs: failure?.retryAfterMs)
      state.timer = delay.map(startTimer)
      return delay == nil ? .stopped : .later
    }
  }

  private func startTimer(_ delay: Int) -> Task<Void, any Error> {
    let sleep = connection.wire.sleep
    return Task { [weak self] in
      try await sleep(delay)
      _ = try await self?.flush()  // its failure is `lastFailure`
    }
  }
}

extension ParleyClient {
  /// Writes an answer to the outbox; durable when this returns. Call `flush` to send.
  ///
  /// It is sent as the user its card was fetched for, even if another user is signed in by then. At most 500 answers are
  /// stored. Throws `storageFailed` if the disk refuses; the answer is then in memory, and sent like the others while the
  /// app runs.
  public func record(_ answer: NewAnswer) async throws {
    try await outbox.record(answer)
  }

  /// Sends the current user's answers. Unsent answers stay and are retried.
  @discardableResult
  public func flush() async throws -> FlushOutcome {
    try await outbox.flush()
  }

  /// Why the last flush did not send all answers of the user; nil if it did, or if the rest got no receipts.
  public var flushFailure: ParleyError? {
    outbox.lastFailure
  }

  /// Number of unsent answers of all users. Throws `storageFailed`.
  public func countUnsentAnswers() async throws -> Int {
    try await outbox.shelf.list().count
  }
}
