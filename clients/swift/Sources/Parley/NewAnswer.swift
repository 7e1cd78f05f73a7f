import Foundation

/// Complete record of one card view. Each sync sends the whole record; the highest revision wins.
public struct NewAnswer: Codable, Equatable, Sendable, Identifiable {
  /// Client-generated, so that retries are safe.
  public var id: String
  /// Incremented with each recorded change.
  public var revision = 1
  public let cardId: String
  public let questionId: String
  public let questionVersion: Int
  public var state = AnswerState.seen
  /// Values by step key; the question is `main`.
  public var values: [String: AnswerValue]?
  public var comment: String?
  public var displayedAt: Date?
  public var answeredAt: Date?
  public var durationMs: Int?
  /// `platform`, `os_version`, `app_version`, `sdk`, `device_model`, `locale`, `screen`, and at most 18 of your own.
  public var metadata: [String: String]?
  /// The user the card was fetched for; the current user if unknown.
  var owner: Owner?

  /// Creates an answer to a card displayed now.
  public init(to card: Card, id: String = newId()) {
    self.id = id
    cardId = card.id
    questionId = card.questionId
    questionVersion = card.questionVersion
    owner = card.owner
  }

  private enum CodingKeys: CodingKey {
    case id, revision, cardId, questionId, questionVersion, state, values, comment
    case displayedAt, answeredAt, durationMs, metadata
  }
}

/// Request body of a sync.
struct NewAnswers: Encodable {
  /// The device's clock, used by the server to correct times.
  var clientTime: Date?
  let answers: [NewAnswer]
}

/// Result of each item of a sync.
struct Receipts: Decodable {
  struct Receipt: Decodable {
    struct Status: OpenText {
      let rawValue: String
      static let accepted: Self = "accepted"
      static let duplicate: Self = "duplicate"
      static let superseded: Self = "superseded"
      static let rejected: Self = "rejected"
    }
    let id: String?
    let status: Status
    let code: String?
  }
  let results: [Receipt]
}
