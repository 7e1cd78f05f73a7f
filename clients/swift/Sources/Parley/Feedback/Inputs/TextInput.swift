#if canImport(UIKit)
  import UIKit

  /// Free-text input. Text beyond a limit, such as pasted text, stays, and is marked by the card.
  final class TextInput: StepInput, UITextViewDelegate {
    private let field = UITextView()
    private let pause = Debounce(milliseconds: 800)

    var text: String {
      field.text
    }

    override var value: AnswerValue? {
      let isProse = field.keyboardType == .default
      let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
      return trimmed.isEmpty ? nil : .text(isProse ? text : trimmed)
    }

    init(label: String, keyboard: UIKeyboardType, paint: Paint) {
      super.init()
      field.delegate = self
      field.keyboardType = keyboard
      if keyboard != .default { field.autocapitalizationType = .none }
      field.isScrollEnabled = false
      field.font = paint.font(.body)
      field.textColor = paint.text
      field.tintColor = paint.accent
      field.backgroundColor = paint.background
      field.adjustsFontForContentSizeCategory = true
      field.accessibilityLabel = label
      paint.outline(field)
      field.heightAnchor.constraint(greaterThanOrEqualToConstant: keyboard == .default ? 66 : 44).isActive = true
      addArrangedSubview(field)
    }

    override func restore(_ value: AnswerValue) {
      if case .text(let text) = value { field.text = text }
    }

    /// Opens the keyboard, and moves the focus of a screen reader.
    func focus() {
      field.becomeFirstResponder()
    }

    /// Saved after a pause in writing, so that a kill loses at most a second.
    func textViewDidChange(_: UITextView) {
      pause.schedule { [weak self] in self?.onChange() }
    }

    func textViewDidEndEditing(_: UITextView) {
      pause.cancel()
      onChange()
    }
  }
#endif
