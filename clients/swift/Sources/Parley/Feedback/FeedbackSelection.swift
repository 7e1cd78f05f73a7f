/// Which of the user's cards a view shows.
public enum FeedbackSelection: Equatable, Sendable {
  /// All. Those of questions that are placed behind a feedback button come last.
  case all
  /// Those of questions that are not placed behind a feedback button, for an app that has one.
  case exceptButtons
  /// Those of one question, such as behind a feedback button.
  case question(String)

  /// Whether the view can show a card.
  func accepts(_ card: Card) -> Bool {
    card.canBeShown && !cards(of: [card]).isEmpty
  }

  func cards(of cards: [Card]) -> [Card] {
    let isButton = { (card: Card) in card.placement == .button }
    return switch self {
    case .all: cards.filter { !isButton($0) } + cards.filter(isButton)
    case .exceptButtons: cards.filter { !isButton($0) }
    case .question(let id): cards.filter { $0.questionId == id }
    }
  }
}
