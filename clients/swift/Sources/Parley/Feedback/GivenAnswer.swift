/// The answer that a user has just completed or dismissed in a feedback view.
public struct GivenAnswer: Sendable {
  public let card: Card
  /// `completed` or `dismissed`.
  public let state: AnswerState
  /// Values by step key; the question is `main`.
  public let values: [String: AnswerValue]
  public let comment: String?

  /// The value of the question.
  public var main: AnswerValue? {
    values["main"]
  }
}
