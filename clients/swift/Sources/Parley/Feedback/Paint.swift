#if canImport(UIKit)
  import UIKit

  /// Colors and fonts of the tokens for UIKit. The colors follow the color scheme of the view that uses them.
  @MainActor
  struct Paint {
    private let tokens: @Sendable (CardScheme) -> CardTokens

    init(_ appearance: Appearance?, _ style: FeedbackStyle) {
      tokens = { CardTokens(appearance, style: style, scheme: $0) }
    }

    var accent: UIColor { color { $0.accent } }
    var onAccent: UIColor { color { $0.onAccent } }
    var background: UIColor { color { $0.background } }
    var text: UIColor { color { $0.text } }
    var border: UIColor { color { $0.border } }
    var error: UIColor { color { $0.error } }

    var radius: CGFloat {
      CGFloat(tokens(.light).radius)
    }

    private func color(_ part: @escaping @Sendable (CardTokens) -> RGB) -> UIColor {
      UIColor { @Sendable [tokens] traits in UIColor(part(tokens(traits.userInterfaceStyle == .dark ? .dark : .light))) }
    }

    /// A font of Dynamic Type.
    func font(_ style: UIFont.TextStyle) -> UIFont {
      let usual = UITraitCollection(preferredContentSizeCategory: .large)
      let size = UIFont.preferredFont(forTextStyle: style, compatibleWith: usual).pointSize
      guard let name = tokens(.light).fontName, let font = UIFont(name: name, size: size) else {
        return .preferredFont(forTextStyle: style)
      }
      return UIFontMetrics(forTextStyle: style).scaledFont(for: font)
    }

    /// Fills a label.
    @discardableResult
    func write(_ text: String, in label: UILabel = UILabel(), _ style: UIFont.TextStyle) -> UILabel {
      label.text = text
      label.textColor = self.text
      label.font = font(style)
      label.adjustsFontForContentSizeCategory = true
      label.numberOfLines = 0
      return label
    }

    /// Places a view below its label.
    func labelled(_ text: String, _ view: UIView) -> UIView {
      let stack = UIStackView(arrangedSubviews: [write(text, .subheadline), view])
      stack.axis = .vertical
      stack.spacing = 4
      return stack
    }

    /// Creates a button of at least 44 points that grows with its title.
    func button(_ title: String, style: UIFont.TextStyle = .body) -> UIButton {
      let button = WrappingButton(type: .custom)
      button.setTitle(title, for: .normal)
      button.setTitleColor(text, for: .normal)
      button.titleLabel?.font = font(style)
      button.titleLabel?.adjustsFontForContentSizeCategory = true
      button.titleLabel?.numberOfLines = 0
      button.titleLabel?.textAlignment = .center
      button.heightAnchor.constraint(greaterThanOrEqualToConstant: 44).isActive = true
      return button
    }

    /// Draws the border of a view; `refreshBorders` repeats it when the color scheme has changed.
    func outline(_ view: UIView, radius: CGFloat = 8) {
      view.layer.cornerRadius = radius
      view.layer.borderWidth = 1
      view.layer.borderColor = border.resolvedColor(with: view.traitCollection).cgColor
    }

    /// Layers do not follow the color scheme on their own.
    func refreshBorders(in view: UIView) {
      if view.layer.borderWidth > 0 { view.layer.borderColor = border.resolvedColor(with: view.traitCollection).cgColor }
      for each in view.subviews { refreshBorders(in: each) }
    }
  }

  /// A button that is as high as a title of several lines.
  private final class WrappingButton: UIButton {
    private var fittedWidth: CGFloat = 0

    override var intrinsicContentSize: CGSize {
      let size = super.intrinsicContentSize
      guard let titleLabel, fittedWidth > 0 else { return size }
      let room = CGSize(width: fittedWidth - (imageView?.intrinsicContentSize.width ?? 0), height: .greatestFiniteMagnitude)
      return CGSize(width: size.width, height: max(44, titleLabel.sizeThatFits(room).height + 16))
    }

    override func layoutSubviews() {
      super.layoutSubviews()
      if bounds.width == fittedWidth { return }
      fittedWidth = bounds.width
      invalidateIntrinsicContentSize()
    }

    override func traitCollectionDidChange(_ previous: UITraitCollection?) {
      super.traitCollectionDidChange(previous)
      invalidateIntrinsicContentSize()
    }
  }

  extension UIColor {
    convenience init(_ color: RGB) {
      self.init(
        red: CGFloat(color.red) / 255, green: CGFloat(color.green) / 255, blue: CGFloat(color.blue) / 255, alpha: 1)
    }

    /// The color without its transparency; nil if it is mostly transparent, or not in an RGB color space.
    var opaque: RGB? {
      var (red, green, blue, alpha) = (CGFloat.zero, CGFloat.zero, CGFloat.zero, CGFloat.zero)
      guard getRed(&red, green: &green, blue: &blue, alpha: &alpha), alpha > 0.5 else { return nil }
      let channel = { (part: CGFloat) in UInt8((min(max(part, 0), 1) * 255).rounded()) }
      return RGB(red: channel(red), green: channel(green), blue: channel(blue))
    }
  }

  extension UIView {
    /// The background of the nearest view around this one that has one.
    var colorBehind: RGB? {
      var ancestor = superview
      while let view = ancestor {
        if let color = view.backgroundColor?.resolvedColor(with: view.traitCollection).opaque { return color }
        ancestor = view.superview
      }
      return nil
    }

    /// Scrolls the nearest scroll view around this one as far as needed to show it.
    func scrollIntoView() {
      var ancestor = superview
      while let view = ancestor, !(view is UIScrollView) { ancestor = view.superview }
      guard let scroll = ancestor as? UIScrollView else { return }
      scroll.layoutIfNeeded()
      scroll.scrollRectToVisible(convert(bounds, to: scroll), animated: !UIAccessibility.isReduceMotionEnabled)
    }

    /// Adds a subview of the same size, or smaller by a margin.
    func addFilling(_ view: UIView, margin: CGFloat = 0) {
      addSubview(view)
      view.translatesAutoresizingMaskIntoConstraints = false
      NSLayoutConstraint.activate([
        view.topAnchor.constraint(equalTo: topAnchor, constant: margin),
        view.bottomAnchor.constraint(equalTo: bottomAnchor, constant: -margin),
        view.leadingAnchor.constraint(equalTo: leadingAnchor, constant: margin),
        view.trailingAnchor.constraint(equalTo: trailingAnchor, constant: -margin),
      ])
    }
  }
#endif
