import Foundation
import XCTest

@testable import Parley

final class ThanksTests: XCTestCase {
  func testTheThanksAfterTheLastCardDisappear() async throws {
    try await FeedbackPlay().theThanksAfterTheLastCardDisappear()
  }

  func testThanksOfAQuestionComeBeforeTheNextCard() async throws {
    try await FeedbackPlay().thanksOfAQuestionComeBeforeTheNextCard()
  }

  func testThanksThatAreReadAloudStay() async throws {
    try await FeedbackPlay().thanksThatAreReadAloudStay()
  }

  func testCardsThatArriveMeanwhileFollowTheThanks() async throws {
    try await FeedbackPlay().cardsThatArriveMeanwhileFollowTheThanks()
  }

  func testThanksLeaveWithTheView() async throws {
    try await FeedbackPlay().thanksLeaveWithTheView()
  }

  func testADismissedCardIsNotThankedFor() async throws {
    try await FeedbackPlay().aDismissedCardIsNotThankedFor()
  }

  func testTheSelectionOfCards() async throws {
    try await FeedbackPlay().theSelectionOfCards()
  }
}

private let ownThanks = #""thanks": {"title": "Merci !", "body": null, "link": null}, "#
private let nine = CardEntry(values: ["main": .number(9)])

extension FeedbackPlay {
  fileprivate func theThanksAfterTheLastCardDisappear() async throws {
    for closes in [true, false] {
      let stage = Stage()
      let deck = try makeDeck(stage, sleepEnds: !closes)
      await stage.serve([cardsCue(card(1)), receiptsCue(.object([:])), cardsCue()])
      await deck.load().value
      var changes = 0
      deck.onShow = { _ in changes += 1 }
      let sending = deck.end(.completed, nine)
      XCTAssertEqual(deck.thanked?.id, "card_1")
      XCTAssertNil(deck.shown)
      XCTAssertEqual(changes, 1)
      await sending.value
      if closes { deck.closeThanks() }
      while deck.thanked != nil { await Task.yield() }
      XCTAssertEqual(changes, 2)
      let slept = await stage.slept
      if !closes { XCTAssertEqual(slept, [5000]) }
    }
  }

  fileprivate func thanksOfAQuestionComeBeforeTheNextCard() async throws {
    let stage = Stage()
    let deck = try makeDeck(stage)
    await stage.serve([cardsCue(card(1, more: ownThanks), card(2)), receiptsCue(.object([:])), cardsCue(card(2))])
    await deck.load().value
    await deck.end(.completed, nine).value
    XCTAssertEqual(deck.thanked?.thanks?.title, "Merci !")
    XCTAssertNil(deck.shown, "the next card waits")
    deck.closeThanks()
    XCTAssertNil(deck.thanked)
    XCTAssertEqual(deck.shown?.card.id, "card_2")
    deck.closeThanks()
    XCTAssertEqual(deck.shown?.card.id, "card_2", "a second tap changes nothing")
  }

  fileprivate func thanksThatAreReadAloudStay() async throws {
    let stage = Stage()
    let deck = try makeDeck(stage, sleepEnds: true)
    await stage.serve([cardsCue(card(1)), receiptsCue(.object([:])), cardsCue()])
    await deck.load().value
    var looks = 0
    deck.areThanksInUse = {
      looks += 1
      return looks <= 2
    }
    await deck.end(.completed, nine).value
    while deck.thanked != nil { await Task.yield() }
    let slept = await stage.slept
    XCTAssertEqual(slept, [5000, 5000, 5000])
  }

  fileprivate func cardsThatArriveMeanwhileFollowTheThanks() async throws {
    let stage = Stage()
    let deck = try makeDeck(stage)
    await stage.serve([cardsCue(card(1)), receiptsCue(.object([:])), cardsCue(), cardsCue(card(2))])
    await deck.load().value
    await deck.end(.completed, nine).value
    await deck.load().value
    XCTAssertEqual(deck.thanked?.id, "card_1")
    XCTAssertNil(deck.shown)
    deck.closeThanks()
    XCTAssertEqual(deck.shown?.card.id, "card_2")
  }

  fileprivate func thanksLeaveWithTheView() async throws {
    let stage = Stage()
    let deck = try makeDeck(stage)
    await stage.serve([cardsCue(card(1, more: ownThanks), card(2)), receiptsCue(.object([:])), cardsCue(card(2))])
    await deck.load().value
    await deck.end(.completed, nine).value
    await deck.putAway(CardEntry()).value
    XCTAssertNil(deck.thanked)
    XCTAssertNil(deck.shown, "no card appears in a view that is gone")
  }

  fileprivate func aDismissedCardIsNotThankedFor() async throws {
    let stage = Stage()
    let deck = try makeDeck(stage)
    await stage.serve([cardsCue(card(1, more: ownThanks)), receiptsCue(.object([:]))])
    await deck.load().value
    await deck.end(.dismissed, CardEntry()).value
    XCTAssertNil(deck.thanked)
  }

  fileprivate func theSelectionOfCards() async throws {
    let button = #""placement": "button", "#
    let expected: [(FeedbackSelection, [String])] = [
      (.all, ["card_2", "card_3", "card_1"]), (.exceptButtons, ["card_2", "card_3"]), (.question("question_1"), ["card_1"]),
      (.question("question_9"), []),
    ]
    for (selection, ids) in expected {
      let stage = Stage()
      let deck = try makeDeck(stage, selection: selection)
      let receipts = ids.map { _ in receiptsCue(.object([:])) }
      await stage.serve([cardsCue(card(1, more: button), card(2), card(3))] + receipts)
      await deck.load().value
      var shown: [String] = []
      while let card = deck.shown?.card {
        shown.append(card.id)
        await deck.end(.dismissed, CardEntry()).value
      }
      XCTAssertEqual(shown, ids, "\(selection)")
    }
  }
}
