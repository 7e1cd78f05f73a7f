import Foundation
import XCTest

@testable import Parley

final class FeedbackTests: XCTestCase {
  func testACardThatStopsBeingDisplayedIsSentAsFarAsItGoes() async throws {
    try await FeedbackPlay().aCardThatStopsBeingDisplayedIsSentAsFarAsItGoes()
  }

  func testACardThatIsLeftWithTheAppIsSentAndStays() async throws {
    try await FeedbackPlay().aCardThatIsLeftWithTheAppIsSentAndStays()
  }

  func testAnAnsweredCardIsSentAndTheNextIsShown() async throws {
    try await FeedbackPlay().anAnsweredCardIsSentAndTheNextIsShown()
  }

  func testACardThatIsShownStaysWhenTheCardsAreReadAgain() async throws {
    try await FeedbackPlay().aCardThatIsShownStaysWhenTheCardsAreReadAgain()
  }

  func testCardsOfALaterServerAreLeftOut() async throws {
    try await FeedbackPlay().cardsOfALaterServerAreLeftOut()
  }

  func testACardCountsAsSeenAfterASecondInSight() async throws {
    try await FeedbackPlay().aCardCountsAsSeenAfterASecondInSight()
  }

  func testACardThatNobodySawLeavesNoTrace() async throws {
    try await FeedbackPlay().aCardThatNobodySawLeavesNoTrace()
  }

  func testTheAppLearnsWhatWasAnswered() async throws {
    try await FeedbackPlay().theAppLearnsWhatWasAnswered()
  }

  func testASessionForAnInterfaceOfOnesOwn() async throws {
    try await FeedbackPlay().aSessionForAnInterfaceOfOnesOwn()
  }

  func testTextIsSavedAfterAPause() async throws {
    try await FeedbackPlay().textIsSavedAfterAPause()
  }

  func testTheVisibleShareOfAView() {
    let (screen, card) = (CGRect(x: 0, y: 0, width: 400, height: 800), CGRect(x: 0, y: 600, width: 400, height: 400))
    XCTAssertEqual(visibleShare(of: card, within: [screen]), 0.5)
    XCTAssertEqual(visibleShare(of: card, within: [screen, CGRect(x: 0, y: 0, width: 400, height: 700)]), 0.25)
    XCTAssertEqual(visibleShare(of: card.offsetBy(dx: 0, dy: 300), within: [screen]), 0, "below the fold")
    XCTAssertEqual(visibleShare(of: CGRect(x: 0, y: -100, width: 400, height: 2000), within: [screen]), 1, "larger than the screen")
    XCTAssertEqual(visibleShare(of: .zero, within: [screen]), 0)
  }

  func testFaults() async throws {
    try await FeedbackPlay().faults()
  }

  func testAViewReturnsAfterTheTimeThatTheServerHasAskedToWaitFor() async throws {
    try await FeedbackPlay().aViewReturnsAfterTheTimeThatTheServerHasAskedToWaitFor()
  }

  func testDigitsOfOtherScripts() async throws {
    try await FeedbackPlay().digitsOfOtherScripts()
  }
}

/// Runs on the main actor, like views; test cases do not.
@MainActor
struct FeedbackPlay {
  func makeDeck(_ stage: Stage, sleepEnds: Bool = false, selection: FeedbackSelection = .all) throws -> FeedbackDeck {
    let client = try makeClient(stage, provider: steady, sleepEnds: sleepEnds)
    let deck = FeedbackDeck(client: client, query: CardQuery(), metadata: ["platform": "ios"], selection: selection)
    deck.onError = { XCTFail("\($0)") }
    return deck
  }

  func cardsCue(_ cards: String...) -> Cue {
    Cue(status: 200, body: #"{"data": [\#(cards.joined(separator: ","))], "poll_after_s": 60}"#)
  }

  /// `more`: further members of the card, each with a comma.
  func card(_ number: Int, type: String = "nps", config: String = "{}", more: String = "") -> String {
    let step =
      #"{"key": "main", "type": "\#(type)", "title": "t", "description": "", "config": \#(config), "#
      + #""required": true, "show_if": null}"#
    return cardJSON(number).replacingOccurrences(of: #""steps": []"#, with: #"\#(more)"steps": [\#(step)]"#)
  }

  func states(_ stage: Stage) async throws -> [String] {
    let answers = try await stage.sent.compactMap(\.body).flatMap { try readJSON($0)["answers"]!.list }
    return answers.map { "\($0["state"]!.text!) \($0["revision"]!.int!)" }
  }

  /// Lets a second pass with the card in sight.
  func see(_ deck: FeedbackDeck, _ stage: Stage) async {
    await deck.measure(visibleShare: 1)?.value
    stage.clock.use { $0 += 1 }
    await deck.measure(visibleShare: 1)?.value
  }

  func aCardCountsAsSeenAfterASecondInSight() async throws {
    let stage = Stage()
    let deck = try makeDeck(stage)
    await stage.serve([cardsCue(card(1)), receiptsCue(.object([:]))])
    await deck.load().value
    let samples: [(seconds: Double, share: Double, isSeen: Bool)] = [
      (0, 0.6, false), (0.9, 0.6, false), (1, 0.4, false), (1.5, 0.5, false), (2.4, 0.5, false), (2.5, 0.5, true),
    ]
    for sample in samples {
      stage.clock.use { $0 = Date(timeIntervalSince1970: sample.seconds) }
      await deck.measure(visibleShare: sample.share)?.value
      let count = try await deck.client.countUnsentAnswers()
      XCTAssertEqual(count == 1, sample.isSeen, "\(sample)")
      XCTAssertEqual(deck.isWaitingToBeSeen, !sample.isSeen)
    }
    await deck.sync(CardEntry()).value
    let bodies = await stage.sent.compactMap(\.body)
    let answer = try readJSON(XCTUnwrap(bodies.first))["answers"]![0]
    XCTAssertEqual(answer["displayed_at"], .text("1970-01-01T00:00:01.500Z"))
    let sent = try await states(stage)
    XCTAssertEqual(sent, ["seen 1"])
  }

  func aViewReturnsAfterTheTimeThatTheServerHasAskedToWaitFor() async throws {
    for (random, delay) in [(0.0, 20_000), (0.5, 30_000), (0.75, 35_000)] {
      let stage = Stage()
      stage.chance.use { $0 = random }
      let client = try makeClient(stage, provider: steady)
      let deck = FeedbackDeck(client: client, query: CardQuery(), metadata: [:])
      await stage.serve([Cue(status: 429, headers: ["Retry-After": "20"]), cardsCue(card(1))])
      await deck.load().value
      while deck.shown == nil { await Task.yield() }
      XCTAssertEqual(deck.shown?.card.id, "card_1")
      let slept = await stage.slept
      XCTAssertEqual(slept, [delay])
    }
  }

  func digitsOfOtherScripts() async throws {
    let source = Data(card(1, type: "text", config: #"{"input": "number"}"#).utf8)
    var walk = CardWalk(try JSON.decoder.decode(Card.self, from: source))
    for each in try contract("steps.json")["numbers"]!.list {
      walk.set(.text(each["typed"]!.text!), for: "main")
      XCTAssertEqual(walk.entry.values["main"], each["sent"]?.text.map { .text($0) }, each["typed"]!.text!)
    }
  }

  func aCardThatNobodySawLeavesNoTrace() async throws {
    let stage = Stage()
    let deck = try makeDeck(stage)
    await stage.serve([cardsCue(card(1))])
    await deck.load().value
    await deck.save(CardEntry()).value
    await deck.sync(CardEntry()).value
    await deck.putAway(CardEntry()).value
    let count = try await deck.client.countUnsentAnswers()
    XCTAssertEqual(count, 0)
    let sent = try await states(stage)
    XCTAssertEqual(sent, [])
  }

  func theAppLearnsWhatWasAnswered() async throws {
    let stage = Stage()
    let deck = try makeDeck(stage)
    var given: [GivenAnswer] = []
    deck.onAnswer = { given.append($0) }
    await stage.serve([
      cardsCue(card(1), card(2)), receiptsCue(.object([:])), cardsCue(card(2)), receiptsCue(.object([:])),
    ])
    await deck.load().value
    await deck.end(.completed, CardEntry(values: ["main": .number(10)], comment: "great")).value
    await deck.end(.dismissed, CardEntry()).value
    XCTAssertEqual(given.map(\.card.id), ["card_1", "card_2"])
    XCTAssertEqual(given.map(\.state), [.completed, .dismissed])
    XCTAssertEqual(given.map(\.main), [.number(10), nil])
    XCTAssertEqual(given.map(\.comment), ["great", nil])
  }

  func aSessionForAnInterfaceOfOnesOwn() async throws {
    let stage = Stage()
    let client = try makeClient(stage, provider: steady, sleepEnds: false)
    await stage.serve([cardsCue(card(1)), receiptsCue(.object([:]))])
    let session = CardSession(try await client.listCards()[0], client: client)
    try await session.markSeen()
    try await session.markSeen()
    XCTAssertEqual(session.validate(), ["main": FeedbackTexts().required])
    do {
      try await session.complete()
      XCTFail("a card without a required value was completed")
    } catch let error as ParleyError {
      XCTAssertEqual(error.kind, .invalidArgument)
    }
    try await session.set(.number(8))
    try await session.set(.number(8))
    try await session.set(comment: " fast ")
    XCTAssertEqual(session.validate(), [:])
    try await session.complete()
    try await session.set(.number(1))
    let bodies = await stage.sent.compactMap(\.body)
    let answer = try readJSON(XCTUnwrap(bodies.first))["answers"]![0]
    XCTAssertEqual(answer["revision"], .number(4))
    XCTAssertEqual(answer["state"], .text("completed"))
    XCTAssertEqual(answer["values"], .object(["main": .number(8)]))
    XCTAssertEqual(answer["comment"], .text("fast"))
    let left = try await client.countUnsentAnswers()
    XCTAssertEqual(left, 0)
  }

  func textIsSavedAfterAPause() async throws {
    let debounce = Debounce(milliseconds: 20)
    var saved: [Int] = []
    for keystroke in 1...3 { debounce.schedule { saved.append(keystroke) } }
    while saved.isEmpty { await Task.yield() }
    XCTAssertEqual(saved, [3])
    debounce.schedule { saved.append(4) }
    debounce.cancel()
    try await Task.sleep(nanoseconds: 60_000_000)
    XCTAssertEqual(saved, [3])
  }

  func aCardThatStopsBeingDisplayedIsSentAsFarAsItGoes() async throws {
    let (stage, receipts) = (Stage(), receiptsCue(.object([:])))
    let deck = try makeDeck(stage)
    await stage.serve([cardsCue(card(1)), receipts])
    var changes = 0
    deck.onShow = { _ in changes += 1 }
    await deck.load().value
    XCTAssertEqual(deck.shown?.card.id, "card_1")
    await see(deck, stage)
    await deck.save(CardEntry()).value
    await deck.putAway(CardEntry(values: ["main": .number(9)], comment: "good")).value
    XCTAssertNil(deck.shown)
    XCTAssertEqual(changes, 2)
    let sent = try await states(stage)
    XCTAssertEqual(sent, ["partial 2"])
  }

  func aCardThatIsLeftWithTheAppIsSentAndStays() async throws {
    let stage = Stage()
    let deck = try makeDeck(stage)
    await stage.serve([cardsCue(card(1)), receiptsCue(.object([:])), receiptsCue(.object([:])), cardsCue()])
    await deck.load().value
    await see(deck, stage)
    await deck.sync(CardEntry()).value
    XCTAssertEqual(deck.shown?.card.id, "card_1")
    await deck.end(.completed, CardEntry(values: ["main": .number(9)])).value
    let sent = try await states(stage)
    XCTAssertEqual(sent, ["seen 1", "completed 2"])
  }

  func anAnsweredCardIsSentAndTheNextIsShown() async throws {
    let stage = Stage()
    let deck = try makeDeck(stage)
    await stage.serve([
      cardsCue(card(1), card(2)), receiptsCue(.object([:])), cardsCue(card(2)), receiptsCue(.object([:])),
    ])
    await deck.load().value
    let sending = deck.end(.completed, CardEntry(values: ["main": .number(9)]))
    XCTAssertEqual(deck.shown?.card.id, "card_2")
    await sending.value
    await deck.end(.dismissed, CardEntry()).value
    XCTAssertNil(deck.shown)
    let sent = try await states(stage)
    XCTAssertEqual(sent, ["completed 1", "dismissed 1"])
  }

  func aCardThatIsShownStaysWhenTheCardsAreReadAgain() async throws {
    let stage = Stage()
    let deck = try makeDeck(stage)
    await stage.serve([cardsCue(card(1), card(2)), cardsCue(card(3), card(1)), cardsCue(card(3))])
    await deck.load().value
    await deck.load().value
    XCTAssertEqual(deck.shown?.card.id, "card_1")
    await deck.load().value
    XCTAssertEqual(deck.shown?.card.id, "card_3")
  }

  func cardsOfALaterServerAreLeftOut() async throws {
    let stage = Stage()
    let deck = try makeDeck(stage)
    await stage.serve([cardsCue(card(1, type: "ranking"), card(2))])
    await deck.load().value
    XCTAssertEqual(deck.shown?.card.id, "card_2")
  }

  func faults() throws {
    let texts = FeedbackTexts.for("en-GB")
    let fault = { (type: String, config: String, value: AnswerValue?) throws -> String? in
      let card = try JSON.decoder.decode(Card.self, from: Data(self.card(1, type: type, config: config).utf8))
      return card.steps[0].fault(of: value, texts)
    }
    XCTAssertEqual(try fault("nps", "{}", nil), texts.required)
    XCTAssertNil(try fault("nps", "{}", .number(0)))
    XCTAssertNil(try fault("statement", "{}", nil))
    XCTAssertEqual(try fault("text", #"{"min_length": 3}"#, .text("ab")), "Please enter at least 3 characters.")
    XCTAssertEqual(try fault("text", #"{"input": "email"}"#, .text("ada@example")), texts.email)
    XCTAssertNil(try fault("text", #"{"input": "email"}"#, .text("ada@example.com")))
    XCTAssertEqual(try fault("text", #"{"input": "url"}"#, .text("example.com")), texts.url)
    XCTAssertNil(try fault("text", #"{"input": "url"}"#, .text("https://example.com/a")))
    XCTAssertEqual(try fault("text", #"{"input": "number"}"#, .text("1e3")), texts.number)
    let two = AnswerValue.choice(.init(optionIds: ["a", "b"]))
    let options = #""options": [{"id": "a", "label": "A"}, {"id": "b", "label": "B"}]"#
    XCTAssertEqual(try fault("multi_choice", #"{"max": 1, \#(options)}"#, two), "Please select no more than 1.")
    XCTAssertEqual(try fault("multi_choice", #"{"min": 3, \#(options)}"#, two), "Please select at least 3.")
    XCTAssertEqual(try fault("multi_choice", "{}", two), texts.required)
    XCTAssertEqual(try fault("multi_choice", #"{"min": 1, \#(options)}"#, .choice(.init(optionIds: []))), "Please select at least 1.")
    XCTAssertNil(try fault("multi_choice", #"{"min": 0, \#(options)}"#, .choice(.init(optionIds: []))))
    XCTAssertEqual(try fault("multi_choice", "{\(options)}", .choice(.init(optionIds: ["a", "a"]))), texts.required)
    XCTAssertNil(try fault("single_choice", "{\(options)}", .choice(.init(optionId: "a"))))
    XCTAssertEqual(try fault("single_choice", "{\(options)}", .choice(.init(optionId: "c"))), texts.required)
    XCTAssertEqual(try fault("single_choice", "{\(options)}", .choice(.init(otherText: "c"))), texts.required)
    XCTAssertNil(try fault("single_choice", #"{"allow_other": true}"#, .choice(.init(otherText: "c"))))
    for (type, value) in [("nps", AnswerValue.number(11)), ("nps", .text("9")), ("csat", .number(0)), ("consent", .flag(false))] {
      XCTAssertEqual(try fault(type, "{}", value), texts.required, type)
    }
    XCTAssertNil(try fault("date", "{}", .text("2026-11-25")))
    XCTAssertEqual(try fault("date", "{}", .text("25.11.2026")), texts.required)
    XCTAssertEqual(try fault("text", #"{"max_length": 2}"#, .text("abc")), "Please enter no more than 2 characters.")
    XCTAssertNil(try fault("ranking", "{}", .number(1)), "later types are left to the server")
    XCTAssertEqual(try fault("single_choice", "{}", .choice(.init(otherText: " "))), "Please specify.")
    for language in ["de-CH", "de_AT", "DE", "de-Latn-DE", "de_DE@currency=EUR"] {
      XCTAssertEqual(FeedbackTexts.for(language).send, "Senden", language)
    }
    for language in ["den", "de-Hebr", "", "en-DE"] { XCTAssertEqual(FeedbackTexts.for(language).send, "Send", language) }
  }
}
