#if canImport(UIKit)
  import UIKit

  /// A displayed card: one step after another, comment and buttons.
  final class CardView: UIView {
    var onChange: () -> Void = {}
    /// Called when another step is shown.
    var onStep: () -> Void = {}
    /// Called when the height may have changed within a step.
    var onResize: () -> Void = {}
    var onEnd: (AnswerState) -> Void = { _ in }

    private let texts: FeedbackTexts
    private let paint: Paint
    private var walk: CardWalk
    private let fields: [FieldView]
    private let comment: TextInput?
    private let commentPlace: UIView?
    private let progress = UILabel()
    private let stack = UIStackView()
    private let actions = UIStackView()
    private let submitButton: UIButton
    private let backButton: UIButton

    /// `state` is the input with which the card was left.
    init(_ card: Card, from state: WalkState?, texts: FeedbackTexts, paint: Paint) {
      self.texts = texts
      self.paint = paint
      walk = CardWalk(card, from: state)
      fields = card.steps.map { FieldView($0, of: card.id, texts: texts, paint: paint) }
      let isScored = card.steps[0].isScored
      let comment = isScored ? TextInput(label: texts.comment, keyboard: .default, paint: paint) : nil
      self.comment = comment
      commentPlace = comment.map { paint.labelled(texts.comment, $0) }
      submitButton = paint.button(texts.send, style: .headline)
      backButton = paint.button(texts.back)
      super.init(frame: .zero)
      build()
      for field in fields { if let value = walk.values[field.step.key] { field.input.restore(value) } }
      comment?.restore(.text(walk.comment))
      showStep()
    }

    @available(*, unavailable)
    required init?(coder _: NSCoder) {
      nil
    }

    override func traitCollectionDidChange(_ previous: UITraitCollection?) {
      super.traitCollectionDidChange(previous)
      paint.refreshBorders(in: self)
      arrangeActions()
    }

    /// One below the other if the texts are very large.
    private func arrangeActions() {
      actions.axis = traitCollection.preferredContentSizeCategory.isAccessibilityCategory ? .vertical : .horizontal
    }

    /// The two-finger Z of a screen reader.
    override func accessibilityPerformEscape() -> Bool {
      onEnd(.dismissed)
      return true
    }

    /// The current input: the valid values of the shown steps.
    var entry: CardEntry {
      readInput()
      return walk.entry
    }

    /// The current input as entered, and the step.
    var state: WalkState {
      readInput()
      return walk.state
    }

    /// Element that gets the screen reader's focus when the card or another step appears.
    var heading: UIView? {
      current?.title
    }

    /// Scrolls to the buttons, as far as needed.
    func showActions() {
      actions.scrollIntoView()
    }

    private var current: FieldView? {
      fields.first { $0.step.key == walk.step?.key }
    }

    private func readInput() {
      for field in fields { walk.set(field.input.value, for: field.step.key) }
      walk.comment = comment?.text ?? ""
    }

    private func build() {
      backgroundColor = paint.background
      paint.outline(self, radius: paint.radius)
      addFilling(stack, margin: 16)
      stack.axis = .vertical
      stack.spacing = 12
      paint.write("", in: progress, .footnote)
      stack.addArrangedSubview(progress)
      for field in fields {
        field.input.onChange = { [weak self] in self?.change() }
        stack.addArrangedSubview(field)
      }
      comment?.onChange = { [weak self] in self?.change() }
      if let commentPlace { stack.addArrangedSubview(commentPlace) }
      buildActions()
      stack.addArrangedSubview(actions)
    }

    private func buildActions() {
      submitButton.backgroundColor = paint.accent
      submitButton.setTitleColor(paint.onAccent, for: .normal)
      submitButton.layer.cornerRadius = 8
      submitButton.addTarget(self, action: #selector(submit), for: .touchUpInside)
      paint.outline(backButton)
      backButton.addTarget(self, action: #selector(goBack), for: .touchUpInside)
      actions.distribution = .fillEqually
      arrangeActions()
      actions.spacing = 12
      actions.addArrangedSubview(backButton)
      actions.addArrangedSubview(submitButton)
      if walk.isStatement { return }
      let dismissButton = paint.button(texts.dismiss)
      dismissButton.addTarget(self, action: #selector(dismiss), for: .touchUpInside)
      actions.addArrangedSubview(dismissButton)
    }

    private func change() {
      readInput()
      showPosition()
      // A text beyond its limit is marked at once; other faults at the end of the step.
      if let current, walk.isTooLong || current.isMarked { current.mark(fault) }
      onChange()
      onResize()
    }

    /// The message for the current step, if it has a fault.
    private var fault: String? {
      walk.step.flatMap { walk.faults(texts)[$0.key] }
    }

    private func showStep() {
      for field in fields { field.isHidden = field !== current }
      showPosition()
    }

    /// The number of steps depends on the input, and the comment appears once a score is chosen.
    private func showPosition() {
      commentPlace?.isHidden = !walk.asksForComment
      progress.text = walk.progressText(texts)
      progress.isHidden = progress.text == nil
      backButton.isHidden = walk.progress.number == 1
      submitButton.setTitle(walk.submitText(texts), for: .normal)
    }

    @objc private func submit() {
      readInput()
      current?.mark(fault, moving: true)
      if fault != nil { return onResize() }
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
