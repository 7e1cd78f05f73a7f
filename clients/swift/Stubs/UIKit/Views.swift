@_exported import Foundation
@_exported import ObjectiveC

@MainActor
open class UIResponder: @preconcurrency Equatable {
  public init() {}
  public static func == (one: UIResponder, other: UIResponder) -> Bool { one === other }
  @discardableResult
  open func becomeFirstResponder() -> Bool { true }
}

@MainActor
open class UIView: UIResponder {
  public static let layoutFittingCompressedSize = CGSize.zero
  open var backgroundColor: UIColor?
  open var tintColor: UIColor!
  open var isHidden = false
  open var alpha: CGFloat = 1
  open var clipsToBounds = false
  open var bounds = CGRect.zero
  open var translatesAutoresizingMaskIntoConstraints = true
  open var overrideUserInterfaceStyle = UIUserInterfaceStyle.unspecified
  open var accessibilityLabel: String?
  open var accessibilityTraits = UIAccessibilityTraits.none
  open var accessibilityContainerType = UIAccessibilityContainerType.none
  open var superview: UIView? { nil }
  open var window: UIWindow? { nil }
  open var subviews: [UIView] { [] }
  open var layer: CALayer { CALayer() }
  open var traitCollection: UITraitCollection { UITraitCollection(preferredContentSizeCategory: .large) }
  open var effectiveUserInterfaceLayoutDirection: UIUserInterfaceLayoutDirection { .leftToRight }
  open var topAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor() }
  open var bottomAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor() }
  open var leadingAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor() }
  open var trailingAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor() }
  open var widthAnchor: NSLayoutDimension { NSLayoutDimension() }
  open var heightAnchor: NSLayoutDimension { NSLayoutDimension() }

  public init(frame _: CGRect) {}
  public required init?(coder _: NSCoder) {}
  public override convenience init() { self.init(frame: .zero) }

  open var intrinsicContentSize: CGSize { .zero }
  open func invalidateIntrinsicContentSize() {}
  open func sizeThatFits(_ size: CGSize) -> CGSize { size }
  open func addSubview(_: UIView) {}
  open func removeFromSuperview() {}
  open func didMoveToWindow() {}
  open func layoutSubviews() {}
  open func layoutIfNeeded() {}
  open func traitCollectionDidChange(_: UITraitCollection?) {}
  open func accessibilityPerformEscape() -> Bool { false }
  open func isDescendant(of _: UIView) -> Bool { false }
  open func convert(_ rect: CGRect, to _: UIView?) -> CGRect { rect }
  open func setContentHuggingPriority(_: UILayoutPriority, for _: NSLayoutConstraint.Axis) {}
  open func setContentCompressionResistancePriority(_: UILayoutPriority, for _: NSLayoutConstraint.Axis) {}
  open func systemLayoutSizeFitting(
    _ size: CGSize, withHorizontalFittingPriority _: UILayoutPriority, verticalFittingPriority _: UILayoutPriority
  ) -> CGSize { size }
}

@MainActor
open class UIWindow: UIView {}

@MainActor
open class UIStackView: UIView {
  public enum Alignment: Sendable { case fill, leading, center, trailing }
  public enum Distribution: Sendable { case fill, fillEqually }
  open var axis = NSLayoutConstraint.Axis.horizontal
  open var alignment = Alignment.fill
  open var distribution = Distribution.fill
  open var spacing: CGFloat = 0
  public override init(frame: CGRect) { super.init(frame: frame) }
  public convenience init(arrangedSubviews _: [UIView]) { self.init(frame: .zero) }
  public required init(coder: NSCoder) { super.init(coder: coder)! }
  open func addArrangedSubview(_: UIView) {}
}

@MainActor
open class UIScrollView: UIView {
  open var isScrollEnabled = true
  open func scrollRectToVisible(_: CGRect, animated _: Bool) {}
}

@MainActor
open class UILabel: UIView {
  open var text: String?
  open var textColor: UIColor!
  open var font: UIFont!
  open var numberOfLines = 1
  open var textAlignment = NSTextAlignment.natural
  open var adjustsFontForContentSizeCategory = false
  open var adjustsFontSizeToFitWidth = false
  open var minimumScaleFactor: CGFloat = 0
}

@MainActor
open class UIImageView: UIView {
  public init(image _: UIImage?) { super.init(frame: .zero) }
  public required init?(coder: NSCoder) { super.init(coder: coder) }
}

@MainActor
open class UIControl: UIView {
  public enum ContentHorizontalAlignment: Sendable { case center, left, right, fill, leading, trailing }
  public struct Event: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let touchUpInside = Event(rawValue: 1 << 6)
    public static let valueChanged = Event(rawValue: 1 << 12)
  }
  public struct State: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let normal = State([])
    public static let selected = State(rawValue: 1 << 2)
  }
  open var isSelected = false
  open var contentHorizontalAlignment = ContentHorizontalAlignment.center
  open func addTarget(_: Any?, action _: Selector, for _: Event) {}
}

@MainActor
open class UIButton: UIControl {
  public enum ButtonType: Sendable { case custom, system }
  public convenience init(type _: ButtonType) { self.init(frame: .zero) }
  open var titleLabel: UILabel? { nil }
  open var imageView: UIImageView? { nil }
  open func setTitle(_: String?, for _: State) {}
  open func setTitleColor(_: UIColor?, for _: State) {}
  open func setImage(_: UIImage?, for _: State) {}
}

@MainActor
open class UISwitch: UIControl {
  open var isOn = false
  open var onTintColor: UIColor?
}

@MainActor
open class UIDatePicker: UIControl {
  public enum Mode: Sendable { case time, date, dateAndTime }
  open var datePickerMode = Mode.dateAndTime
  open var date = Date()
}

/// All methods are optional in UIKit; here those that the package implements are required, so that a wrong signature is noticed.
@MainActor
public protocol UITextViewDelegate: AnyObject {
  func textViewDidChange(_: UITextView)
  func textViewDidEndEditing(_: UITextView)
}

@MainActor
open class UITextView: UIScrollView {
  open weak var delegate: (any UITextViewDelegate)?
  open var text: String!
  open var font: UIFont?
  open var textColor: UIColor?
  open var keyboardType = UIKeyboardType.default
  open var autocapitalizationType = UITextAutocapitalizationType.sentences
  open var adjustsFontForContentSizeCategory = false
}

// swift-format-ignore
public enum UIKeyboardType: Sendable { case `default`, URL, emailAddress, numbersAndPunctuation }
public enum UITextAutocapitalizationType: Sendable { case none, sentences }
public enum NSTextAlignment: Sendable { case left, center, right, natural }
public enum UIUserInterfaceStyle: Sendable { case unspecified, light, dark }
public enum UIUserInterfaceLayoutDirection: Sendable { case leftToRight, rightToLeft }
