import Foundation

extension Card {
  /// Whether this version supports the card. A newer server may send unknown kinds, step types and conditions.
  public var canBeShown: Bool {
    kind == .question && !steps.isEmpty && steps.allSatisfy(\.canBeShown)
  }
}

/// Validation rules of a step, the same as on the server.
extension CardStep {
  private static let shown: Set<QuestionType> = [
    .nps, .csat, .ces, .rating, .thumbs, .singleChoice, .multiChoice, .text, .date, .consent, .statement,
  ]

  /// Longest comment, own text of a choice, and text without a limit of its own, in UTF-16 units, as browsers count. The server counts
  /// characters, so it never allows less.
  static let longestText = 5000

  private static let label = "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"

  /// As in HTML, but with a dot in the domain.
  private static let email =
    "[A-Za-z0-9_.!#$%&'*+/=?^`{|}~-]+@\(label)(\\.\(label))+"

  /// The server also accepts an address with user name and password or of IPv6, which no user has.
  private static let url = "(?i:https?)://[^\\s/?#:\\[\\]<>^|%\\\\]+(:([0-9]{1,4}|[1-5][0-9]{4}))?([/?#]\\S*)?"

  /// Whether this version supports the step; the server may be newer.
  var canBeShown: Bool {
    Self.shown.contains(type) && showIf != .unknown
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

  /// The title, marked as optional if the step may be skipped.
  func heading(_ texts: FeedbackTexts) -> String {
    required || type == .statement ? title : "\(title) (\(texts.optional))"
  }

  /// Value of a required step without input: an empty selection is an answer if the question accepts it.
  var emptyValue: AnswerValue? {
    required && type == .multiChoice && config.min == 0 ? .choice(.init(optionIds: [])) : nil
  }

  /// Validation message for a value; nil if valid. Values of later types are left to the server.
  func fault(of value: AnswerValue?, _ texts: FeedbackTexts) -> String? {
    guard let value else { return required && type != .statement ? texts.required : nil }
    switch (type, value) {
    case (.singleChoice, .choice(let choice)), (.multiChoice, .choice(let choice)): return fault(of: choice, texts)
    case (.text, .text(let text)): return fault(of: text, texts)
    case (.date, .text(let text)): return matches(text, "[0-9]{4}-[0-9]{2}-[0-9]{2}") ? nil : texts.required
    case (.thumbs, .flag), (.consent, .flag(true)): return nil
    case (_, .number(let number)) where scale?.contains(number) == true: return nil
    default: return Self.shown.contains(type) ? texts.required : nil
    }
  }

  private var maxLength: Int {
    config.maxLength ?? Self.longestText
  }

  /// Whether the text of a value is beyond its limit.
  func isTooLong(_ value: AnswerValue) -> Bool {
    switch value {
    case .text(let text): type == .text && text.utf16.count > maxLength
    case .choice(let choice): (choice.otherText ?? "").utf16.count > Self.longestText
    case .number, .flag: false
    }
  }

  private func fault(of choice: AnswerValue.Choice, _ texts: FeedbackTexts) -> String? {
    let isBlank = choice.otherText?.trimmingCharacters(in: .whitespacesAndNewlines).isEmpty ?? false
    if isBlank { return texts.otherText + "." }
    if isTooLong(.choice(choice)) { return texts.say(texts.tooLong, Self.longestText) }
    let ids = type == .multiChoice ? choice.optionIds ?? [] : [choice.optionId].compactMap { $0 }
    let isKnown = Set(ids).isSubset(of: Set((config.options ?? []).map(\.id))) && Set(ids).count == ids.count
    if !isKnown || (choice.otherText != nil && config.allowOther != true) { return texts.required }
    let count = ids.count + (choice.otherText == nil ? 0 : 1)
    if type == .singleChoice { return count == 1 ? nil : texts.required }
    if count < config.min ?? 1 { return texts.say(texts.chooseAtLeast, config.min ?? 1) }
    if let most = config.max, count > most { return texts.say(texts.chooseAtMost, most) }
    return nil
  }

  private func fault(of text: String, _ texts: FeedbackTexts) -> String? {
    if text.utf16.count < config.minLength ?? 0 { return texts.say(texts.tooShort, config.minLength ?? 0) }
    if isTooLong(.text(text)) { return texts.say(texts.tooLong, maxLength) }
    switch config.input {
    case "email": return matches(text, Self.email) ? nil : texts.email
    case "url": return matches(text, Self.url) ? nil : texts.url
    case "number": return matches(text, "-?[0-9]+([.,][0-9]+)?") ? nil : texts.number
    default: return nil
    }
  }

  private func matches(_ text: String, _ pattern: String) -> Bool {
    text.range(of: "^(?:\(pattern))$", options: .regularExpression) != nil
  }
}
