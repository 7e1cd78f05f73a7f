#if canImport(UIKit)
  import UIKit

  /// A scale or thumbs: equal cells in one row, which keep the reading direction, with labels below the ends.
  final class ChoiceInput: StepInput {
    private let step: CardStep
    private let texts: FeedbackTexts
    private let paint: Paint
    private var look: ScaleLook
    private let row = UIStackView()
    private var buttons: [UIButton] = []
    private var chosen: Int?

    override var value: AnswerValue? {
      chosen.map { look.points[$0].value }
    }

    override func restore(_ value: AnswerValue) {
      chosen = look.points.firstIndex { $0.value == value }
      fill()
    }

    init(_ step: CardStep, texts: FeedbackTexts, paint: Paint) {
      self.step = step
      self.texts = texts
      self.paint = paint
      look = ScaleLook(step, texts: texts, width: ScaleLook.wide)
      super.init()
      row.distribution = .fillEqually
      row.accessibilityContainerType = .semanticGroup
      row.accessibilityLabel = step.title
      let column = UIStackView(arrangedSubviews: [row])
      column.axis = .vertical
      column.spacing = 4
      if let ends = look.ends { column.addArrangedSubview(makeEnds(ends.low, ends.high)) }
      let space = UIView()
      space.setContentHuggingPriority(.defaultLow, for: .horizontal)
      addArrangedSubview(UIStackView(arrangedSubviews: [column, space]))
      draw()
    }

    override func layoutSubviews() {
      super.layoutSubviews()
      let next = ScaleLook(step, texts: texts, width: Double(bounds.width))
      if bounds.width == 0 || next == look { return }
      look = next
      draw()
    }

    private func draw() {
      for button in buttons { button.removeFromSuperview() }
      buttons = look.points.map(makeButton)
      for button in buttons { row.addArrangedSubview(button) }
      let isJoined = look.style == .number || look.style == .thumbs
      row.spacing = isJoined ? -1 : 0
      if isJoined { join() }
      fill()
    }

    private func makeButton(_ point: ScaleLook.Point) -> UIButton {
      let button = UIButton(type: .custom)
      switch point.face {
      case .text(let text): button.setTitle(text, for: .normal)
      case .symbol(let name): button.setImage(UIImage(systemName: name), for: .normal)
      }
      button.titleLabel?.font = paint.font(.body)
      button.titleLabel?.adjustsFontForContentSizeCategory = true
      button.titleLabel?.adjustsFontSizeToFitWidth = true
      button.titleLabel?.minimumScaleFactor = 0.5
      button.accessibilityLabel = point.name
      button.heightAnchor.constraint(greaterThanOrEqualToConstant: 44).isActive = true
      let most: CGFloat = look.style == .thumbs ? 88 : 44
      let wish = button.widthAnchor.constraint(equalToConstant: most)
      wish.priority = .defaultHigh
      NSLayoutConstraint.activate([wish, button.widthAnchor.constraint(lessThanOrEqualToConstant: most)])
      button.addTarget(self, action: #selector(choose(_:)), for: .touchUpInside)
      return button
    }

    /// Rounds the outer corners of joined cells.
    private func join() {
      for button in buttons {
        paint.outline(button)
        button.layer.maskedCorners = []
      }
      let isMirrored = effectiveUserInterfaceLayoutDirection == .rightToLeft
      let (left, right) = isMirrored ? (buttons.last, buttons.first) : (buttons.first, buttons.last)
      left?.layer.maskedCorners.formUnion([.layerMinXMinYCorner, .layerMinXMaxYCorner])
      right?.layer.maskedCorners.formUnion([.layerMaxXMinYCorner, .layerMaxXMaxYCorner])
    }

    private func makeEnds(_ low: String, _ high: String) -> UIView {
      let labels = [paint.write(low, .caption1), paint.write(high, .caption1)]
      let isMirrored = effectiveUserInterfaceLayoutDirection == .rightToLeft
      labels[1].textAlignment = isMirrored ? .left : .right
      // The row, not its labels, decides on the width.
      for label in labels { label.setContentCompressionResistancePriority(.defaultLow, for: .horizontal) }
      let ends = UIStackView(arrangedSubviews: labels)
      ends.distribution = .fillEqually
      ends.spacing = 16
      return ends
    }

    /// Draws which points are chosen.
    private func fill() {
      for (index, button) in buttons.enumerated() {
        let isFilled = look.isFilled(index, chosen: chosen)
        button.isSelected = index == chosen
        if case .symbol(let name) = look.points[index].face {
          button.setImage(UIImage(systemName: isFilled ? "\(name).fill" : name), for: [])
        }
        let isPainted = isFilled && look.style != .star
        button.backgroundColor = isPainted ? paint.accent : nil
        button.layer.cornerRadius = 8
        let color = isPainted ? paint.onAccent : look.style == .star ? paint.accent : paint.text
        button.tintColor = color
        button.setTitleColor(color, for: [])
      }
    }

    @objc private func choose(_ sender: AnyObject) {
      chosen = buttons.firstIndex { $0 === sender }
      fill()
      onChange()
    }
  }
#endif
