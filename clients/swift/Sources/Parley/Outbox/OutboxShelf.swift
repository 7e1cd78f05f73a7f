import Foundation

/// An answer that was given up.
public struct LostAnswer: Equatable, Sendable {
  public let id: String
  /// The server's code, or `body-too-large`, `outbox-full`, `outbox-expired`, `outbox-unreadable`.
  public let code: String
}

/// The outbox's files with their limits: 500 answers, 30 days. Reports answers that are given up.
final class OutboxShelf: Sendable {
  static let maxAnswers = 500
  static let maxAge: TimeInterval = 30 * 24 * 3600

  let now: @Sendable () -> Date
  private let folder: OutboxFolder
  private let onLost: @Sendable (LostAnswer) -> Void
  // Disk I/O must not block the threads of Swift's concurrency pool.
  private let queue = DispatchQueue(label: "parley.outbox")

  init(folder: OutboxFolder, now: @escaping @Sendable () -> Date, onLost: @escaping @Sendable (LostAnswer) -> Void) {
    self.folder = folder
    self.now = now
    self.onLost = onLost
  }

  /// Writes an answer; drops the oldest of any user if there are too many.
  func put(_ entry: OutboxEntry) async throws {
    try await onDisk { [folder, now] in try folder.put(entry, at: now()) }
    for slip in try await list().dropLast(Self.maxAnswers) { try await giveUp(slip, "outbox-full") }
  }

  /// Gives up expired answers.
  func expire() async throws {
    for slip in try await list() where now().timeIntervalSince(slip.recordedAt) > Self.maxAge {
      try await giveUp(slip, "outbox-expired")
    }
  }

  /// Stored answers, oldest first.
  func list() async throws -> [OutboxSlip] {
    try await onDisk { [folder] in try folder.list() }
  }

  /// Reads an answer; nil if it has been removed or is invalid.
  func read(_ slip: OutboxSlip) async throws -> OutboxEntry? {
    do {
      return try await onDisk { [folder] in try folder.read(slip) }
    } catch is DecodingError {
      try await giveUp(slip, "outbox-unreadable")
      return nil
    }
  }

  /// Removes an answer after its receipt, unless a newer revision was recorded; `code` if it was rejected.
  func settle(_ slip: OutboxSlip, revision: Int, refusedWith code: String?) async throws {
    let isGone = try await onDisk { [folder] in try folder.remove(slip, upTo: revision) }
    if isGone, let code { onLost(LostAnswer(id: slip.id, code: code)) }
  }

  private func giveUp(_ slip: OutboxSlip, _ code: String) async throws {
    try await onDisk { [folder] in try folder.remove(slip) }
    onLost(LostAnswer(id: slip.id, code: code))
  }

  private func onDisk<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try work() }) }
    }
  }
}
