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
  private let now: @Sendable () -> Date
  private var displayedAt: Date
  private var answer: NewAnswer
  private var entry = CardEntry()
  private var isOver = false
  private var isNew = true
  private(set) var isSeen = false

  init(_ card: Card, now: @escaping @Sendable () -> Date, metadata: [String: String]) {
    self.card = card
    self.now = now
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

  /// Returns the revision to record for a state; nil after `completed` and `dismissed`.
  func note(_ state: AnswerState, _ entry: CardEntry) -> NewAnswer? {
    if isOver || (!isNew && state == answer.state && entry == self.entry) { return nil }
    if !isNew { answer.revision += 1 }
    isNew = false
    isSeen = true
    isOver = state == .completed || state == .dismissed
    self.entry = entry
    fill(state, at: now())
    return answer
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
