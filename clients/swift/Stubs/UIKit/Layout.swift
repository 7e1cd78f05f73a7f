import Foundation

public struct UILayoutPriority: Hashable, Sendable {
  public static let required = UILayoutPriority()
  public static let defaultHigh = UILayoutPriority()
  public static let defaultLow = UILayoutPriority()
  public static let fittingSizeLevel = UILayoutPriority()
}

@MainActor
open class NSLayoutConstraint {
  public enum Axis: Sendable { case horizontal, vertical }
  open var isActive = false
  open var priority = UILayoutPriority.required
  public init() {}
  open class func activate(_: [NSLayoutConstraint]) {}
}

@MainActor
open class NSLayoutXAxisAnchor {
  public init() {}
  open func constraint(equalTo _: NSLayoutXAxisAnchor, constant _: CGFloat = 0) -> NSLayoutConstraint { NSLayoutConstraint() }
}

@MainActor
open class NSLayoutYAxisAnchor {
  public init() {}
  open func constraint(equalTo _: NSLayoutYAxisAnchor, constant _: CGFloat = 0) -> NSLayoutConstraint { NSLayoutConstraint() }
}

@MainActor
open class NSLayoutDimension {
  public init() {}
  open func constraint(equalToConstant _: CGFloat) -> NSLayoutConstraint { NSLayoutConstraint() }
  open func constraint(lessThanOrEqualToConstant _: CGFloat) -> NSLayoutConstraint { NSLayoutConstraint() }
  open func constraint(greaterThanOrEqualToConstant _: CGFloat) -> NSLayoutConstraint { NSLayoutConstraint() }
}
