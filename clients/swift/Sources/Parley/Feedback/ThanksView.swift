#if canImport(UIKit)
  import UIKit

  /// The thanks of a question or, without, of the view, with a button that closes them.
  final class ThanksView: UIView {
    let title = UILabel()
    private let paint: Paint
    private let link: Thanks.Link?
    private let onClose: () -> Void

    init(_ thanks: Thanks?, texts: FeedbackTexts, paint: Paint, onClose: @escaping () -> Void) {
      self.paint = paint
      self.onClose = onClose
      link = thanks?.link
      super.init(frame: .zero)
      backgroundColor = paint.background
      paint.outline(self, radius: paint.radius)
      paint.write(thanks?.title ?? texts.thanks, in: title, .headline)
      let content = UIStackView(arrangedSubviews: [title])
      content.axis = .vertical
      content.spacing = 4
      if let body = thanks?.body { content.addArrangedSubview(paint.write(body, .body)) }
      if let link { content.addArrangedSubview(makeLink(link)) }
      let row = UIStackView(arrangedSubviews: [checkMark(), content, closeButton(texts)])
      row.alignment = .center
      row.spacing = 12
      addFilling(row, margin: 16)
    }

    @available(*, unavailable)
    required init?(coder _: NSCoder) {
      nil
    }

    override func traitCollectionDidChange(_ previous: UITraitCollection?) {
      super.traitCollectionDidChange(previous)
      paint.refreshBorders(in: self)
    }

    /// Whether the screen reader is on one of its elements.
    var isRead: Bool {
      let element = UIAccessibility.focusedElement(using: .notificationVoiceOver) as? UIView
      return element?.isDescendant(of: self) ?? false
    }

    private func checkMark() -> UIView {
      let mark = UIImageView(image: UIImage(systemName: "checkmark.circle"))
      mark.tintColor = paint.accent
      mark.setContentHuggingPriority(.required, for: .horizontal)
      mark.setContentCompressionResistancePriority(.required, for: .horizontal)
      return mark
    }

    private func makeLink(_ link: Thanks.Link) -> UIView {
      let button = paint.button(link.label)
      button.setTitleColor(paint.accent, for: .normal)
      button.contentHorizontalAlignment = .leading
      button.accessibilityTraits = .link
      button.addTarget(self, action: #selector(open), for: .touchUpInside)
      return button
    }

    private func closeButton(_ texts: FeedbackTexts) -> UIView {
      let close = paint.button("")
      close.setImage(UIImage(systemName: "xmark"), for: .normal)
      close.tintColor = paint.text
      close.accessibilityLabel = texts.close
      close.widthAnchor.constraint(greaterThanOrEqualToConstant: 44).isActive = true
      close.setContentHuggingPriority(.required, for: .horizontal)
      close.addTarget(self, action: #selector(tapClose), for: .touchUpInside)
      return close
    }

    @objc private func open() {
      if let link { UIApplication.shared.open(link.url) }
    }

    @objc private func tapClose() {
      onClose()
    }
  }
#endif
