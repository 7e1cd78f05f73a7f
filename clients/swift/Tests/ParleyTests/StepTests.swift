import Foundation
import XCTest

@testable import Parley

final class StepTests: XCTestCase {
  private struct Case: Decodable {
    let values: [String: AnswerValue?]
    let shown: [String]
    let name: String?
    let end: String?
    let state: String?
    let fault: String?

    var given: [String: AnswerValue] {
      values.compactMapValues { $0 }
    }
  }

  private struct ConditionalStep: Decodable {
    let key: String
    let showIf: ShowIf?
  }

  private struct Steps: Decodable {
    struct Rule: Decodable {
      let name: String
      let steps: [ConditionalStep]
      let cases: [Case]
    }
    struct Played: Decodable {
      let name: String
      let card: Card
      let answers: [Case]
    }
    struct Shuffled: Decodable {
      let card: String
      let step: String
      let options: [String]
      let order: [String]
    }
    let visible: [Rule]
    let cards: [Played]
    let shuffled: [Shuffled]
  }

  private let config = QuestionConfig(
    scale: nil, style: nil, labels: nil, options: nil, allowOther: nil, shuffle: nil, min: nil, max: nil, minLength: nil,
    maxLength: nil, input: nil, url: nil)

  private func readSteps() throws -> Steps {
    try JSON.decoder.decode(Steps.self, from: contractData("steps.json"))
  }

  func testTheStepsThatAnAnswerShows() throws {
    let rules = try readSteps().visible
    XCTAssertGreaterThan(rules.count, 10)
    for rule in rules {
      let steps = rule.steps.map {
        CardStep(key: $0.key, type: .text, title: "", description: "", config: config, required: false, showIf: $0.showIf)
      }
      XCTAssertFalse(steps.contains { $0.showIf == .unknown }, rule.name)
      for each in rule.cases {
        XCTAssertEqual(visibleSteps(steps, each.given).map(\.key), each.shown, "\(rule.name): \(each.values)")
      }
    }
  }

  /// Any steps and values, with the steps that the server shows. `test/clients/swift.check.ts` generates them.
  func testWhatTheServerShows() throws {
    guard let file = ProcessInfo.processInfo.environment["PARLEY_GENERATED_STEPS"] else { return }
    struct Generated: Decodable {
      let steps: [ConditionalStep]
      let values: [String: AnswerValue]
      let shown: [String]
    }
    let cases = try JSON.decoder.decode([Generated].self, from: Data(contentsOf: URL(fileURLWithPath: file)))
    XCTAssertGreaterThan(cases.count, 100)
    for (number, each) in cases.enumerated() {
      let steps = each.steps.map {
        CardStep(key: $0.key, type: .text, title: "", description: "", config: config, required: false, showIf: $0.showIf)
      }
      XCTAssertFalse(steps.contains { $0.showIf == .unknown }, "case \(number)")
      XCTAssertEqual(visibleSteps(steps, each.values).map(\.key), each.shown, "case \(number)")
    }
  }

  func testShuffledOptionsKeepTheirOrder() throws {
    for each in try readSteps().shuffled {
      let options = each.options.map { QuestionConfig.Option(id: $0, label: $0) }
      for isShuffled in [true, false] {
        let step = CardStep(
          key: each.step, type: .singleChoice, title: "", description: "",
          config: QuestionConfig(
            scale: nil, style: nil, labels: nil, options: options, allowOther: nil, shuffle: isShuffled, min: nil, max: nil,
            minLength: nil, maxLength: nil, input: nil, url: nil), required: false, showIf: nil)
        XCTAssertEqual(step.shownOptions(inCard: each.card).map(\.id), isShuffled ? each.order : each.options)
      }
    }
  }

  func testTextBeyondALimitIsKeptAndMarkedAndCostsNoScore() throws {
    let long = String(repeating: "x", count: 5001)
    let texts = FeedbackTexts()
    var walk = CardWalk(try card())
    walk.set(.number(3), for: "main")
    walk.comment = long
    XCTAssertTrue(walk.isTooLong)
    XCTAssertEqual(walk.faults(texts)["main"], "Please enter no more than 5000 characters.")
    XCTAssertEqual(walk.entry, CardEntry(values: ["main": .number(3)]), "the server would reject the whole answer")
    XCTAssertNil(walk.next())
    XCTAssertEqual(walk.comment, long)
    walk.comment = String(long.dropLast()) + " \n"
    XCTAssertFalse(walk.isTooLong)
    XCTAssertEqual(walk.next()?.key, "why")
    walk.set(.text(long), for: "why")
    XCTAssertTrue(walk.isTooLong)
    XCTAssertEqual(walk.entry.values, ["main": .number(3)])
    let other = AnswerValue.choice(.init(otherText: long))
    let step = CardStep(
      key: "main", type: .singleChoice, title: "", description: "",
      config: QuestionConfig(
        scale: nil, style: nil, labels: nil, options: nil, allowOther: true, shuffle: nil, min: nil, max: nil, minLength: nil,
        maxLength: nil, input: nil, url: nil), required: true, showIf: nil)
    XCTAssertEqual(step.fault(of: other, texts), "Please enter no more than 5000 characters.")
  }

  func testAnswersToCardsWithSeveralSteps() async throws {
    for played in try readSteps().cards {
      XCTAssertTrue(played.card.canBeShown)
      for answer in played.answers {
        let label = "\(played.name): \(answer.name ?? "")"
        var walk = CardWalk(played.card)
        for (key, value) in answer.given { walk.set(value, for: key) }
        let entry = walk.entry
        // A client evaluates the conditions with the valid values only.
        let isValid = answer.given.allSatisfy { key, _ in !answer.shown.contains(key) || entry.values[key] != nil }
        if isValid { XCTAssertEqual(walk.steps.map(\.key), answer.shown, label) }
        XCTAssertTrue(Set(entry.values.keys).isSubset(of: walk.steps.map(\.key)), label)
        guard let fault = answer.fault else {
          XCTAssertEqual(entry.values, answer.given, label)
          if answer.state == "completed" { XCTAssertEqual(walk.faults(FeedbackTexts()), [:], label) }
          if let end = answer.end { try await DraftPlay().ends(played.card, end, entry, as: answer.state!, label) }
          continue
        }
        let step = String(fault.dropFirst("/values/".count))
        XCTAssertNil(entry.values[step], label)
        let isShown = answer.shown.contains(step) && played.card.step(step)?.type != .statement
        if isShown { XCTAssertNotNil(walk.faults(FeedbackTexts())[step], label) }
      }
    }
  }

  func testACardWithAnythingUnknownIsNotShown() throws {
    let condition = #"{"step": "main", "op": "eq", "value": 1}"#
    let known = [
      "null", condition, #"{"step": "main", "op": "answered"}"#, #"{"step": "main", "op": "in", "value": ["a", true, 1.5]}"#,
      #"{"all": [\#(condition), \#(condition)]}"#, #"{"any": [\#(condition), \#(condition)]}"#,
    ]
    let unknown = [
      #"{"step": "main", "op": "matches", "value": "a"}"#, #"{"step": "main", "op": "eq", "value": {"from": 1}}"#,
      #"{"step": "main", "op": "in", "value": [1, null]}"#, #"{"step": "main", "op": "eq", "value": 1, "ignore_case": true}"#,
      #"{"op": "answered"}"#, #"{"none": [\#(condition)]}"#, #"{"all": [\#(condition)], "at_least": 1}"#,
      #"{"all": [{"any": [\#(condition)]}]}"#, #"{"all": \#(condition)}"#, "{}", "[]", "true", "7", #""main""#,
    ]
    for (conditions, isKnown) in [(known, true), (unknown, false)] {
      for showIf in conditions { XCTAssertEqual(try card(showIf: showIf).canBeShown, isKnown, showIf) }
    }
    XCTAssertFalse(try card(type: "ranking").canBeShown)
    XCTAssertFalse(try JSON.decoder.decode(Card.self, from: Data(cardJSON(1).utf8)).canBeShown, "no steps")
  }

  /// main (nps), why (text, if main ≤ 6), parts (multi choice that may be empty), call (thumbs, if why is answered).
  private func card(type: String = "text", showIf: String = #"{"step": "main", "op": "lte", "value": 6}"#) throws -> Card {
    let step = { (key: String, type: String, required: Bool, config: String, showIf: String) in
      #"{"key": "\#(key)", "type": "\#(type)", "title": "t", "description": "", "config": \#(config), "#
        + #""required": \#(required), "show_if": \#(showIf)}"#
    }
    let options = #"{"min": 0, "options": [{"id": "a", "label": "A"}]}"#
    let steps = [
      step("main", "nps", true, "{}", "null"), step("why", type, false, "{}", showIf),
      step("parts", "multi_choice", true, options, "null"),
      step("call", "thumbs", true, "{}", #"{"step": "why", "op": "answered"}"#),
    ]
    let text = cardJSON(1).replacingOccurrences(of: #""steps": []"#, with: #""steps": [\#(steps.joined(separator: ","))]"#)
    return try JSON.decoder.decode(Card.self, from: Data(text.utf8))
  }

  func testTheWayThroughACard() throws {
    let texts = FeedbackTexts()
    var walk = CardWalk(try card())
    XCTAssertEqual(walk.step?.key, "main")
    XCTAssertNil(walk.next(), "main is missing")
    walk.set(.number(9), for: "main")
    XCTAssertEqual(walk.progressText(texts), "Step 1 of 2")
    walk.set(.number(3), for: "main")
    XCTAssertEqual(walk.progress, StepProgress(number: 1, count: 3))
    XCTAssertEqual(walk.submitText(texts), "Next")
    XCTAssertEqual(walk.next()?.key, "why")
    walk.set(.text("slow"), for: "why")
    XCTAssertEqual(walk.progress, StepProgress(number: 2, count: 4))
    XCTAssertEqual(walk.next()?.key, "parts")
    XCTAssertEqual(walk.entry.values, ["main": .number(3), "why": .text("slow")])
    XCTAssertEqual(walk.next()?.key, "call", "nothing selected is an answer")
    XCTAssertEqual(walk.entry.values["parts"], .choice(.init(optionIds: [])))
    XCTAssertEqual(walk.submitText(texts), "Send")
    walk.set(.flag(true), for: "call")
    for key in ["parts", "why", "main"] { XCTAssertEqual(walk.back()?.key, key) }
    XCTAssertNil(walk.back())
    XCTAssertEqual(walk.entry.values.count, 4, "Back loses nothing")

    walk.set(.number(10), for: "main")
    XCTAssertEqual(walk.entry.values, ["main": .number(10), "parts": .choice(.init(optionIds: []))], "hidden values are dropped")
    walk.set(.number(2), for: "main")
    XCTAssertEqual(walk.entry.values["why"], .text("slow"), "and return with their step")
  }

  /// Whatever the user enters, in whatever order, the record is one that the server accepts.
  func testAnyWayThroughTheCardsOfTheContract() throws {
    for played in try readSteps().cards {
      // Values of the contract's answers, valid and not, for any of the steps.
      let values = played.answers.flatMap { Array($0.given.values) } + [.number(5), .flag(false), .text("")]
      var random = Dice(state: 38)
      for _ in 0..<300 {
        var walk = CardWalk(played.card)
        var entered: [String: AnswerValue] = [:]
        for _ in 0..<12 {
          let key = played.card.steps.randomElement(using: &random)!.key
          switch Int.random(in: 0..<6, using: &random) {
          case 0: _ = walk.next()
          case 1: _ = walk.back()
          case 2:
            walk.set(nil, for: key)
            entered[key] = nil
          default:
            entered[key] = values.randomElement(using: &random)
            walk.set(entered[key], for: key)
          }
          let (shown, entry) = (walk.steps, walk.entry)
          XCTAssertEqual(walk.values, entered, "moving changes no value")
          XCTAssertTrue(shown.contains { $0.key == walk.step?.key }, "the current step is shown")
          XCTAssertEqual(visibleSteps(played.card.steps, entry.values), shown, "what is recorded shows the same steps")
          for (key, value) in entry.values {
            let step = shown.first { $0.key == key }
            XCTAssertNotNil(step, "only values of shown steps")
            XCTAssertNil(step?.fault(of: value, FeedbackTexts()), "only valid values")
          }
          if walk.faults(FeedbackTexts()).isEmpty {
            walk.passAll()
            let missing = shown.filter { $0.required && $0.type != .statement && walk.entry.values[$0.key] == nil }
            XCTAssertEqual(missing.map(\.key), [], "a completed answer has what is required")
          }
        }
      }
    }
  }

  func testAChangeThatHidesTheCurrentStep() throws {
    var walk = CardWalk(try card())
    walk.set(.number(3), for: "main")
    XCTAssertEqual(walk.next()?.key, "why")
    walk.set(.number(9), for: "main")
    XCTAssertEqual(walk.step?.key, "main")
    XCTAssertEqual(walk.next()?.key, "parts")
  }

  func testTheContextOfAView() throws {
    let fields = { (count: Int) in Dictionary(uniqueKeysWithValues: (0..<count).map { ("field_\($0)", "x") }) }
    XCTAssertEqual(try FeedbackContext(fields(18)).fields.count, 18)
    let refused: [[String: String]] = [
      fields(19), ["platform": "x"], ["card_locale": "de"], ["trigger": "x"], ["a b": "x"], ["": "x"],
      ["a": String(repeating: "x", count: 257)],
    ]
    for each in refused {
      XCTAssertThrowsError(try FeedbackContext(each), "\(each)") { XCTAssertEqual(($0 as? ParleyError)?.kind, .invalidArgument) }
    }
  }

  func testASessionGoesStepByStep() async throws {
    try await SessionPlay(card: card()).goesStepByStep()
  }
}

/// Random numbers that are the same in each run (xorshift).
private struct Dice: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state
  }
}

/// Runs on the main actor, like views; test cases do not.
@MainActor
private struct SessionPlay {
  let card: Card

  func goesStepByStep() async throws {
    let stage = Stage()
    let client = try makeClient(stage, provider: steady, sleepEnds: false)
    let session = CardSession(card, client: client, metadata: ["platform": "ios"])
    var failed = await outcome { try await session.next() }
    XCTAssertEqual(failed.name, "invalid-argument")
    try await session.set(.number(3))
    let why = try await session.next()
    XCTAssertEqual(why?.key, "why")
    try await session.set(.text("slow"), for: "why")
    XCTAssertEqual(session.back()?.key, "main")
    try await session.set(.number(9))
    XCTAssertEqual(session.steps.map(\.key), ["main", "parts"])
    let parts = try await session.next()
    XCTAssertEqual(parts?.key, "parts")
    let end = try await session.next()
    XCTAssertNil(end)
    failed = await outcome { try await session.set(.number(1), for: "phone") }
    XCTAssertEqual(failed.name, "invalid-argument")
    await stage.serve([receiptsCue(.object([:]))])
    try await session.complete()
    let bodies = await stage.sent.compactMap(\.body)
    let answer = try readJSON(XCTUnwrap(bodies.first))["answers"]![0]
    XCTAssertEqual(answer["values"], .object(["main": .number(9), "parts": .object(["option_ids": .list([])])]))
    XCTAssertEqual(answer["metadata"], .object(["platform": .text("ios"), "card_locale": .text("en")]))

    let crowded = Dictionary(uniqueKeysWithValues: (0..<19).map { ("field_\($0)", "x") })
    let other = CardSession(card, client: client, metadata: crowded)
    failed = await outcome { try await other.markSeen() }
    XCTAssertEqual(failed.name, "invalid-argument")
    let left = try await client.countUnsentAnswers()
    XCTAssertEqual(left, 0)
  }
}
