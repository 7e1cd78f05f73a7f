/// Returns the steps that an answer shows, in order (`clients/contract/steps.json`). The value of a step that is not
/// shown counts as missing.
func visibleSteps(_ steps: [CardStep], _ values: [String: AnswerValue]) -> [CardStep] {
  var shown: [String: AnswerValue] = [:]
  return steps.filter { step in
    guard step.showIf?.isMet(by: shown) ?? true else { return false }
    shown[step.key] = values[step.key]
    return true
  }
}

extension ShowIf {
  fileprivate func isMet(by values: [String: AnswerValue]) -> Bool {
    let isMet = { (condition: Condition) in condition.holds(for: values[condition.step]) }
    return switch self {
    case .one(let condition): isMet(condition)
    case .all(let conditions): conditions.allSatisfy(isMet)
    case .any(let conditions): conditions.contains(where: isMet)
    case .unknown: false
    }
  }
}

extension Condition {
  /// Without a value only `not_answered` holds. Types never mix: the text "6" is not the number 6.
  fileprivate func holds(for value: AnswerValue?) -> Bool {
    guard let value else { return op == .notAnswered }
    let given = value.operands
    return switch op {
    case .answered: true
    case .notAnswered: false
    case .eq: equals(given)
    case .ne: !given.isEmpty && !equals(given)
    case .lt: compares(given, <)
    case .lte: compares(given, <=)
    case .gt: compares(given, >)
    case .gte: compares(given, >=)
    case .in, .containsAny: operands.contains(where: given.contains)
    case .containsAll: operands.allSatisfy(given.contains)
    }
  }

  private func equals(_ given: [Operand]) -> Bool {
    !isList && operands.contains(where: given.contains)
  }

  private func compares(_ given: [Operand], _ isMet: (Double, Double) -> Bool) -> Bool {
    guard !isList, case .number(let value)? = given.first, case .number(let wanted)? = operands.first else { return false }
    return isMet(value, wanted)
  }
}

extension AnswerValue {
  /// The value, or the ids of the chosen options, with `other` for the user's own text.
  fileprivate var operands: [Condition.Operand] {
    switch self {
    case .number(let number): return [.number(Double(number))]
    case .flag(let flag): return [.flag(flag)]
    case .text(let text): return [.text(text)]
    case .choice(let choice):
      let other = choice.otherText == nil ? [] : ["other"]
      return ([choice.optionId].compactMap { $0 } + (choice.optionIds ?? []) + other).map { .text($0) }
    }
  }
}
