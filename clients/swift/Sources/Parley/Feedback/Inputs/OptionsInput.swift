#if canImport(UIKit)
  import UIKit

  /// Vertical options with single or multiple selection; the last one may be "other" with a text field.
  final class OptionsInput: StepInput {
    private let options: [QuestionConfig.Option]
    private let isMultiple: Bool
    private let paint: Paint
    private var buttons: [UIButton] = []
    private let other: UIButton?
    private let otherText: TextInput

    override var value: AnswerValue? {
      let ids = zip(options, buttons).filter { $1.isSelected }.map { $0.0.id }
      let text = other?.isSelected == true ? otherText.text : nil
      if ids.isEmpty && text == nil { return nil }
      if isMultiple { return .choice(.init(optionIds: ids, otherText: text)) }
      return .choice(.init(optionId: ids.first, otherText: text))
    }

    override func restore(_ value: AnswerValue) {
      guard case .choice(let choice) = value else { return }
      let ids = [choice.optionId].compactMap { $0 } + (choice.optionIds ?? [])
      for (option, button) in zip(options, buttons) { button.isSelected = ids.contains(option.id) }
      other?.isSelected = choice.otherText != nil
      otherText.isHidden = choice.otherText == nil
      if let text = choice.otherText { otherText.restore(.text(text)) }
    }

    /// `card` is the id of the step's card.
    init(_ step: CardStep, of card: String, texts: FeedbackTexts, paint: Paint) {
      options = step.shownOptions(inCard: card)
      isMultiple = step.type == .multiChoice
      self.paint = paint
      other = step.config.allowOther == true ? paint.button("  \(texts.other)") : nil
      otherText = TextInput(label: texts.otherText, keyboard: .default, paint: paint)
      super.init()
      accessibilityContainerType = .semanticGroup
      accessibilityLabel = step.title
      buttons = options.map { prepare(paint.button("  \($0.label)"), $0.label) }
      for button in buttons { addArrangedSubview(button) }
      if let other { show(other, texts.other) }
    }

    private func show(_ other: UIButton, _ name: String) {
      addArrangedSubview(prepare(other, name))
      addArrangedSubview(otherText)
      otherText.isHidden = true
      otherText.onChange = { [weak self] in self?.onChange() }
    }

    /// The title begins with space between it and the mark; the name is for screen readers.
    private func prepare(_ button: UIButton, _ name: String) -> UIButton {
      button.accessibilityLabel = name
      button.setImage(UIImage(systemName: isMultiple ? "square" : "circle"), for: .normal)
      let chosen = isMultiple ? "checkmark.square.fill" : "largecircle.fill.circle"
      button.setImage(UIImage(systemName: chosen), for: .selected)
      button.tintColor = paint.accent
      button.contentHorizontalAlignment = .leading
      button.titleLabel?.textAlignment = .natural
      button.addTarget(self, action: #selector(choose(_:)), for: .touchUpInside)
      return button
    }

    @objc private func choose(_ sender: AnyObject) {
      guard let button = sender as? UIButton else { return }
      let all = buttons + [other].compactMap { $0 }
      for each in all where !isMultiple && each != button { each.isSelected = false }
      button.isSelected = isMultiple ? !button.isSelected : true
      otherText.isHidden = other?.isSelected != true
      onChange()
      if button == other && button.isSelected { otherText.focus() }
    }
  }
#endif
