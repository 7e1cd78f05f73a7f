#if canImport(UIKit)
  import UIKit

  /// A step with title, description and error message.
  final class FieldView: UIStackView {
    let step: CardStep
    let input: StepInput
    let title = UILabel()
    private let fault = UILabel()
    private let texts: FeedbackTexts

    init(_ step: CardStep, texts: FeedbackTexts) {
      self.step = step
      self.texts = texts
      input = makeInput(step, texts)
      super.init(frame: .zero)
      axis = .vertical
      spacing = 8
      write(step.title, in: title, .headline)
      title.accessibilityTraits = .header
      addArrangedSubview(title)
      if !step.description.isEmpty { addArrangedSubview(write(step.description, in: UILabel(), .subheadline)) }
      addArrangedSubview(input)
      write("", in: fault, .footnote)
      fault.textColor = .systemRed
      fault.isHidden = true
      addArrangedSubview(fault)
    }

    @available(*, unavailable)
    required init(coder _: NSCoder) {
      fatalError("not available from a nib")
    }

    /// Shows the validation error; false if there is none.
    func showFault() -> Bool {
      let text = step.fault(of: input.value ?? step.emptyValue, texts)
      fault.text = text
      fault.isHidden = text == nil
      if text != nil { UIAccessibility.post(notification: .layoutChanged, argument: fault) }
      return text != nil
    }
  }

  /// Creates a label with Dynamic Type.
  @MainActor @discardableResult
  func write(_ text: String, in label: UILabel, _ style: UIFont.TextStyle) -> UILabel {
    label.text = text
    label.font = .preferredFont(forTextStyle: style)
    label.adjustsFontForContentSizeCategory = true
    label.numberOfLines = 0
    return label
  }

  /// Places a view below its label.
  @MainActor
  func labelled(_ text: String, _ view: UIView) -> UIView {
    let stack = UIStackView(arrangedSubviews: [write(text, in: UILabel(), .subheadline), view])
    stack.axis = .vertical
    stack.spacing = 4
    return stack
  }

  extension UIView {
    /// Adds a subview of the same size.
    func addFilling(_ view: UIView) {
      addSubview(view)
      view.translatesAutoresizingMaskIntoConstraints = false
      NSLayoutConstraint.activate([
        view.topAnchor.constraint(equalTo: topAnchor), view.bottomAnchor.constraint(equalTo: bottomAnchor),
        view.leadingAnchor.constraint(equalTo: leadingAnchor), view.trailingAnchor.constraint(equalTo: trailingAnchor),
      ])
    }
  }
#endif
