/// One of a list of words that may grow: a word of a later server is read, and equals none that is known here.
public protocol OpenText: RawRepresentable, Codable, Hashable, Sendable, ExpressibleByStringLiteral
where RawValue == String, StringLiteralType == String {
  init(rawValue: String)
}

extension OpenText {
  public init(stringLiteral value: String) {
    self.init(rawValue: value)
  }
}
