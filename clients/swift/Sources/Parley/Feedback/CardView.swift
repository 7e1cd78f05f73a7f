#if canImport(UIKit)
  import UIKit

  /// A displayed card: steps, comment and buttons.
  final class CardView: UIView {
    var onChange: () -> Void = {}
    var onEnd: (AnswerState) -> Void = { _ in }

    private let texts: FeedbackTexts
    private let fields: [FieldView]
    private let comment: TextInput?
    private let stack = UIStackView()

    init(_ card: Card, texts: FeedbackTexts) {
      self.texts = texts
      fields = card.steps.map { FieldView($0, texts: texts) }
      let isScored = card.steps[0].isScored
      comment = isScored ? TextInput(label: texts.comment, maxLength: 5000, keyboard: .default) : nil
      super.init(frame: .zero)
      build(isStatement: card.steps.allSatisfy { $0.type == .statement })
    }

    @available(*, unavailable)
    required init?(coder _: NSCoder) {
      nil
    }

    /// The current input, without invalid values.
    var entry: CardEntry {
      var entry = CardEntry()
      for field in fields { entry.values[field.step.key] = field.validValue }
      entry.comment = comment?.text.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
      return entry
    }

    /// Element that gets the screen reader's focus when the card appears.
    var heading: UIView? {
      fields.first?.title
    }

    private func build(isStatement: Bool) {
      addFilling(stack)
      stack.axis = .vertical
      stack.spacing = 12
      for field in fields {
        field.input.onChange = { [weak self] in self?.onChange() }
        stack.addArrangedSubview(field)
      }
      if let comment {
        comment.onChange = { [weak self] in self?.onChange() }
        stack.addArrangedSubview(labelled(texts.comment, comment))
      }
      stack.addArrangedSubview(buttons(isStatement: isStatement))
    }

    private func buttons(isStatement: Bool) -> UIView {
      let submit = button(isStatement ? texts.acknowledge : texts.send, #selector(submit))
      submit.titleLabel?.font = .preferredFont(forTextStyle: .headline)
      let all = isStatement ? [submit] : [button(texts.dismiss, #selector(dismiss)), submit]
      let row = UIStackView(arrangedSubviews: all)
      row.distribution = .fillEqually
      row.spacing = 12
      return row
    }

    private func button(_ title: String, _ action: Selector) -> UIButton {
      let button = UIButton(type: .system)
      button.setTitle(title, for: .normal)
      button.titleLabel?.adjustsFontForContentSizeCategory = true
      button.heightAnchor.constraint(greaterThanOrEqualToConstant: 44).isActive = true
      button.addTarget(self, action: action, for: .touchUpInside)
      return button
    }

    @objc private func submit() {
      let isFaulty = fields.map { $0.showFault() }.contains(true)
      if !isFaulty { onEnd(.completed) }
    }

    @objc private func dismiss() {
      onEnd(.dismissed)
    }
  }
#endif
