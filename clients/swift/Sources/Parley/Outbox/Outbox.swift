import Foundation

/// What a flush came to.
public enum FlushOutcome: String, Sendable {
  /// Nothing of the present user is left.
  case done
  /// A timer is set; the rest is tried again by itself.
  case later
  /// Waiting would not help; the rest is tried at the next occasion.
  case stopped
}

/// Answers that wait on disk, and go out as the users who gave them.
final class Outbox: Sendable {
  private struct State {
    var running: Task<FlushOutcome, any Error>?
    var timer: Task<Void, any Error>?
    /// Flushes one after another that ended with `later`.
    var failures = 0
  }

  let connection: Connection
  let shelf: OutboxShelf
  private let policy: RetryPolicy
  private let state = Guarded(State())

  init(
    connection: Connection, folder: OutboxFolder, policy: RetryPolicy,
    onLost: @escaping @Sendable (LostAnswer) -> Void
  ) {
    self.connection = connection
    self.policy = policy
    shelf = OutboxShelf(folder: folder, now: connection.wire.now, onLost: onLost)
  }

  deinit {
    state.use { $0.timer?.cancel() }
  }

  /// Writes an answer under its user; it is on disk when this returns, and nothing was sent.
  func record(_ answer: NewAnswer) async throws {
    let present = connection.tokens.visit()
    let owner: Owner
    if let known = answer.owner { owner = known } else { owner = try await present.token().owner }
    try await shelf.put(OutboxEntry(owner: owner, answer: answer))
  }

  /// Sends what is there of the present user; one flush at a time.
  func flush() async throws -> FlushOutcome {
    let (task, isOurs) = state.use { state -> (Task<FlushOutcome, any Error>, Bool) in
      if let running = state.running { return (running, false) }
      state.timer?.cancel()
      let started = Task { try await self.run() }
      state.running = started
      return (started, true)
    }
    let outcome = try await task.value
    // What was recorded since the other flush began may have come too late for it.
    return isOurs || outcome != .done ? outcome : try await flush()
  }

  private func run() async throws -> FlushOutcome {
    do {
      var sending = OutboxFlush(connection: connection, shelf: shelf)
      return end(try await sending.run() ? .done : .later)
    } catch let error as ParleyError {
      let isWorthWaiting = error.retryable || error.kind == .providerFailed
      return end(isWorthWaiting ? .later : .stopped, retryAfterMs: error.retryAfterMs)
    } catch {
      _ = end(.stopped)
      throw error
    }
  }

  /// Ends a flush and sets the timer in one go: a timer that fired before would find the flush that set it running.
  private func end(_ outcome: FlushOutcome, retryAfterMs: Int? = nil) -> FlushOutcome {
    state.use { state in
      state.running = nil
      if outcome == .done { state.failures = 0 }
      guard outcome == .later else { return outcome }
      state.failures += 1
      let random = connection.wire.random()
      let delay = policy.delay(before: state.failures, random: random, retryAfterMs: retryAfterMs)
      state.timer = delay.map(startTimer)
      return delay == nil ? .stopped : .later
    }
  }

  private func startTimer(_ delay: Int) -> Task<Void, any Error> {
    let sleep = connection.wire.sleep
    return Task { [weak self] in
      try await sleep(delay)
      _ = try await self?.flush()  // what the disk says then, the next flush that somebody waits for says too
    }
  }
}

extension ParleyClient {
  /// Writes an answer to the outbox. It is on disk when this returns; nothing is sent before `flush`.
  ///
  /// It goes out as the user for whom its card was fetched, whoever is logged in by then. At most 500 answers wait, for
  /// 30 days at most. Throws what the system says when the disk can't be written.
  public func record(_ answer: NewAnswer) async throws {
    try await outbox.record(answer)
  }

  /// Sends what is in the outbox of the present user. What can't be sent now stays, and is tried again.
  @discardableResult
  public func flush() async throws -> FlushOutcome {
    try await outbox.flush()
  }

  /// How many answers wait, of all users.
  public func countUnsentAnswers() async throws -> Int {
    try await outbox.shelf.list().count
  }
}
