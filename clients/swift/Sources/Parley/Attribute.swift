import Foundation

/// An attribute value, such as a plan or a number of seats. Can be written as a literal: `["plan": "team", "seats": 5]`.
public enum Attribute: Equatable, Sendable {
  /// At most 256 characters.
  case text(String)
  case number(Double)
  case flag(Bool)
}

extension Attribute: ExpressibleByStringLiteral, ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByBooleanLiteral
{
  public init(stringLiteral value: String) { self = .text(value) }
  public init(floatLiteral value: Double) { self = .number(value) }
  public init(integerLiteral value: Int) { self = .number(Double(value)) }
  public init(booleanLiteral value: Bool) { self = .flag(value) }
}

extension Attribute: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let flag = try? container.decode(Bool.self) {
      self = .flag(flag)
    } else if let number = try? container.decode(Double.self) {
      self = .number(number)
    } else {
      self = .text(try container.decode(String.self))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .text(let text): try container.encode(text)
    case .number(let number): try container.encode(number)
    case .flag(let flag): try container.encode(flag)
    }
  }
}

/// Attributes by name.
struct Attributes<Value: Codable>: Codable {
  let attributes: [String: Value]
}
