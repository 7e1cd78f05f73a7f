import Foundation

/// An answer that is not finished, on this device.
struct StoredDraft: Codable, Sendable {
  /// How long it is continued after its last change.
  static let life: TimeInterval = 15 * 60

  let owner: Owner
  /// The card as received: the list no longer has it once a part of its answer is stored.
  let card: String
  let answer: NewAnswer
  /// Whether no revision was recorded.
  let isNew: Bool
  let walk: WalkState
  let savedAt: Date

  /// Returns the card, unless it has expired or the draft is too old.
  func liveCard(at now: Date) -> Card? {
    guard abs(now.timeIntervalSince(savedAt)) < Self.life, var card = CardList.card(card) else { return nil }
    if card.expiresAt.map({ $0 <= now }) ?? false { return nil }
    card.owner = owner
    return card
  }
}

/// The unfinished answers of the views on this device, so that a card is shown again where it was left. One view at a time holds a draft.
///
/// A file that cannot be read or written leaves them in memory.
final class DraftStore: Sendable {
  private struct State {
    var drafts: [StoredDraft]
    /// Views by the id of the card whose draft they hold.
    var holders: [String: ObjectIdentifier] = [:]
  }

  private let file: URL
  // Disk I/O must not block the main thread.
  private let queue = DispatchQueue(label: "parley.drafts")
  private let state: Guarded<State>

  init(file: URL) {
    self.file = file
    let stored = (try? Data(contentsOf: file)).flatMap { try? JSON.decoder.decode([StoredDraft].self, from: $0) }
    state = Guarded(State(drafts: stored ?? []))
  }

  /// Claims the card for a view; false if another view holds it.
  func hold(_ cardId: String, by view: ObjectIdentifier) -> Bool {
    state.use { state in
      if let holder = state.holders[cardId] { return holder == view }
      state.holders[cardId] = view
      return true
    }
  }

  /// Whether another view holds the draft of a card.
  func isHeld(_ cardId: String, byOtherThan view: ObjectIdentifier) -> Bool {
    state.use { $0.holders[cardId].map { $0 != view } ?? false }
  }

  /// Lets other views have the drafts that a view holds.
  func release(by view: ObjectIdentifier) {
    state.use { state in state.holders = state.holders.filter { $0.value != view } }
  }

  /// Keeps a draft in memory; `write` stores it.
  func keep(_ draft: StoredDraft) {
    state.use { state in
      state.drafts.removeAll { $0.answer.cardId == draft.answer.cardId }
      state.drafts.append(draft)
    }
  }

  /// Removes the draft of a card.
  func remove(_ cardId: String) {
    state.use { $0.drafts.removeAll { $0.answer.cardId == cardId } }
    Task { await write() }
  }

  /// Removes all drafts: the user has changed.
  func removeAll() {
    state.use { $0.drafts = [] }
    Task { await write() }
  }

  /// Claims the user's latest draft whose card the view accepts. Drafts that are over are dropped.
  func take(of owner: Owner, at now: Date, by view: ObjectIdentifier, accepting accepts: (Card) -> Bool) -> (StoredDraft, Card)? {
    let drafts = state.use { state in
      state.drafts = state.drafts.filter { $0.liveCard(at: now) != nil }
      return state.drafts
    }
    for draft in drafts.reversed() where draft.owner.isSame(as: owner) {
      guard let card = draft.liveCard(at: now), accepts(card), hold(card.id, by: view) else { continue }
      return (draft, card)
    }
    return nil
  }

  /// Writes the present drafts. Await it before recording a revision: after a kill, a draft with an older one would contradict the answer.
  func write() async {
    await withCheckedContinuation { done in
      queue.async { [file, state] in
        try? JSON.encoder.encode(state.use { $0.drafts }).write(to: file, options: .atomic)
        done.resume()
      }
    }
  }
}
