/// An open enumeration: values of newer servers are decoded and equal none of the known ones.
public protocol OpenText: RawRepresentable, Codable, Hashable, Sendable, ExpressibleByStringLiteral
where RawValue == String, StringLiteralType == String {
  init(rawValue: String)
}

extension OpenText {
  public init(stringLiteral value: String) {
    self.init(rawValue: value)
  }
}
