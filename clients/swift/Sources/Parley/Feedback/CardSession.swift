import Foundation

/// One display of a card in an interface of your own. It counts revisions, and saves each change to disk.
///
/// Call `markSeen` when the user sees the card, `set` for each input, and `complete` or `dismiss` at the end. A card with
/// several steps is shown as a whole (`steps`) or step by step (`step`, `next`, `back`). Errors are those of `ParleyClient.record`.
@MainActor
public final class CardSession {
  public let card: Card
  private var walk: CardWalk
  private let client: ParleyClient
  private let draft: Draft
  private let metadata: [String: String]

  /// Starts a session; `metadata` is that of `NewAnswer`, with at most 18 fields of your own: more are refused by the first
  /// change, with `invalidArgument`. Check `card.canBeShown` before: a newer server may send unknown steps.
  public init(_ card: Card, client: ParleyClient, metadata: [String: String] = [:]) {
    self.card = card
    self.client = client
    self.metadata = metadata
    walk = CardWalk(card)
    draft = Draft(card, now: client.connection.wire.now, metadata: metadata)
  }

  /// Values as set, by step key. Only the valid values of shown steps are recorded.
  public var values: [String: AnswerValue] {
    walk.values
  }

  public var comment: String {
    walk.comment
  }

  /// The steps that the current values show, in order. They may change with each `set`.
  public var steps: [CardStep] {
    walk.steps
  }

  /// The current step of an interface that shows one after another; nil for a card without steps.
  public var step: CardStep? {
    walk.step
  }

  /// The position of the current step among the shown ones.
  public var progress: StepProgress {
    walk.progress
  }

  /// Records that the user has seen the card. Without it, response rates are too high.
  public func markSeen() async throws {
    try await record(draft.markSeen())
  }

  /// Sets or, with nil, removes the value of a step and records it. Throws `invalidArgument` for an unknown step.
  public func set(_ value: AnswerValue?, for step: String = "main") async throws {
    if card.step(step) == nil { throw ParleyError(.invalidArgument, "The card has no step \"\(step)\".") }
    walk.set(value, for: step)
    try await record(draft.note(walk.entry))
  }

  /// Sets the comment and records it.
  public func set(comment: String) async throws {
    walk.comment = comment
    try await record(draft.note(walk.entry))
  }

  /// Goes to the next step, records it, and returns it; nil after the last one: then complete the card. Throws
  /// `invalidArgument` if the value of the current step is missing or invalid.
  @discardableResult
  public func next() async throws -> CardStep? {
    if let step, let message = validate()[step.key] { throw ParleyError(.invalidArgument, "\(step.key): \(message)") }
    let next = walk.next()
    try await record(draft.note(walk.entry))
    return next
  }

  /// Goes to the previous step and returns it; nil at the first one. All values stay.
  @discardableResult
  public func back() -> CardStep? {
    walk.back()
  }

  /// Returns the messages for missing and invalid values of the shown steps, by step key; empty if the card can be completed. That of a
  /// comment is under `main`.
  public func validate(_ texts: FeedbackTexts = FeedbackTexts()) -> [String: String] {
    walk.faults(texts)
  }

  /// Completes the card and sends the answer. Throws `invalidArgument` if `validate` returns messages.
  public func complete() async throws {
    walk.passAll()
    if let (step, message) = validate().first { throw ParleyError(.invalidArgument, "\(step): \(message)") }
    try await finish(draft.note(.completed, walk.entry))
  }

  /// Ends the card and sends that: as `partial` if the question has a value, otherwise as `dismissed`.
  public func dismiss() async throws {
    try await finish(draft.note(.dismissed, walk.entry))
  }

  /// Records and sends; an answer that the disk refused is sent from memory.
  private func finish(_ answer: NewAnswer?) async throws {
    var refusal: ParleyError?
    do { try await record(answer) } catch let error as ParleyError where error.kind == .storageFailed { refusal = error }
    let outcome = try await client.flush()
    if let refusal, outcome != .done { throw refusal }
  }

  private func record(_ answer: NewAnswer?) async throws {
    if let fault = contextFault(in: metadata) { throw ParleyError(.invalidArgument, fault) }
    if let answer { try await client.record(answer) }
  }
}
