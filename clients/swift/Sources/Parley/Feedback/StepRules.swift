import Foundation

/// Validation rules of a step, the same as on the server.
extension CardStep {
  private static let shown: Set<QuestionType> = [
    .nps, .csat, .ces, .rating, .thumbs, .singleChoice, .multiChoice, .text, .date, .consent, .statement,
  ]

  private static let email =
    "(?!\\.)(?!.*\\.\\.)[A-Za-z0-9_'+.-]*[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9-]*\\.)+[A-Za-z]{2,}"

  /// Whether this version supports the step; the server may be newer.
  var canBeShown: Bool {
    Self.shown.contains(type) && showIf == nil
  }

  /// Values of a scale; nil for other types.
  var scale: ClosedRange<Int>? {
    switch type {
    case .nps: 0...10
    case .csat: 1...5
    case .ces: 1...max(2, config.scale ?? 7)
    case .rating: 1...max(2, config.scale ?? 5)
    default: nil
    }
  }

  /// Whether the card allows a comment.
  var isScored: Bool {
    scale != nil || type == .thumbs
  }

  /// Validation message for a value; nil if valid.
  func fault(of value: AnswerValue?, _ texts: FeedbackTexts) -> String? {
    switch value {
    case nil: required && type != .statement ? texts.required : nil
    case .choice(let choice): fault(of: choice, texts)
    case .text(let text) where type == .text: fault(of: text, texts)
    default: nil
    }
  }

  private func fault(of choice: AnswerValue.Choice, _ texts: FeedbackTexts) -> String? {
    let isBlank = choice.otherText?.trimmingCharacters(in: .whitespacesAndNewlines).isEmpty ?? false
    if isBlank { return texts.otherText + "." }
    guard type == .multiChoice else { return nil }
    let count = (choice.optionIds?.count ?? 0) + (choice.otherText == nil ? 0 : 1)
    if count < config.min ?? 1 { return texts.say(texts.chooseAtLeast, config.min ?? 1) }
    if let most = config.max, count > most { return texts.say(texts.chooseAtMost, most) }
    return nil
  }

  private func fault(of text: String, _ texts: FeedbackTexts) -> String? {
    if text.utf16.count < config.minLength ?? 0 { return texts.say(texts.tooShort, config.minLength ?? 0) }
    switch config.input {
    case "email": return matches(text, Self.email) ? nil : texts.email
    case "url": return matches(text, "[A-Za-z][A-Za-z0-9+.-]*://[^\\s/]+\\S*") ? nil : texts.url
    case "number": return matches(text, "-?[0-9]+([.,][0-9]+)?") ? nil : texts.number
    default: return nil
    }
  }

  private func matches(_ text: String, _ pattern: String) -> Bool {
    text.range(of: "^(?:\(pattern))$", options: .regularExpression) != nil
  }
}
