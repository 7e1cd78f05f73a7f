import Foundation

/// The answers that this process has recorded and that have no receipt, for the time in which the disk fails.
struct OutboxMemory {
  /// Oldest first.
  private var entries: [OutboxEntry] = []
  /// Answers whose last revision is not on the disk.
  private var unstored: Set<String> = []
  /// Revisions with a receipt that are still on the disk.
  private(set) var settled: [String: Int] = [:]
  /// Revisions that were refused on the way since this start, with their next try: the disk may not have kept it.
  private var apart: [String: (revision: Int, nextTryAt: Date)] = [:]

  /// Adds a revision that is not on the disk yet.
  mutating func add(_ entry: OutboxEntry) {
    let id = entry.answer.id
    if let index = entries.firstIndex(where: { $0.answer.id == id }) {
      if entries[index].answer.revision >= entry.answer.revision { return }
      entries[index] = entry
    } else {
      entries.append(entry)
    }
    unstored.insert(id)
  }

  mutating func noteStored(_ id: String) {
    unstored.remove(id)
  }

  mutating func remove(_ id: String) {
    entries.removeAll { $0.answer.id == id }
    unstored.remove(id)
  }

  /// Removes the oldest answers that are only here, beyond a limit; returns their ids.
  mutating func dropOldest(keep limit: Int) -> [String] {
    let ids = entries.map(\.answer.id).filter(unstored.contains).dropLast(limit)
    for id in ids { remove(id) }
    return Array(ids)
  }

  /// Removes a confirmed revision. Returns whether it was here, and whether a newer one is.
  mutating func settle(_ id: String, upTo revision: Int) -> (wasHere: Bool, isNewer: Bool) {
    guard let entry = entries.first(where: { $0.answer.id == id }) else { return (false, false) }
    if entry.answer.revision > revision { return (true, true) }
    remove(id)
    return (true, false)
  }

  /// Remembers a confirmed revision that could not be removed from the disk.
  mutating func noteSettled(_ id: String, upTo revision: Int) {
    settled[id] = max(settled[id] ?? 0, revision)
  }

  /// Notes the next try of a refused answer. Returns whether this is the first one.
  mutating func noteRefused(_ answer: NewAnswer, nextTryAt: Date) -> Bool {
    apart.updateValue((answer.revision, nextTryAt), forKey: answer.id) == nil
  }

  private func withTry(_ entry: OutboxEntry) -> OutboxEntry {
    guard let known = apart[entry.answer.id], known.revision == entry.answer.revision else { return entry }
    var entry = entry
    entry.nextTryAt = known.nextTryAt
    return entry
  }

  /// Forgets a revision that has been removed from the disk.
  mutating func noteRemoved(_ id: String) {
    settled[id] = nil
  }

  /// Drops answers that another process has sent and removed.
  mutating func keep(onDisk stored: [OutboxEntry]) {
    let ids = Set(stored.map(\.answer.id))
    entries.removeAll { !unstored.contains($0.answer.id) && !ids.contains($0.answer.id) }
  }

  /// The answers that wait for a receipt, oldest first: those on the disk, or nil if it fails, and those here.
  func combine(with stored: [OutboxEntry]?) -> [OutboxEntry] {
    let onDisk = Dictionary((stored ?? []).map { ($0.answer.id, $0) }, uniquingKeysWith: { first, _ in first })
    let here = Set(entries.map(\.answer.id))
    let earlier = (stored ?? []).filter { !here.contains($0.answer.id) }  // of other processes, and before the start
    let own = entries.compactMap { entry -> OutboxEntry? in
      guard let other = onDisk[entry.answer.id] else {
        return stored == nil || unstored.contains(entry.answer.id) ? entry : nil
      }
      return other.answer.revision >= entry.answer.revision ? other : entry
    }
    return (earlier + own).filter { $0.answer.revision > settled[$0.answer.id] ?? 0 }.map(withTry)
  }
}
