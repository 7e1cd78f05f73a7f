#if canImport(UIKit)
  import UIKit

  /// Vertical options with single or multiple selection; the last one may be "other" with a text field.
  final class OptionsInput: StepInput {
    private let options: [QuestionConfig.Option]
    private let isMultiple: Bool
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

    init(_ step: CardStep, texts: FeedbackTexts) {
      let given = step.config.options ?? []
      options = step.config.shuffle == true ? given.shuffled() : given
      isMultiple = step.type == .multiChoice
      other = step.config.allowOther == true ? UIButton(type: .system) : nil
      otherText = TextInput(label: texts.otherText, maxLength: 5000, keyboard: .default)
      super.init()
      buttons = options.map { prepare(UIButton(type: .system), $0.label) }
      for button in buttons { addArrangedSubview(button) }
      if let other { showOther(other, texts) }
    }

    private func showOther(_ other: UIButton, _ texts: FeedbackTexts) {
      addArrangedSubview(prepare(other, texts.other))
      addArrangedSubview(otherText)
      otherText.isHidden = true
      otherText.onChange = { [weak self] in self?.onChange() }
    }

    private func prepare(_ button: UIButton, _ title: String) -> UIButton {
      button.setTitle(title, for: .normal)
      button.setImage(UIImage(systemName: isMultiple ? "square" : "circle"), for: .normal)
      let chosen = isMultiple ? "checkmark.square.fill" : "largecircle.fill.circle"
      button.setImage(UIImage(systemName: chosen), for: .selected)
      button.contentHorizontalAlignment = .leading
      button.titleLabel?.numberOfLines = 0
      button.titleLabel?.adjustsFontForContentSizeCategory = true
      button.heightAnchor.constraint(greaterThanOrEqualToConstant: 44).isActive = true
      button.addTarget(self, action: #selector(choose(_:)), for: .touchUpInside)
      return button
    }

    @objc private func choose(_ button: UIButton) {
      let all = buttons + [other].compactMap { $0 }
      for each in all where !isMultiple && each != button { each.isSelected = false }
      button.isSelected = isMultiple ? !button.isSelected : true
      otherText.isHidden = other?.isSelected != true
      onChange()
    }
  }
#endif
