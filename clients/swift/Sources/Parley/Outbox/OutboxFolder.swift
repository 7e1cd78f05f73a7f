import Foundation

/// A stored answer.
struct OutboxEntry: Codable, Sendable {
  let owner: Owner
  let answer: NewAnswer
}

/// Answers on disk, one file each, named by order and age. Writes are durable.
///
/// All methods block on disk I/O. Processes that share the folder are synchronized by a lock.
struct OutboxFolder: Sendable {
  private let url: URL

  init(_ url: URL) throws {
    self.url = url
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true, attributes: protection)
    try excludeFromBackup(url)
    try alone { try removeUnfinished() }
  }

  /// Folder in Application Support.
  static func usual() throws -> URL {
    try FileManager.default
      .url(for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
      .appendingPathComponent("Parley/outbox", isDirectory: true)
  }

  /// Writes an answer unless the stored revision is at least as high; it keeps the position of its first revision.
  func put(_ entry: OutboxEntry, at now: Date) throws {
    try alone {
      let slips = try readNames()
      let known = slips.first { $0.id == entry.answer.id }
      if let known, let held = try read(known) {
        guard held.owner == entry.owner else { throw ParleyError(.invalidArgument, "The id is already used by another user") }
        if held.answer.revision >= entry.answer.revision { return }
      }
      let next = OutboxSlip(place: (slips.last?.place ?? 0) + 1, recordedAt: now, id: entry.answer.id)
      try JSON.encoder.encode(entry).writeDurably(to: file(known ?? next))
    }
  }

  /// Stored answers, oldest first.
  func list() throws -> [OutboxSlip] {
    try alone { try readNames() }
  }

  /// Reads an answer; nil if it has been removed. Throws `DecodingError` for foreign files.
  func read(_ slip: OutboxSlip) throws -> OutboxEntry? {
    do {
      return try JSON.decoder.decode(OutboxEntry.self, from: Data(contentsOf: file(slip)))
    } catch CocoaError.fileReadNoSuchFile, CocoaError.fileNoSuchFile {
      return nil
    }
  }

  /// Removes an answer regardless of its revision.
  func remove(_ slip: OutboxSlip) throws {
    try alone { try delete(slip) }
  }

  /// Removes an answer; false if a newer revision has been recorded.
  func remove(_ slip: OutboxSlip, upTo revision: Int) throws -> Bool {
    try alone {
      guard let held = try read(slip) else { return false }
      if held.answer.revision > revision { return false }
      try delete(slip)
      return true
    }
  }

  private func alone<Result>(_ work: () throws -> Result) throws -> Result {
    try withFileLock(url.appendingPathComponent("lock").path, work)
  }

  private func file(_ slip: OutboxSlip) -> URL {
    url.appendingPathComponent(slip.name)
  }

  private func delete(_ slip: OutboxSlip) throws {
    do {
      try FileManager.default.removeItem(at: file(slip))
    } catch CocoaError.fileNoSuchFile {
      // Already removed by another process.
    }
  }

  private func readNames() throws -> [OutboxSlip] {
    try FileManager.default.contentsOfDirectory(atPath: url.path).compactMap(OutboxSlip.init(name:))
      .sorted { $0.place < $1.place }
  }

  private func removeUnfinished() throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: url.path) where name.hasSuffix(unfinished) {
      try FileManager.default.removeItem(at: url.appendingPathComponent(name))
    }
  }
}
