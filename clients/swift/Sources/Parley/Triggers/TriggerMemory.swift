import Foundation

/// What survives a restart of the app: the last list of cards, its user, and the counts.
struct Remembered: Codable, Sendable {
  var owner: Owner?
  /// The response with the cards, as received.
  var list: String?
  var counts: [TriggerDeck.Count] = []

  var cards: [Card] {
    let body = Data((list ?? "").utf8)
    return (try? JSON.decoder.decode(CardList.self, from: body))?.cards(of: owner, in: body) ?? []
  }
}

/// Keeps the state of triggers in a file; a file that cannot be read or written leaves it in memory.
final class TriggerMemory: Sendable {
  private let file: URL
  // Disk I/O must not block the caller of `track`, usually the main thread.
  private let queue = DispatchQueue(label: "parley.triggers")

  init(file: URL) {
    self.file = file
  }

  func read() -> Remembered {
    (try? Data(contentsOf: file)).flatMap { try? JSONDecoder().decode(Remembered.self, from: $0) } ?? Remembered()
  }

  /// Writes in the background, in order.
  func write(_ state: Remembered) {
    queue.async { [file] in
      try? JSONEncoder().encode(state).write(to: file, options: .atomic)
    }
  }

  /// Waits for the writes.
  func settle() {
    queue.sync {}
  }
}
