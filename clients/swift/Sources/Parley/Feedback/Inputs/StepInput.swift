#if canImport(UIKit)
  import UIKit

  /// What stands below the title of a step.
  class StepInput: UIStackView {
    var onChange: () -> Void = {}

    /// The value as it stands; nil while there is none.
    var value: AnswerValue? {
      nil
    }

    init() {
      super.init(frame: .zero)
      axis = .vertical
      spacing = 8
    }

    @available(*, unavailable)
    required init(coder _: NSCoder) {
      fatalError("made by code alone")
    }
  }

  /// The input for a type of question.
  @MainActor
  func makeInput(_ step: CardStep, _ texts: FeedbackTexts) -> StepInput {
    switch step.type {
    case .thumbs: ChoiceInput(thumbs: texts)
    case .singleChoice, .multiChoice: OptionsInput(step, texts: texts)
    case .text: TextInput(label: step.title, maxLength: step.config.maxLength ?? 5000, keyboard: keyboard(step))
    case .date: DateInput(label: step.title)
    case .consent: ConsentInput(label: texts.consent)
    case .statement: LinkInput(step.config.url, label: texts.more)
    default: ChoiceInput(scaleOf: step, texts: texts)
    }
  }

  private func keyboard(_ step: CardStep) -> UIKeyboardType {
    switch step.config.input {
    case "email": .emailAddress
    case "url": .URL
    case "number": .numbersAndPunctuation
    default: .default
    }
  }
#endif
