import Foundation

/// State of an answer. `completed` is final.
public enum AnswerState: String, Codable, Sendable {
  case seen, dismissed, partial, completed
}

/// Value of one step of a card.
public enum AnswerValue: Equatable, Sendable {
  case number(Int)
  case flag(Bool)
  case text(String)
  case choice(Choice)

  public struct Choice: Codable, Equatable, Sendable {
    public var optionId: String?
    public var optionIds: [String]?
    public var otherText: String?

    public init(optionId: String? = nil, optionIds: [String]? = nil, otherText: String? = nil) {
      self.optionId = optionId
      self.optionIds = optionIds
      self.otherText = otherText
    }
  }
}

extension AnswerValue: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let flag = try? container.decode(Bool.self) {
      self = .flag(flag)
    } else if let number = try? container.decode(Int.self) {
      self = .number(number)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else {
      self = .choice(try container.decode(Choice.self))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .number(let number): try container.encode(number)
    case .flag(let flag): try container.encode(flag)
    case .text(let text): try container.encode(text)
    case .choice(let choice): try container.encode(choice)
    }
  }
}

/// A stored answer. Public tokens receive only `id` and `state`.
public struct Answer: Decodable, Equatable, Sendable {
  public let id: String
  public let state: AnswerState
  public let revision: Int?
  public let questionId: String?
  public let questionVersion: Int?
  public let values: [String: AnswerValue]?
  public let comment: String?
  public let displayedAt: Date?
  public let answeredAt: Date?
  public let receivedAt: Date?
  public let storedAt: Date?
}
