#if canImport(UIKit)
  import UIKit

  /// The input of a step.
  class StepInput: UIStackView {
    var onChange: () -> Void = {}

    /// Current value, or nil.
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
      fatalError("not available from a nib")
    }
  }

  /// Creates the input for a question type.
  @MainActor
  func makeInput(_ step: CardStep, _ texts: FeedbackTexts, _ paint: Paint) -> StepInput {
    switch step.type {
    case .singleChoice, .multiChoice: OptionsInput(step, texts: texts, paint: paint)
    case .text:
      TextInput(label: step.title, maxLength: step.config.maxLength ?? 5000, keyboard: keyboard(step), paint: paint)
    case .date: DateInput(label: step.title)
    case .consent: ConsentInput(label: texts.consent, paint: paint)
    case .statement: LinkInput(step.config.url, label: texts.more, paint: paint)
    default: ChoiceInput(step, texts: texts, paint: paint)
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
