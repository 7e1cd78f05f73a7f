/// Light or dark (`ColorScheme` is a name of SwiftUI).
public enum CardScheme: Sendable, CaseIterable {
  case light, dark
}

/// The app's own settings of the look, which come before the tenant's (`Appearance`). nil: the tenant's.
public struct FeedbackStyle: Equatable, Sendable {
  public struct Colors: Equatable, Sendable {
    public var accent: RGB?
    /// Text on the accent; nil: black or white, whichever is easier to read.
    public var onAccent: RGB?
    public var background: RGB?
    /// nil, and `background` is set: black or white.
    public var text: RGB?
    public var border: RGB?
    public var error: RGB?

    public init(
      accent: RGB? = nil, onAccent: RGB? = nil, background: RGB? = nil, text: RGB? = nil, border: RGB? = nil, error: RGB? = nil
    ) {
      self.accent = accent
      self.onAccent = onAccent
      self.background = background
      self.text = text
      self.border = border
      self.error = error
    }
  }

  public var theme: Appearance.Theme?
  public var light: Colors
  public var dark: Colors
  /// Radius of corners in points.
  public var radius: Double?
  public var font: Appearance.Font?
  /// Name of the app's font, for `inherit`; nil: that of the system.
  public var fontName: String?

  /// `dark` is by default the same as `light`.
  public init(
    theme: Appearance.Theme? = nil, light: Colors = Colors(), dark: Colors? = nil, radius: Double? = nil,
    font: Appearance.Font? = nil, fontName: String? = nil
  ) {
    self.theme = theme
    self.light = light
    self.dark = dark ?? light
    self.radius = radius
    self.font = font
    self.fontName = fontName
  }
}

/// The colors and measures with which a card is drawn in one color scheme.
public struct CardTokens: Equatable, Sendable {
  public let accent: RGB
  /// Text on the accent.
  public let onAccent: RGB
  public let background: RGB
  public let text: RGB
  /// Of inputs and of the card.
  public let border: RGB
  public let error: RGB
  public let radius: Double
  public let font: Appearance.Font
  /// nil: the font of the system.
  public let fontName: String?

  /// Computes them from the tenant's appearance (nil: from servers before 0.3) and the app's style.
  public init(_ appearance: Appearance?, style: FeedbackStyle = FeedbackStyle(), scheme: CardScheme) {
    let own = scheme == .light ? style.light : style.dark
    accent = own.accent ?? appearance?.accent ?? Self.accent
    onAccent = own.onAccent ?? accent.readable
    background = own.background ?? appearance?.background ?? Self.backgrounds(scheme)
    // The tenant's text was chosen for the tenant's background.
    text = own.text ?? (own.background == nil ? appearance?.text : nil) ?? background.readable
    border = own.border ?? background.mixed(with: text, share: 0.55)
    error = own.error ?? text.mixed(with: RGB(red: 255, green: 0, blue: 0), share: 0.65)
    radius = style.radius ?? appearance?.radius ?? 12
    font = style.font ?? appearance?.font ?? .inherit
    fontName = font == .system ? nil : style.fontName
  }

  private static let accent = RGB(red: 0x25, green: 0x63, blue: 0xeb)

  /// White, and the background of grouped content in dark mode, on which servers allow every accent.
  private static func backgrounds(_ scheme: CardScheme) -> RGB {
    scheme == .light ? .white : RGB(red: 0x1c, green: 0x1c, blue: 0x1e)
  }
}

extension CardScheme {
  /// The scheme of a theme; `behind` is the app's background around the card, if it is known.
  init(_ theme: Appearance.Theme?, system: CardScheme, behind: RGB?) {
    self = Self.fixed(theme, behind: behind) ?? system
  }

  /// The scheme of a theme that does not follow the system; nil if it does.
  static func fixed(_ theme: Appearance.Theme?, behind: RGB?) -> CardScheme? {
    switch theme {
    case .light?: .light
    case .dark?: .dark
    case .page?: behind.map { $0.readable == .black ? .light : .dark }
    default: nil
    }
  }
}
