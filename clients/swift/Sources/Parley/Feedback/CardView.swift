#if canImport(UIKit)
  import UIKit

  /// A displayed card: one step after another, comment and buttons.
  final class CardView: UIView {
    var onChange: () -> Void = {}
    /// Called when another step is shown.
    var onStep: () -> Void = {}
    var onEnd: (AnswerState) -> Void = { _ in }

    private let texts: FeedbackTexts
    private var walk: CardWalk
    private let fields: [FieldView]
    private let comment: TextInput?
    private let commentPlace: UIView?
    private let progress = UILabel()
    private let stack = UIStackView()
    private lazy var submitButton = button(texts.send, #selector(submit))
    private lazy var backButton = button(texts.back, #selector(goBack))

    init(_ card: Card, texts: FeedbackTexts) {
      self.texts = texts
      walk = CardWalk(card)
      fields = card.steps.map { FieldView($0, texts: texts) }
      let isScored = card.steps[0].isScored
      let comment = isScored ? TextInput(label: texts.comment, maxLength: 5000, keyboard: .default) : nil
      self.comment = comment
      commentPlace = comment.map { labelled(texts.comment, $0) }
      super.init(frame: .zero)
      build()
      showStep()
    }

    @available(*, unavailable)
    required init?(coder _: NSCoder) {
      nil
    }

    /// The current input: the valid values of the shown steps.
    var entry: CardEntry {
      readInput()
      return walk.entry
    }

    /// Element that gets the screen reader's focus when the card or another step appears.
    var heading: UIView? {
      current?.title
    }

    private var current: FieldView? {
      fields.first { $0.step.key == walk.step?.key }
    }

    private func readInput() {
      for field in fields { walk.set(field.input.value, for: field.step.key) }
      walk.comment = comment?.text ?? ""
    }

    private func build() {
      addFilling(stack)
      stack.axis = .vertical
      stack.spacing = 12
      write("", in: progress, .footnote)
      stack.addArrangedSubview(progress)
      for field in fields {
        field.input.onChange = { [weak self] in self?.change() }
        stack.addArrangedSubview(field)
      }
      comment?.onChange = { [weak self] in self?.change() }
      if let commentPlace { stack.addArrangedSubview(commentPlace) }
      stack.addArrangedSubview(buttons())
    }

    private func buttons() -> UIView {
      submitButton.titleLabel?.font = .preferredFont(forTextStyle: .headline)
      let dismissal = walk.isStatement ? [] : [button(texts.dismiss, #selector(dismiss))]
      let row = UIStackView(arrangedSubviews: dismissal + [backButton, submitButton])
      row.distribution = .fillEqually
      row.spacing = 12
      return row
    }

    private func change() {
      readInput()
      showPosition()
      onChange()
    }

    private func showStep() {
      for field in fields { field.isHidden = field !== current }
      commentPlace?.isHidden = walk.step?.key != "main"
      showPosition()
    }

    /// The number of steps depends on the input.
    private func showPosition() {
      progress.text = walk.progressText(texts)
      progress.isHidden = progress.text == nil
      backButton.isHidden = walk.progress.number == 1
      submitButton.setTitle(walk.submitText(texts), for: .normal)
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
      readInput()
      if current?.showFault() == true { return }
      if walk.next() == nil { onEnd(.completed) } else { turn() }
    }

    @objc private func goBack() {
      readInput()
      if walk.back() != nil { turn() }
    }

    private func turn() {
      showStep()
      onStep()
    }

    @objc private func dismiss() {
      onEnd(.dismissed)
    }
  }
#endif
