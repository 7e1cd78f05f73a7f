import Foundation

/// When a step is shown: if one condition holds, or all or any of several.
public enum ShowIf: Equatable, Sendable {
  case one(Condition)
  case all([Condition])
  case any([Condition])
  /// A form or an operator of a later server. Views do not show cards with it.
  case unknown
}

/// Compares the value of an earlier step.
public struct Condition: Equatable, Sendable {
  public enum Operator: String, Codable, Sendable {
    case answered
    case notAnswered = "not_answered"
    case eq, ne, lt, lte, gt, gte
    case `in`
    case containsAny = "contains_any"
    case containsAll = "contains_all"
  }

  /// A value; a text may be the id of an option.
  public typealias Operand = Attribute

  public let step: String
  public let op: Operator
  /// Empty for `answered` and `notAnswered`; several for `in`, `containsAny` and `containsAll`.
  public let operands: [Operand]
  /// Whether the value is a list, which only `in`, `containsAny` and `containsAll` compare with.
  let isList: Bool
}

extension ShowIf: Decodable {
  public init(from decoder: any Decoder) {
    self = (try? ShowIf(known: decoder)) ?? .unknown
  }

  private init(known decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: MemberName.self)
    switch members.allKeys.map(\.stringValue) {
    case ["all"]: self = .all(try members.decode([Condition].self, forKey: "all"))
    case ["any"]: self = .any(try members.decode([Condition].self, forKey: "any"))
    default: self = .one(try Condition(from: decoder))
    }
  }
}

extension Condition: Decodable {
  /// Throws for members, operators and operands that this version does not know.
  public init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: MemberName.self)
    let others = Set(members.allKeys.map(\.stringValue)).subtracting(["step", "op", "value"])
    if let other = others.first {
      throw DecodingError.dataCorruptedError(forKey: MemberName(stringLiteral: other), in: members, debugDescription: "unknown")
    }
    step = try members.decode(String.self, forKey: "step")
    op = try members.decode(Operator.self, forKey: "op")
    if let list = try? members.decode([Operand].self, forKey: "value") {
      operands = list
      isList = true
    } else {
      isList = false
      operands = members.contains("value") ? [try members.decode(Operand.self, forKey: "value")] : []
    }
  }
}

/// Any member of an object.
private struct MemberName: CodingKey, ExpressibleByStringLiteral {
  let stringValue: String
  var intValue: Int? { nil }

  init(stringLiteral value: String) {
    stringValue = value
  }

  init?(stringValue: String) {
    self.stringValue = stringValue
  }

  init?(intValue _: Int) {
    nil
  }
}
