import Foundation

/// The user's input in a card.
struct CardEntry: Equatable, Sendable {
  var values: [String: AnswerValue] = [:]
  var comment = ""

  var isEmpty: Bool {
    values.isEmpty && comment.isEmpty
  }
}

/// The answer to a displayed card.
@MainActor
final class Draft {
  /// Longest duration that servers accept, 25 days: an app may stay open for longer, or its clock may jump.
  private static let longestMs = 2_147_483_647.0

  let card: Card
  /// The input with which the card was left unfinished; nil for a new answer.
  let walk: WalkState?
  private let now: @Sendable () -> Date
  private var displayedAt: Date
  private var answer: NewAnswer
  private var entry = CardEntry()
  private var isOver = false
  private var isNew = true
  private(set) var isSeen = false
  /// Whether the user has begun to answer.
  var isTouched = false

  /// Continues an answer that was left unfinished.
  init(_ stored: StoredDraft, to card: Card, now: @escaping @Sendable () -> Date) {
    self.card = card
    self.now = now
    walk = stored.walk
    answer = stored.answer
    answer.owner = stored.owner
    displayedAt = stored.answer.displayedAt ?? now()
    entry = CardEntry(values: answer.values ?? [:], comment: answer.comment ?? "")
    isNew = stored.isNew
    isSeen = !isNew
    isTouched = true
  }

  init(_ card: Card, now: @escaping @Sendable () -> Date, metadata: [String: String]) {
    self.card = card
    self.now = now
    walk = nil
    displayedAt = now()
    answer = NewAnswer(to: card, id: newId(at: displayedAt))
    answer.metadata = metadata.merging(["card_locale": card.locale]) { _, locale in locale }
    if let trigger = card.trigger { answer.metadata?["trigger"] = trigger.cause }
  }

  /// Returns the revision to record when the user has seen the card; nil if that is recorded already.
  func markSeen(since: Date? = nil) -> NewAnswer? {
    if isSeen || isOver { return nil }
    isSeen = true
    if isNew { displayedAt = since ?? now() }
    return isNew ? note(.seen, entry) : nil
  }

  /// Returns the revision to record for the current input; nil if unchanged, or if a card without input is not seen yet.
  func note(_ entry: CardEntry) -> NewAnswer? {
    if entry.isEmpty && isNew && !isSeen { return nil }
    return note(entry.isEmpty ? .seen : .partial, entry)
  }

  /// Returns the revision to record for a state; nil if unchanged, and after `completed` and `dismissed`. With a value of the question,
  /// `dismissed` is recorded as `partial`, so that the score counts.
  func note(_ end: AnswerState, _ entry: CardEntry) -> NewAnswer? {
    if isOver { return nil }
    isTouched = isTouched || !entry.isEmpty
    isOver = end == .completed || end == .dismissed
    let state = end == .dismissed && entry.values["main"] != nil ? .partial : end
    if !isNew && state == answer.state && entry == self.entry { return nil }
    if !isNew { answer.revision += 1 }
    isNew = false
    isSeen = true
    self.entry = entry
    fill(state, at: now())
    return answer
  }

  /// The answer as recorded last, for the app.
  var given: GivenAnswer {
    GivenAnswer(card: card, state: answer.state, values: answer.values ?? [:], comment: answer.comment)
  }

  /// Returns the draft to keep on the device; nil for a card that this client has not fetched.
  func stored(_ walk: WalkState) -> StoredDraft? {
    guard let owner = card.owner, let source = card.source else { return nil }
    return StoredDraft(owner: owner, card: source, answer: answer, isNew: isNew, walk: walk, savedAt: now())
  }

  private func fill(_ state: AnswerState, at now: Date) {
    answer.state = state
    answer.displayedAt = displayedAt
    answer.values = entry.values
    answer.comment = entry.comment.isEmpty ? nil : entry.comment
    answer.answeredAt = state == .partial || state == .completed ? now : nil
    answer.durationMs = Int(min(max(0, now.timeIntervalSince(displayedAt) * 1000), Self.longestMs))
  }
}
