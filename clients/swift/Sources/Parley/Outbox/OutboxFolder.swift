import Foundation

/// A stored answer.
struct OutboxEntry: Codable, Sendable {
  let owner: Owner
  let answer: NewAnswer
  /// When an answer that was refused on the way is tried again.
  var nextTryAt: Date?
}

/// Answers on disk, one file each, named by order and age. Writes are durable.
///
/// All methods block on disk I/O. Processes that share the folder are synchronized by a lock.
struct OutboxFolder: Sendable {
  /// Result of a removal.
  enum Removal {
    case removed
    /// A newer revision has been recorded, and stays.
    case newer
    case absent
  }

  /// The content of the folder.
  struct Content {
    /// Readable entries, oldest first.
    var entries: [OutboxEntry] = []
    /// IDs of damaged entries, which were set aside.
    var damaged: [String] = []
    /// Failure to read an entry, which stays.
    var failure: (any Error)?
  }

  private let url: URL
  private let flush: @Sendable (_ path: String) throws -> Void

  init(_ url: URL, flush: @escaping @Sendable (_ path: String) throws -> Void = { try flushToDisk($0) }) throws {
    self.url = url
    self.flush = flush
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true, attributes: protection)
    try excludeFromBackup(url)
    try alone { try removeUnfinished() }
  }

  /// File of unfinished cards; not an answer to send.
  var draftsFile: URL {
    url.appendingPathComponent("drafts.json")
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
      var entry = entry
      // An unreadable revision is replaced; if the disk itself fails, so does the write below.
      if let known, let held = try? read(known) {
        guard held.owner.isSame(as: entry.owner) else { throw ParleyError(.invalidArgument, "The id is already used by another user") }
        if held.answer.revision >= entry.answer.revision { return }
        if held.nextTryAt != nil { entry.nextTryAt = Date(timeIntervalSince1970: 0) }  // tried at once, apart from the others
      }
      let next = OutboxSlip(place: (slips.last?.place ?? 0) + 1, recordedAt: now, id: entry.answer.id)
      try JSON.encoder.encode(entry).writeDurably(to: file(known ?? next), flush: flush)
    }
  }

  /// Keeps the next try of a refused answer, unless a newer revision has been recorded.
  func setNextTry(of answer: NewAnswer, at time: Date) throws {
    try alone {
      guard let slip = try readNames().first(where: { $0.id == answer.id }), var held = try read(slip),
        held.answer.revision == answer.revision
      else { return }
      held.nextTryAt = time
      try JSON.encoder.encode(held).writeDurably(to: file(slip), flush: flush)
    }
  }

  /// Stored answers, oldest first.
  func list() throws -> [OutboxSlip] {
    try alone { try readNames() }
  }

  /// Reads all answers. Damaged files are renamed, so that they do not block others, and can be examined.
  func readAll() throws -> Content {
    try alone {
      var content = Content()
      for slip in try readNames() {
        do {
          if let entry = try read(slip) { content.entries.append(entry) }
        } catch is DecodingError {
          try FileManager.default.moveItem(at: file(slip), to: file(slip).appendingPathExtension("unreadable"))
          content.damaged.append(slip.id)
        } catch {
          content.failure = error  // for example before the first unlock of the device
        }
      }
      return content
    }
  }

  /// Removes an answer regardless of its revision.
  func remove(_ slip: OutboxSlip) throws {
    try alone { try delete(slip) }
  }

  /// Removes an answer unless a newer revision has been recorded.
  func remove(id: String, upTo revision: Int) throws -> Removal {
    try alone {
      guard let slip = try readNames().first(where: { $0.id == id }), let held = try read(slip) else { return .absent }
      if held.answer.revision > revision { return .newer }
      try delete(slip)
      return .removed
    }
  }

  private func alone<Result>(_ work: () throws -> Result) throws -> Result {
    try withFileLock(url.appendingPathComponent("lock").path, work)
  }

  private func file(_ slip: OutboxSlip) -> URL {
    url.appendingPathComponent(slip.name)
  }

  /// Reads an answer; nil if it has been removed. Throws `DecodingError` for damaged files.
  private func read(_ slip: OutboxSlip) throws -> OutboxEntry? {
    do {
      return try JSON.decoder.decode(OutboxEntry.self, from: Data(contentsOf: file(slip)))
    } catch CocoaError.fileReadNoSuchFile, CocoaError.fileNoSuchFile {
      return nil
    }
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
