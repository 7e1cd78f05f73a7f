#if canImport(UIKit)
  import UIKit

  /// A step with title, description and error message.
  final class FieldView: UIStackView {
    let step: CardStep
    let input: StepInput
    let title = UILabel()
    private let fault = UILabel()

    /// `card` is the id of the step's card.
    init(_ step: CardStep, of card: String, texts: FeedbackTexts, paint: Paint) {
      self.step = step
      input = makeInput(step, of: card, texts, paint)
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

    /// Whether an error message is shown.
    var isMarked: Bool {
      !fault.isHidden
    }

    /// Shows an error message, or with nil hides it. An equal one is not read aloud again, unless it `moves` the focus.
    func mark(_ text: String?, moving moves: Bool = false) {
      let isNew = text != fault.text
      fault.text = text
      fault.isHidden = text == nil
      if text != nil && (isNew || moves) { UIAccessibility.post(notification: .layoutChanged, argument: moves ? fault : nil) }
    }
  }
#endif
