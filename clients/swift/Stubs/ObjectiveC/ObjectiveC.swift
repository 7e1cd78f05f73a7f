/// Name of a method.
public struct Selector: Hashable, Sendable, ExpressibleByStringLiteral {
  public init(stringLiteral _: String) {}
  public init(_: String) {}
}
