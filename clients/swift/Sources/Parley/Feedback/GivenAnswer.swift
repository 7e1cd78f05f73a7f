/// The answer to a card that a user has just ended in a feedback view.
public struct GivenAnswer: Sendable {
  public let card: Card
  /// `completed`; `partial` if the user left the card after answering its question, `dismissed` before that.
  public let state: AnswerState
  /// Values by step key; the question is `main`.
  public let values: [String: AnswerValue]
  public let comment: String?

  /// The value of the question.
  public var main: AnswerValue? {
    values["main"]
  }
}
