#if canImport(UIKit)
  import UIKit

  /// Horizontal choice: a scale or thumbs.
  final class ChoiceInput: StepInput {
    private struct Point {
      let value: AnswerValue
      /// Visible symbol and accessibility label.
      let face: String
      let name: String
    }

    private var points: [Point] = []
    private var buttons: [UIButton] = []
    private var chosen: Int?

    override var value: AnswerValue? {
      chosen.map { points[$0].value }
    }

    init(thumbs texts: FeedbackTexts) {
      super.init()
      show([
        Point(value: .flag(true), face: "👍", name: texts.thumbsUp),
        Point(value: .flag(false), face: "👎", name: texts.thumbsDown),
      ])
    }

    init(scaleOf step: CardStep, texts: FeedbackTexts) {
      super.init()
      let scale = step.scale ?? 1...5
      show(
        scale.map { number in
          let face = face(number, of: scale, style: step.config.style)
          return Point(value: .number(number), face: face, name: texts.say(texts.point, number, of: scale.upperBound))
        })
      showEnds(step.config.labels)
    }

    private func face(_ number: Int, of scale: ClosedRange<Int>, style: String?) -> String {
      let smileys = ["😠", "🙁", "😐", "🙂", "😀"]
      let share = Double(number - scale.lowerBound) / Double(scale.count - 1)
      switch style {
      case "star": return "★"
      case "smiley": return smileys[Int((share * Double(smileys.count - 1)).rounded())]
      default: return String(number)
      }
    }

    private func show(_ points: [Point]) {
      self.points = points
      buttons = points.map(makeButton)
      // At most six per row: eleven would be too small to tap.
      for row in stride(from: 0, to: buttons.count, by: 6) {
        let row = UIStackView(arrangedSubviews: Array(buttons[row..<min(row + 6, buttons.count)]))
        row.distribution = .fillEqually
        row.spacing = 4
        addArrangedSubview(row)
      }
    }

    private func makeButton(_ point: Point) -> UIButton {
      let button = UIButton(type: .system)
      button.setTitle(point.face, for: .normal)
      button.titleLabel?.font = .preferredFont(forTextStyle: .title3)
      button.titleLabel?.adjustsFontForContentSizeCategory = true
      button.accessibilityLabel = point.name
      button.layer.cornerRadius = 8
      button.layer.borderWidth = 1
      button.layer.borderColor = UIColor.systemGray.cgColor
      button.heightAnchor.constraint(greaterThanOrEqualToConstant: 44).isActive = true
      button.addTarget(self, action: #selector(choose(_:)), for: .touchUpInside)
      return button
    }

    private func showEnds(_ labels: QuestionConfig.Labels?) {
      guard let labels, labels.low != nil || labels.high != nil else { return }
      let low = write(labels.low ?? "", in: UILabel(), .caption1)
      let high = write(labels.high ?? "", in: UILabel(), .caption1)
      high.textAlignment = .right
      let row = UIStackView(arrangedSubviews: [low, high])
      row.distribution = .fillEqually
      addArrangedSubview(row)
    }

    @objc private func choose(_ button: UIButton) {
      chosen = buttons.firstIndex(of: button)
      for each in buttons {
        each.isSelected = each == button
        each.backgroundColor = each == button ? UIColor.systemBlue.withAlphaComponent(0.2) : nil
      }
      onChange()
    }
  }
#endif
