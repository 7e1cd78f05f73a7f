#if canImport(UIKit)
  import UIKit

  /// The input of a step.
  class StepInput: UIStackView {
    var onChange: () -> Void = {}

    /// Current value, or nil.
    var value: AnswerValue? {
      nil
    }

    /// Shows a value that was entered before.
    func restore(_: AnswerValue) {}

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

  /// Creates the input for a question type; `card` is the id of the step's card.
  @MainActor
  func makeInput(_ step: CardStep, of card: String, _ texts: FeedbackTexts, _ paint: Paint) -> StepInput {
    switch step.type {
    case .singleChoice, .multiChoice: OptionsInput(step, of: card, texts: texts, paint: paint)
    case .text: TextInput(label: step.title, keyboard: keyboard(step), paint: paint)
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
