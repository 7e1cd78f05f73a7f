import Foundation

/// Occurrence on the device that shows a card: an event, or, with `url` only, the display of a page or screen.
public struct Trigger: Equatable, Sendable {
  public struct Location: Decodable, Equatable, Sendable {
    /// `eq`, `contains`, `starts_with` or `ends_with`.
    public let op: String
    public let value: String
  }

  public let event: String?
  /// CSS selector of a click, which occurs on the web only.
  public let click: String?
  /// All of them must hold for the event.
  public let conditions: [PropertyCondition]
  public let url: Location?
  /// The card is shown the n-th time.
  public let count: Int
  /// Seconds between the last event and the card.
  public let delayS: Int
  /// Events that cancel the card during the delay.
  public let cancelOn: [String]
}

/// Compares a property of an event.
public struct PropertyCondition: Equatable, Sendable {
  public let property: String
  /// `eq ne in not_in lt lte gt gte contains starts_with ends_with set not_set`; a later server may have others.
  public let op: String
  /// Several for `in` and `not_in`.
  public let operands: [Attribute]
}

extension PropertyCondition: Decodable {
  private enum CodingKeys: CodingKey {
    case property, op, value
  }

  public init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    property = try members.decode(String.self, forKey: .property)
    op = try members.decode(String.self, forKey: .op)
    if let list = try? members.decode([Attribute].self, forKey: .value) {
      operands = list
    } else {
      operands = try members.decodeIfPresent(Attribute.self, forKey: .value).map { [$0] } ?? []
    }
  }
}

extension Trigger: Decodable {
  private enum CodingKeys: String, CodingKey {
    case event, click
    case conditions = "where"
    case url, count, delayS, cancelOn
  }

  public init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    event = try members.decodeIfPresent(String.self, forKey: .event)
    click = try members.decodeIfPresent(String.self, forKey: .click)
    conditions = try members.decodeIfPresent([PropertyCondition].self, forKey: .conditions) ?? []
    url = try members.decodeIfPresent(Location.self, forKey: .url)
    count = try members.decodeIfPresent(Int.self, forKey: .count) ?? 1
    delayS = try members.decodeIfPresent(Int.self, forKey: .delayS) ?? 0
    cancelOn = try members.decodeIfPresent([String].self, forKey: .cancelOn) ?? []
  }

  /// A form of a later server: it does not occur.
  static let unknown = Trigger(
    event: nil, click: "", conditions: [], url: nil, count: 1, delayS: 0, cancelOn: [])

  /// The cause of the display, stored with the answer.
  var cause: String {
    let cause = event ?? click.map { "click: \($0)" } ?? "url: \(url?.value ?? "")"
    return String(cause.prefix(256))
  }

  func isMet(by properties: [String: Attribute]) -> Bool {
    conditions.allSatisfy { $0.holds(for: properties[$0.property]) }
  }

  func isOn(page: String) -> Bool {
    url.map { compareTexts($0.op, page, $0.value) ?? ($0.op == "eq" && page == $0.value) } ?? true
  }
}

extension Card {
  /// Whether the card may be shown on a page.
  func isOn(_ page: String) -> Bool {
    trigger?.isOn(page: page) ?? true
  }
}

extension PropertyCondition {
  /// Types are not converted; a missing value meets only `not_set`.
  func holds(for given: Attribute?) -> Bool {
    guard let given else { return op == "not_set" }
    switch op {
    case "set": return true
    case "eq": return operands.first == given
    case "ne": return operands.first.map { given.hasType(of: $0) && given != $0 } ?? false
    case "in": return operands.contains(given)
    case "not_in": return operands.first.map { given.hasType(of: $0) && !operands.contains(given) } ?? false
    default: return operands.first.map { compares(given, $0) } ?? false
    }
  }

  private func compares(_ given: Attribute, _ wanted: Attribute) -> Bool {
    if case (.text(let given), .text(let wanted)) = (given, wanted) { return compareTexts(op, given, wanted) ?? false }
    guard case (.number(let given), .number(let wanted)) = (given, wanted) else { return false }
    switch op {
    case "lt": return given < wanted
    case "lte": return given <= wanted
    case "gt": return given > wanted
    case "gte": return given >= wanted
    default: return false
    }
  }
}

extension Attribute {
  fileprivate func hasType(of other: Attribute) -> Bool {
    switch (self, other) {
    case (.text, .text), (.number, .number), (.flag, .flag): return true
    default: return false
    }
  }
}

/// Searches a text; nil for other operators.
private func compareTexts(_ op: String, _ given: String, _ wanted: String) -> Bool? {
  switch op {
  case "contains": return wanted.isEmpty || given.range(of: wanted, options: .literal) != nil
  case "starts_with": return given.hasPrefix(wanted)
  case "ends_with": return given.hasSuffix(wanted)
  default: return nil
  }
}
