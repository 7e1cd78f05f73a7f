import Foundation

public final class CGColor: Sendable {}

@MainActor
open class CALayer {
  open var cornerRadius: CGFloat = 0
  open var borderWidth: CGFloat = 0
  open var borderColor: CGColor?
  open var maskedCorners: CACornerMask = []
}

public struct CACornerMask: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }
  public static let layerMinXMinYCorner = CACornerMask(rawValue: 1)
  public static let layerMaxXMinYCorner = CACornerMask(rawValue: 2)
  public static let layerMinXMaxYCorner = CACornerMask(rawValue: 4)
  public static let layerMaxXMaxYCorner = CACornerMask(rawValue: 8)
}

public class UIColor: @unchecked Sendable {
  public init(red _: CGFloat, green _: CGFloat, blue _: CGFloat, alpha _: CGFloat) {}
  /// UIKit calls it on any thread, so it must not be isolated.
  public init(dynamicProvider _: @escaping @Sendable (UITraitCollection) -> UIColor) {}
  public var cgColor: CGColor { CGColor() }
  public func resolvedColor(with _: UITraitCollection) -> UIColor { self }
  /// UIKit has pointers, which the type checker of Linux does not convert to in this mode.
  public func getRed(
    _: inout CGFloat, green _: inout CGFloat, blue _: inout CGFloat, alpha _: inout CGFloat
  ) -> Bool { true }
}

public class UIImage: @unchecked Sendable {
  public init?(systemName _: String) {}
}

public class UIFont: @unchecked Sendable {
  public struct TextStyle: Hashable, Sendable {
    public static let headline = TextStyle()
    public static let subheadline = TextStyle()
    public static let body = TextStyle()
    public static let footnote = TextStyle()
    public static let caption1 = TextStyle()
  }
  public init?(name _: String, size _: CGFloat) {}
  public var pointSize: CGFloat { 0 }
  public class func preferredFont(forTextStyle _: TextStyle) -> UIFont { UIFont(name: "", size: 0)! }
  public class func preferredFont(forTextStyle _: TextStyle, compatibleWith _: UITraitCollection?) -> UIFont {
    UIFont(name: "", size: 0)!
  }
}

public class UIFontMetrics: @unchecked Sendable {
  public init(forTextStyle _: UIFont.TextStyle) {}
  public func scaledFont(for font: UIFont) -> UIFont { font }
}

public struct UIContentSizeCategory: Hashable, Sendable {
  public static let large = UIContentSizeCategory()
  public var isAccessibilityCategory: Bool { false }
}

public class UITraitCollection: @unchecked Sendable {
  public init(preferredContentSizeCategory _: UIContentSizeCategory) {}
  public var userInterfaceStyle: UIUserInterfaceStyle { .light }
  public var preferredContentSizeCategory: UIContentSizeCategory { .large }
}
