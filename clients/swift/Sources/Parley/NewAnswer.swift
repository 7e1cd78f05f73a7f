import Foundation

/// The record of one card view, whole: each sync carries everything, and the highest revision wins.
public struct NewAnswer: Codable, Equatable, Sendable, Identifiable {
  /// Made by the client, so that it can be sent again without doubt.
  public var id: String
  /// Grows by one with each change that is recorded.
  public var revision = 1
  public let cardId: String
  public let questionId: String
  public let questionVersion: Int
  public var state = AnswerState.seen
  /// By step; the question itself is `main`.
  public var values: [String: AnswerValue]?
  public var comment: String?
  public var displayedAt: Date?
  public var answeredAt: Date?
  public var durationMs: Int?
  /// `platform`, `os_version`, `app_version`, `sdk`, `device_model`, `locale`, `screen`, and at most 20 of your own.
  public var metadata: [String: String]?
  /// Of whom the card was fetched; the present user where unknown.
  var owner: Owner?

  /// An answer to a card, first seen just now.
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

/// The body of a sync.
struct NewAnswers: Encodable {
  /// The device's clock, by which the server corrects its times.
  var clientTime: Date?
  let answers: [NewAnswer]
}

/// What became of each item of a sync.
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
