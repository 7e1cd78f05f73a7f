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
  let card: Card
  private let now: @Sendable () -> Date
  private let displayedAt: Date
  private var answer: NewAnswer
  private var entry = CardEntry()
  private var isOver = false
  private var isNew = true

  init(_ card: Card, now: @escaping @Sendable () -> Date, metadata: [String: String]) {
    self.card = card
    self.now = now
    displayedAt = now()
    answer = NewAnswer(to: card, id: newId(at: displayedAt))
    answer.displayedAt = displayedAt
    answer.metadata = metadata
  }

  /// Returns the revision to record for the current input; nil if unchanged.
  func note(_ entry: CardEntry) -> NewAnswer? {
    note(entry.isEmpty ? .seen : .partial, entry)
  }

  /// Returns the revision to record for a state; nil after `completed` and `dismissed`.
  func note(_ state: AnswerState, _ entry: CardEntry) -> NewAnswer? {
    if isOver || (!isNew && state == answer.state && entry == self.entry) { return nil }
    if !isNew { answer.revision += 1 }
    isNew = false
    isOver = state == .completed || state == .dismissed
    self.entry = entry
    fill(state, at: now())
    return answer
  }

  private func fill(_ state: AnswerState, at now: Date) {
    answer.state = state
    answer.values = entry.values
    answer.comment = entry.comment.isEmpty ? nil : entry.comment
    answer.answeredAt = state == .partial || state == .completed ? now : nil
    answer.durationMs = max(0, Int(now.timeIntervalSince(displayedAt) * 1000))
  }
}
