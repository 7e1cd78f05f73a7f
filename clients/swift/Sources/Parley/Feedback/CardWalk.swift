import Foundation

/// Position in the steps of a card.
public struct StepProgress: Equatable, Sendable {
  /// From 1.
  public let number: Int
  /// Number of steps that the current values show.
  public let count: Int

  /// Whether it is the last step.
  public var isLast: Bool {
    number == count
  }
}

/// The user's input in a card, valid or not, and the current step.
struct WalkState: Codable, Equatable, Sendable {
  var values: [String: AnswerValue] = [:]
  var comment = ""
  /// Key of the current step.
  var step: String
  /// Keys of the steps that the user has gone through.
  var passed: Set<String> = []

  /// Whether the user has neither entered anything nor gone on.
  var isUntouched: Bool {
    values.isEmpty && comment.isEmpty && passed.isEmpty
  }
}

/// The user's way through a card: the input in all steps, the steps that it shows, and the current one.
struct CardWalk {
  let card: Card
  /// Values of hidden steps are in it too: they return when their step does. Steps that the user has gone through without input
  /// have their empty value.
  private(set) var state: WalkState

  /// Starts at the first step, or where an earlier walk ended.
  init(_ card: Card, from state: WalkState? = nil) {
    self.card = card
    self.state = state ?? WalkState(step: card.steps.first?.key ?? "main")
  }

  /// Values as entered, valid or not.
  var values: [String: AnswerValue] {
    state.values
  }

  var comment: String {
    get { state.comment }
    set { state.comment = newValue }
  }

  /// The steps to show, in order.
  var steps: [CardStep] {
    visibleSteps(card.steps, valid(card.steps))
  }

  /// The current step. If a change has hidden it, the shown one before it.
  var step: CardStep? {
    let order = card.steps.map(\.key)
    let place = order.firstIndex(of: state.step) ?? 0
    return steps.last { order.prefix(place + 1).contains($0.key) }
  }

  var progress: StepProgress {
    let steps = steps
    return StepProgress(number: (steps.firstIndex { $0.key == step?.key } ?? 0) + 1, count: steps.count)
  }

  /// Whether all steps are statements, which are only acknowledged.
  var isStatement: Bool {
    card.steps.allSatisfy { $0.type == .statement }
  }

  /// Whether to ask for a comment: on the question, once its score is chosen.
  var asksForComment: Bool {
    guard let step, step.key == "main", step.isScored, let score = values["main"] else { return false }
    return step.fault(of: score, FeedbackTexts()) == nil
  }

  /// Title of the button that leads on.
  func submitText(_ texts: FeedbackTexts) -> String {
    if !progress.isLast { return texts.next }
    return isStatement ? texts.acknowledge : texts.send
  }

  /// Position for the user; nil if the card shows a single step.
  func progressText(_ texts: FeedbackTexts) -> String? {
    let progress = progress
    return progress.count == 1 ? nil : texts.say(texts.progress, progress.number, of: progress.count)
  }

  /// The content to record: the valid values of the steps that are shown, and the comment within its limit.
  var entry: CardEntry {
    CardEntry(values: valid(steps), comment: isCommentTooLong ? "" : trimmedComment)
  }

  private var trimmedComment: String {
    comment.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  private var isCommentTooLong: Bool {
    trimmedComment.utf16.count > CardStep.longestText
  }

  /// Whether a text of the current step is beyond its limit.
  var isTooLong: Bool {
    guard let step else { return false }
    return values[step.key].map(step.isTooLong) ?? false || (step.key == "main" && isCommentTooLong)
  }

  private func valid(_ steps: [CardStep]) -> [String: AnswerValue] {
    let pairs = steps.compactMap { step -> (String, AnswerValue)? in
      let value = values[step.key] ?? (state.passed.contains(step.key) ? step.emptyValue : nil)
      return value.flatMap { step.fault(of: $0, FeedbackTexts()) == nil ? (step.key, $0) : nil }
    }
    return Dictionary(uniqueKeysWithValues: pairs)
  }

  /// Sets or, with nil, removes a value.
  mutating func set(_ value: AnswerValue?, for key: String) {
    if case .text(let text) = value, card.step(key)?.config.input == "number" {
      state.values[key] = .text(plainNumber(text))
    } else {
      state.values[key] = value
    }
  }

  /// Returns the messages for the steps that are shown, by step key; empty if the card can be completed. That of the comment is
  /// under `main`.
  func faults(_ texts: FeedbackTexts) -> [String: String] {
    let faults = steps.map { step -> (String, String?) in
      let fault = step.fault(of: values[step.key] ?? step.emptyValue, texts)
      let isInComment = fault == nil && step.key == "main" && isCommentTooLong
      return (step.key, isInComment ? texts.say(texts.tooLong, CardStep.longestText) : fault)
    }
    return Dictionary(uniqueKeysWithValues: faults).compactMapValues { $0 }
  }

  /// Goes to the next step; nil after the last one, or if the current one has a fault.
  mutating func next() -> CardStep? {
    guard let step, faults(FeedbackTexts())[step.key] == nil else { return nil }
    state.passed.insert(step.key)
    return move(by: 1)
  }

  /// Goes to the previous step; nil at the first one. All values stay.
  mutating func back() -> CardStep? {
    move(by: -1)
  }

  /// Goes through all steps.
  mutating func passAll() {
    state.passed.formUnion(card.steps.map(\.key))
  }

  private mutating func move(by distance: Int) -> CardStep? {
    let (steps, index) = (steps, progress.number - 1 + distance)
    guard steps.indices.contains(index) else { return nil }
    state.step = steps[index].key
    return steps[index]
  }
}

extension Card {
  func step(_ key: String) -> CardStep? {
    steps.first { $0.key == key }
  }
}
