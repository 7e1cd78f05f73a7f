#if canImport(UIKit)
  import UIKit

  /// A step with title, description and error message.
  final class FieldView: UIStackView {
    let step: CardStep
    let input: StepInput
    let title = UILabel()
    private let fault = UILabel()
    private let texts: FeedbackTexts

    init(_ step: CardStep, texts: FeedbackTexts, paint: Paint) {
      self.step = step
      self.texts = texts
      input = makeInput(step, texts, paint)
      super.init(frame: .zero)
      axis = .vertical
      spacing = 8
      paint.write(step.heading(texts), in: title, .headline)
      title.accessibilityTraits = .header
      addArrangedSubview(title)
      if !step.description.isEmpty { addArrangedSubview(paint.write(step.description, .subheadline)) }
      addArrangedSubview(input)
      paint.write("", in: fault, .footnote)
      fault.textColor = paint.error
      fault.isHidden = true
      addArrangedSubview(fault)
    }

    @available(*, unavailable)
    required init(coder _: NSCoder) {
      fatalError("not available from a nib")
    }

    /// Shows the validation error, if any, and returns whether there is one.
    func showFault() -> Bool {
      let text = step.fault(of: input.value ?? step.emptyValue, texts)
      fault.text = text
      fault.isHidden = text == nil
      if text != nil { UIAccessibility.post(notification: .layoutChanged, argument: fault) }
      return text != nil
    }
  }
#endif
