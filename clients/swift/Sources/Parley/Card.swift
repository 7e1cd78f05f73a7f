import Foundation

/// A question as shown to one user.
public struct Card: Equatable, Sendable, Identifiable {
  public struct Kind: OpenText {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public static let question: Self = "question"
  }

  public let id: String
  public let questionId: String
  public let questionVersion: Int
  public let kind: Kind
  /// The inputs; the first step, `main`, is the question.
  public let steps: [CardStep]
  public let locale: String
  public let priority: Int
  public let expiresAt: Date?
  /// Shown after the answer; nil: the view's own text.
  public let thanks: Thanks?
  /// The question's placement, as the server sent it; nil: that of the tenant. `placement(in:)` returns the place of the card.
  public let placement: Placement?
  /// nil: shown at once. Only lists with `CardQuery.triggers` have others.
  public let trigger: Trigger?
  /// Whether the tenant's cooldown applies: show one such card per fetch.
  public let inCooldown: Bool
  /// The user it was fetched for. Card ids are unique per user.
  var owner: Owner?
  /// Its JSON, of which a draft is kept.
  var source: String?
}

extension Card: Decodable {
  private enum CodingKeys: CodingKey {
    case id, questionId, questionVersion, kind, steps, locale, priority, expiresAt, thanks, placement, trigger, inCooldown
  }

  public init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    id = try members.decode(String.self, forKey: .id)
    questionId = try members.decode(String.self, forKey: .questionId)
    questionVersion = try members.decode(Int.self, forKey: .questionVersion)
    kind = try members.decode(Kind.self, forKey: .kind)
    steps = try members.decode([CardStep].self, forKey: .steps)
    locale = try members.decode(String.self, forKey: .locale)
    priority = try members.decode(Int.self, forKey: .priority)
    expiresAt = try members.decodeIfPresent(Date.self, forKey: .expiresAt)
    thanks = members.readable(.thanks)
    placement = members.readable(.placement)
    let isTriggered = try members.contains(.trigger) && !members.decodeNil(forKey: .trigger)
    trigger = isTriggered ? members.readable(.trigger) ?? .unknown : nil
    inCooldown = try members.decodeIfPresent(Bool.self, forKey: .inCooldown) ?? false
  }
}

/// One input of a card.
public struct CardStep: Decodable, Equatable, Sendable {
  public let key: String
  public let type: QuestionType
  public let title: String
  public let description: String
  public let config: QuestionConfig
  public let required: Bool
  /// nil: always shown.
  public let showIf: ShowIf?
}

public struct QuestionType: OpenText {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  /// 0…10.
  public static let nps: Self = "nps"
  /// 1…5.
  public static let csat: Self = "csat"
  /// 1…`scale`, as is `rating`.
  public static let ces: Self = "ces"
  public static let rating: Self = "rating"
  public static let thumbs: Self = "thumbs"
  public static let singleChoice: Self = "single_choice"
  public static let multiChoice: Self = "multi_choice"
  public static let text: Self = "text"
  /// `YYYY-MM-DD`.
  public static let date: Self = "date"
  public static let consent: Self = "consent"
  /// Has no input.
  public static let statement: Self = "statement"
}

/// Config of a question; its members depend on the type.
public struct QuestionConfig: Decodable, Equatable, Sendable {
  public struct Labels: Decodable, Equatable, Sendable {
    public let low: String?
    public let high: String?
  }
  public struct Option: Decodable, Equatable, Sendable {
    public let id: String
    public let label: String
  }

  public let scale: Int?
  public let style: String?
  public let labels: Labels?
  public let options: [Option]?
  public let allowOther: Bool?
  public let shuffle: Bool?
  public let min: Int?
  public let max: Int?
  public let minLength: Int?
  public let maxLength: Int?
  public let input: String?
  public let url: String?
}
