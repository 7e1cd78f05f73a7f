#if canImport(UIKit)
  import UIKit

  /// The thanks after the last card, with a button that closes them.
  final class ThanksView: UIView {
    let text = UILabel()
    private let onClose: () -> Void

    init(texts: FeedbackTexts, onClose: @escaping () -> Void) {
      self.onClose = onClose
      super.init(frame: .zero)
      write(texts.thanks, in: text, .body)
      let close = UIButton(type: .system)
      close.setImage(UIImage(systemName: "xmark"), for: .normal)
      close.accessibilityLabel = texts.close
      close.widthAnchor.constraint(greaterThanOrEqualToConstant: 44).isActive = true
      close.heightAnchor.constraint(greaterThanOrEqualToConstant: 44).isActive = true
      close.setContentHuggingPriority(.required, for: .horizontal)
      close.addTarget(self, action: #selector(tapClose), for: .touchUpInside)
      let row = UIStackView(arrangedSubviews: [text, close])
      row.alignment = .center
      row.spacing = 8
      addFilling(row)
    }

    @available(*, unavailable)
    required init?(coder _: NSCoder) {
      nil
    }

    @objc private func tapClose() {
      onClose()
    }
  }
#endif
