import Foundation

/// An answer that was given up.
public struct LostAnswer: Equatable, Sendable {
  public let id: String
  /// The server's code, or `outbox-full`, `outbox-unreadable`, or `refused` on the way until 30 days after `answeredAt`.
  public let code: String
}

/// The outbox's answers, on disk and in memory, with their limit of 500. Age is no reason to give an answer up: clocks
/// jump. Reports answers that are given up.
final class OutboxShelf: Sendable {
  static let maxAnswers = 500

  /// Answers that wait for a receipt, oldest first; `failure` if the disk could not be read or changed.
  struct AtHand {
    let entries: [OutboxEntry]
    var failure: ParleyError?
  }

  let now: @Sendable () -> Date
  private let folder: OutboxFolder
  private let onLost: @Sendable (LostAnswer) -> Void
  private let onRefused: @Sendable (NewAnswer, ParleyError) -> Void
  private let memory = Guarded(OutboxMemory())
  // Disk I/O must not block the threads of Swift's concurrency pool.
  private let queue = DispatchQueue(label: "parley.outbox")

  init(
    folder: OutboxFolder, now: @escaping @Sendable () -> Date, onLost: @escaping @Sendable (LostAnswer) -> Void,
    onRefused: @escaping @Sendable (NewAnswer, ParleyError) -> Void
  ) {
    self.folder = folder
    self.now = now
    self.onLost = onLost
    self.onRefused = onRefused
  }

  /// Writes an answer; drops the oldest of any user if there are too many.
  ///
  /// Throws `storageFailed` if the answer is only in memory. It is then sent like the others.
  func put(_ entry: OutboxEntry) async throws {
    memory.use { $0.add(entry) }
    do {
      try await onDisk { [folder, now] in try folder.put(entry, at: now()) }
      memory.use { $0.noteStored(entry.answer.id) }
      for slip in try await onDisk({ [folder] in try folder.list() }).dropLast(Self.maxAnswers) {
        try await onDisk { [folder] in try folder.remove(slip) }
        memory.use { $0.remove(slip.id) }
        onLost(LostAnswer(id: slip.id, code: "outbox-full"))
      }
    } catch let error as ParleyError where error.kind == .invalidArgument {
      memory.use { $0.remove(entry.answer.id) }
      throw error
    } catch {
      let dropped = memory.use { $0.dropOldest(keep: Self.maxAnswers) }
      for id in dropped { onLost(LostAnswer(id: id, code: "outbox-full")) }
      throw error
    }
  }

  /// Answers that wait for a receipt, oldest first. Throws `storageFailed`.
  func list() async throws -> [OutboxEntry] {
    let content = try await readFolder()
    if let failure = content.failure { throw ParleyError.storageFailed(failure) }
    return memory.use { $0.combine(with: content.entries) }
  }

  /// Like `list`; if the disk fails, the answers in memory. Finishes earlier removals.
  func atHand() async -> AtHand {
    do {
      try await finishRemovals()
      let content = try await readFolder()
      let entries = memory.use { memory in
        if content.failure == nil { memory.keep(onDisk: content.entries) }
        return memory.combine(with: content.entries)
      }
      return AtHand(entries: entries, failure: content.failure.map(ParleyError.storageFailed))
    } catch {
      let entries = memory.use { $0.combine(with: nil) }
      return AtHand(entries: entries, failure: error as? ParleyError ?? ParleyError.storageFailed(error))
    }
  }

  /// Removes an answer after its receipt, unless a newer revision was recorded; `code` if it was rejected.
  ///
  /// If the disk fails, the next flush removes it.
  func settle(_ answer: NewAnswer, refusedWith code: String?) async {
    let (id, revision) = (answer.id, answer.revision)
    var removal = OutboxFolder.Removal.absent
    do {
      removal = try await onDisk { [folder] in try folder.remove(id: id, upTo: revision) }
    } catch {
      memory.use { $0.noteSettled(id, upTo: revision) }
      removal = .removed
    }
    let (wasHere, isNewer) = memory.use { $0.settle(id, upTo: revision) }
    let isGone = removal == .removed || (removal == .absent && wasHere)
    if isGone, !isNewer, let code { onLost(LostAnswer(id: id, code: code)) }
  }

  /// Sets the next try of an answer that was refused on the way; after 30 days, the answer is given up.
  func refuse(_ entry: OutboxEntry, _ cause: ParleyError) async {
    if entry.isOver(at: now()) { return await settle(entry.answer, refusedWith: "refused") }
    let nextTryAt = now().addingTimeInterval(OutboxEntry.retryAfter)
    let isFirst = memory.use { $0.noteRefused(entry.answer, nextTryAt: nextTryAt) } && entry.nextTryAt == nil
    do {
      try await onDisk { [folder] in try folder.setNextTry(of: entry.answer, at: nextTryAt) }
    } catch {
      // The memory has it, and the next flush reports the failure of the disk.
    }
    if isFirst { onRefused(entry.answer, .refused(entry.answer, cause)) }
  }

  private func finishRemovals() async throws {
    for (id, revision) in memory.use({ $0.settled }) {
      _ = try await onDisk { [folder] in try folder.remove(id: id, upTo: revision) }
      memory.use { $0.noteRemoved(id) }
    }
  }

  private func readFolder() async throws -> OutboxFolder.Content {
    let content = try await onDisk { [folder] in try folder.readAll() }
    for id in content.damaged { onLost(LostAnswer(id: id, code: "outbox-unreadable")) }
    return content
  }

  /// Runs work with the disk. Throws `ParleyError`.
  private func onDisk<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    do {
      return try await withCheckedThrowingContinuation { continuation in
        queue.async { continuation.resume(with: Result { try work() }) }
      }
    } catch let error as ParleyError {
      throw error
    } catch {
      throw ParleyError.storageFailed(error)
    }
  }
}
