import Foundation

/// How the tenant's cards look. Fields that are absent or not understood have the value of `init()`, so older and newer
/// servers do no harm.
public struct Appearance: Equatable, Sendable {
  public struct Theme: OpenText {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Follows the system, as does any value of a newer server.
    public static let auto: Self = "auto"
    public static let light: Self = "light"
    public static let dark: Self = "dark"
    /// Follows the background of the app around the card.
    public static let page: Self = "page"
  }

  public struct Font: OpenText {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The font of the app.
    public static let inherit: Self = "inherit"
    public static let system: Self = "system"
  }

  public var theme = Theme.auto
  /// Chosen values and the main button; nil: the view's own color, as the other two.
  public var accent: RGB?
  public var background: RGB?
  public var text: RGB?
  /// Radius of corners in points, 0…24; nil: the view's own.
  public var radius: Double?
  public var font = Font.inherit
  public var placement = Placement.inline

  /// The appearance without settings of the tenant.
  public init() {}
}

/// Where a card appears. The app decides on it: `FeedbackView` is inline wherever the app places it.
public struct Placement: OpenText {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public static let inline: Self = "inline"
  public static let modal: Self = "modal"
  /// Opened by a feedback button.
  public static let button: Self = "button"
  public static let popoverTopLeft: Self = "popover-top-left"
  public static let popoverTopCenter: Self = "popover-top-center"
  public static let popoverTopRight: Self = "popover-top-right"
  public static let popoverBottomLeft: Self = "popover-bottom-left"
  public static let popoverBottomCenter: Self = "popover-bottom-center"
  public static let popoverBottomRight: Self = "popover-bottom-right"

  /// Whether this version of the client knows the placement. A newer server may send others.
  public var isKnown: Bool {
    let popovers: [Self] = [
      .popoverTopLeft, .popoverTopCenter, .popoverTopRight, .popoverBottomLeft, .popoverBottomCenter, .popoverBottomRight,
    ]
    return ([.inline, .modal, .button] + popovers).contains(self)
  }
}

extension Card {
  /// The place of the card: that of the question, then that of the tenant, then inline. Unknown placements count as not set.
  public func placement(in appearance: Appearance?) -> Placement {
    [placement, appearance?.placement].compactMap { $0 }.first(where: \.isKnown) ?? .inline
  }
}

/// Text shown after the answer to a question.
public struct Thanks: Equatable, Sendable {
  public struct Link: Equatable, Sendable {
    public let label: String
    /// `https` or `http`.
    public let url: URL
  }

  public let title: String
  public let body: String?
  public let link: Link?
}

extension Appearance: Decodable {
  private enum CodingKeys: CodingKey {
    case theme, accent, background, text, radius, font, placement
  }

  public init(from decoder: any Decoder) {
    guard let members = try? decoder.container(keyedBy: CodingKeys.self) else { return }
    theme = members.readable(.theme) ?? theme
    accent = members.readable(.accent)
    background = members.readable(.background)
    text = members.readable(.text)
    radius = members.readable(.radius, as: Double.self).map { min(max($0, 0), 24) }
    font = members.readable(.font) ?? font
    placement = members.readable(.placement) ?? placement
  }
}

extension Thanks: Decodable {
  private enum CodingKeys: CodingKey {
    case title, body, link
  }

  /// Throws without a title.
  public init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    title = try members.decode(String.self, forKey: .title)
    body = members.readable(.body, as: String.self).flatMap { $0.isEmpty ? nil : $0 }
    link = members.readable(.link)
  }
}

extension Thanks.Link: Decodable {
  private enum CodingKeys: CodingKey {
    case label, url
  }

  /// Throws unless the URL starts with `https://` or `http://`.
  public init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    label = try members.decode(String.self, forKey: .label)
    let given = URL(string: try members.decode(String.self, forKey: .url))
    guard let given, ["https", "http"].contains(given.scheme?.lowercased()), given.host?.isEmpty == false else {
      throw DecodingError.dataCorruptedError(forKey: .url, in: members, debugDescription: "not a web address")
    }
    url = given
  }
}

extension KeyedDecodingContainer {
  /// A member; nil if it is absent, null or of another form.
  func readable<Value: Decodable>(_ key: Key, as _: Value.Type = Value.self) -> Value? {
    (try? decodeIfPresent(Value.self, forKey: key)) ?? nil
  }
}
