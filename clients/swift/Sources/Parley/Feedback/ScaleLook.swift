import Foundation

/// The points of a scale or of thumbs, as drawn in one row and as read by a screen reader.
struct ScaleLook: Equatable {
  enum Style: Equatable {
    case number, star, smiley, thumbs
  }

  enum Face: Hashable {
    case text(String)
    /// Name of a system symbol; its filled form is `….fill`.
    case symbol(String)
  }

  struct Point: Equatable {
    let value: AnswerValue
    let face: Face
    /// Accessible name, with the label at an end of the scale.
    let name: String
  }

  /// Below this width more than five stars are numbers.
  static let wide = 344.0

  let points: [Point]
  let style: Style
  /// Labels below the ends, if there are any.
  let ends: (low: String, high: String)?

  static func == (one: ScaleLook, other: ScaleLook) -> Bool {
    one.points == other.points && one.style == other.style && one.ends?.low == other.ends?.low && one.ends?.high == other.ends?.high
  }

  /// The look of a step with a scale or thumbs in a card of a width in points.
  init(_ step: CardStep, texts: FeedbackTexts, width: Double) {
    let (low, high) = (step.config.labels?.low ?? "", step.config.labels?.high ?? "")
    ends = low.isEmpty && high.isEmpty ? nil : (low, high)
    guard step.type != .thumbs else {
      style = .thumbs
      points = [
        Point(value: .flag(true), face: .symbol("hand.thumbsup"), name: texts.thumbsUp),
        Point(value: .flag(false), face: .symbol("hand.thumbsdown"), name: texts.thumbsDown),
      ]
      return
    }
    let scale = step.scale ?? 1...5
    style = Self.style(step.config.style, count: scale.count, width: width)
    let drawn = style
    points = scale.map { number in
      let label = number == scale.lowerBound ? low : number == scale.upperBound ? high : ""
      let position = texts.say(texts.point, number, of: scale.upperBound)
      return Point(
        value: .number(number), face: Self.face(number, of: scale, drawn), name: label.isEmpty ? position : "\(position), \(label)")
    }
  }

  private static func style(_ name: String?, count: Int, width: Double) -> Style {
    switch name {
    case "star"?: count > 5 && width < wide ? .number : .star
    case "smiley"?: .smiley
    default: .number
    }
  }

  private static func face(_ number: Int, of scale: ClosedRange<Int>, _ style: Style) -> Face {
    let smileys = ["😠", "🙁", "😐", "🙂", "😀"]
    switch style {
    case .star: return .symbol("star")
    case .smiley:
      let share = Double(number - scale.lowerBound) / Double(scale.count - 1)
      return .text(smileys[Int((share * Double(smileys.count - 1)).rounded())])
    case .number, .thumbs: return .text(String(number))
    }
  }

  /// Whether a point is drawn as chosen. Stars fill up to the chosen one.
  func isFilled(_ point: Int, chosen: Int?) -> Bool {
    guard let chosen else { return false }
    return style == .star ? point <= chosen : point == chosen
  }
}
