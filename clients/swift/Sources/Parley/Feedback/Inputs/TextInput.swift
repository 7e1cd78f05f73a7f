#if canImport(UIKit)
  import UIKit

  /// Free-text input.
  final class TextInput: StepInput, UITextViewDelegate {
    private let field = UITextView()
    private let maxLength: Int
    private let pause = Debounce(milliseconds: 800)

    var text: String {
      field.text
    }

    override var value: AnswerValue? {
      let isProse = field.keyboardType == .default
      let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
      return trimmed.isEmpty ? nil : .text(isProse ? text : trimmed)
    }

    /// `maxLength` counts UTF-16 units, as browsers do. The server counts characters, so it never allows less.
    init(label: String, maxLength: Int, keyboard: UIKeyboardType, paint: Paint) {
      self.maxLength = maxLength
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

    /// Opens the keyboard, and moves the focus of a screen reader.
    func focus() {
      field.becomeFirstResponder()
    }

    func textView(_ view: UITextView, shouldChangeTextIn range: NSRange, replacementText: String) -> Bool {
      view.text.utf16.count - range.length + replacementText.utf16.count <= maxLength
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
