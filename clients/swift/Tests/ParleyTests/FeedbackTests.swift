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

  func testFaults() async throws {
    try await FeedbackPlay().faults()
  }
}

/// Runs on the main actor, like views; test cases do not.
@MainActor
private struct FeedbackPlay {
  private func makeDeck(_ stage: Stage) throws -> FeedbackDeck {
    let client = try makeClient(stage, provider: steady, sleepEnds: false)
    let deck = FeedbackDeck(client: client, query: CardQuery(), metadata: ["platform": "ios"])
    deck.onError = { XCTFail("\($0)") }
    return deck
  }

  private func cardsCue(_ cards: String...) -> Cue {
    Cue(status: 200, body: #"{"data": [\#(cards.joined(separator: ","))], "poll_after_s": 60}"#)
  }

  private func card(_ number: Int, type: String = "nps", config: String = "{}") -> String {
    let step = #"{"key": "main", "type": "\#(type)", "title": "t", "description": "", "config": \#(config), "#
      + #""required": true, "show_if": null}"#
    return cardJSON(number).replacingOccurrences(of: #""steps": []"#, with: #""steps": [\#(step)]"#)
  }

  private func states(_ stage: Stage) async throws -> [String] {
    let answers = try await stage.sent.compactMap(\.body).flatMap { try readJSON($0)["answers"]!.list }
    return answers.map { "\($0["state"]!.text!) \($0["revision"]!.int!)" }
  }

  func aCardThatStopsBeingDisplayedIsSentAsFarAsItGoes() async throws {
    let (stage, receipts) = (Stage(), receiptsCue(.object([:])))
    let deck = try makeDeck(stage)
    await stage.serve([cardsCue(card(1)), receipts])
    var changes = 0
    deck.onShow = { _ in changes += 1 }
    await deck.load().value
    XCTAssertEqual(deck.shown?.card.id, "card_1")
    await deck.save(CardEntry()).value
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
    await stage.serve([cardsCue(card(1)), receiptsCue(.object([:])), receiptsCue(.object([:]))])
    await deck.load().value
    await deck.sync(CardEntry()).value
    XCTAssertEqual(deck.shown?.card.id, "card_1")
    await deck.end(.completed, CardEntry(values: ["main": .number(9)])).value
    let sent = try await states(stage)
    XCTAssertEqual(sent, ["seen 1", "completed 2"])
  }

  func anAnsweredCardIsSentAndTheNextIsShown() async throws {
    let stage = Stage()
    let deck = try makeDeck(stage)
    await stage.serve([cardsCue(card(1), card(2)), receiptsCue(.object([:])), receiptsCue(.object([:]))])
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
    XCTAssertEqual(try fault("multi_choice", #"{"max": 1}"#, two), "Please select no more than 1.")
    XCTAssertEqual(try fault("multi_choice", #"{"min": 3}"#, two), "Please select at least 3.")
    XCTAssertEqual(try fault("single_choice", "{}", .choice(.init(otherText: " "))), "Please specify.")
    XCTAssertEqual(FeedbackTexts.for("de-CH").send, "Senden")
  }
}
