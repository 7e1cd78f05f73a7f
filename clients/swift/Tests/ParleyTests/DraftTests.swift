import Foundation
import XCTest

@testable import Parley

final class DraftTests: XCTestCase {
  func testACardThatIsClosedAfterItsScoreCounts() async throws {
    try await DraftPlay().aCardThatIsClosedAfterItsScoreCounts()
  }

  func testACardIsShownAgainWhereItWasLeft() async throws {
    try await DraftPlay().aCardIsShownAgainWhereItWasLeft()
  }

  func testACardOutlivesItsProcess() async throws {
    try await DraftPlay().aCardOutlivesItsProcess()
  }

  func testWhatEndsADraft() async throws {
    try await DraftPlay().whatEndsADraft()
  }

  func testOneViewAtATimeHasADraft() async throws {
    try await DraftPlay().oneViewAtATimeHasADraft()
  }

  func testABegunCardStaysAlthoughTheListNoLongerHasIt() async throws {
    try await DraftPlay().aBegunCardStaysAlthoughTheListNoLongerHasIt()
  }

  func testACardOfAPageLeavesWithIt() async throws {
    try await DraftPlay().aCardOfAPageLeavesWithIt()
  }

  func testADamagedFileIsIgnored() async throws {
    try await DraftPlay().aDamagedFileIsIgnored()
  }
}

/// Runs on the main actor, like views; test cases do not.
@MainActor
struct DraftPlay {
  private let play = FeedbackPlay()
  private let stage = Stage()
  private let folder = temporaryFolder()
  private let two: AnswerValue = .number(2)

  /// main (nps) and why (text).
  private func card(_ number: Int, more: String = "") -> String {
    let why =
      #"{"key": "why", "type": "text", "title": "t", "description": "", "config": {}, "required": false, "show_if": null}"#
    return play.card(number, more: more).replacingOccurrences(of: #""show_if": null}]"#, with: #""show_if": null}, \#(why)]"#)
  }

  private func makeClient(as user: String = "user|1") throws -> ParleyClient {
    let provider = TokenProvider { token("t", identity: user, expiresAt: 4_000_000_000) }
    return try ParleyTests.makeClient(stage, provider: provider, folder: folder, sleepEnds: false)
  }

  private func makeDeck(_ client: ParleyClient, selection: FeedbackSelection = .all) -> FeedbackDeck {
    let deck = FeedbackDeck(client: client, query: CardQuery(), metadata: [:], selection: selection)
    deck.onError = { XCTFail("\($0)") }
    return deck
  }

  private let receipts = receiptsCue(.object([:]))

  /// Enters the score 2 in the displayed card, goes on, and types a text; returns the input.
  private func begin(_ deck: FeedbackDeck, typing text: String = "slow") async throws -> CardWalk {
    var walk = CardWalk(try XCTUnwrap(deck.shown?.card))
    walk.set(two, for: "main")
    XCTAssertEqual(walk.next()?.key, "why")
    walk.set(.text(text), for: "why")
    let (state, entry) = (walk.state, walk.entry)
    deck.input = { state }
    await deck.save(entry).value
    return walk
  }

  /// Waits for a condition; fails after 10 s.
  private func until(line: UInt = #line, _ isSo: () -> Bool) async {
    let end = Date().addingTimeInterval(10)
    while !isSo() {
      if Date() > end { return XCTFail("never", line: line) }
      await Task.yield()
    }
  }

  /// The answers sent so far: id, state and revision.
  private func sent() async throws -> [String] {
    try await stage.sent.compactMap(\.body).flatMap { try readJSON($0)["answers"]!.list }
      .map { "\($0["id"]!.text!) \($0["state"]!.text!) \($0["revision"]!.int!)" }
  }

  /// A case of the contract: the recorded state of a card that the user ends with some input.
  func ends(_ card: Card, _ end: String, _ entry: CardEntry, as state: String, _ label: String) throws {
    let draft = Draft(card, now: { Date(timeIntervalSince1970: 0) }, metadata: [:])
    let end = try XCTUnwrap(AnswerState(rawValue: end))
    XCTAssertEqual(draft.note(end, entry)?.state.rawValue, state, label)
    XCTAssertNil(draft.note(.completed, entry), label)
  }

  func aCardThatIsClosedAfterItsScoreCounts() async throws {
    let client = try makeClient()
    await stage.serve([play.cardsCue(card(1), card(2)), receipts, receipts])
    let deck = makeDeck(client)
    var given: [GivenAnswer] = []
    deck.onAnswer = { given.append($0) }
    await deck.load().value
    let score = CardEntry(values: ["main": two])
    await deck.save(score).value
    await deck.end(.dismissed, score).value
    XCTAssertNil(deck.thanked)
    await deck.end(.dismissed, CardEntry()).value
    XCTAssertEqual(given.map(\.state), [.partial, .dismissed])
    XCTAssertEqual(given.map(\.main), [two, nil])
    let states = try await sent().map { $0.split(separator: " ").dropFirst().joined(separator: " ") }
    XCTAssertEqual(states, ["partial 1", "dismissed 1"])

    await stage.serve([play.cardsCue(card(3)), receipts])
    let session = CardSession(try await client.listCards()[0], client: client)
    try await session.set(two)
    try await session.dismiss()
    try await session.set(.number(3))
    let bodies = await stage.sent.compactMap(\.body)
    let answer = try readJSON(XCTUnwrap(bodies.last))["answers"]![0]
    XCTAssertEqual(answer["state"], .text("partial"))
    XCTAssertEqual(answer["values"], .object(["main": .number(2)]))
    let left = try await client.countUnsentAnswers()
    XCTAssertEqual(left, 0)
  }

  func aCardIsShownAgainWhereItWasLeft() async throws {
    let client = try makeClient()
    await stage.serve([play.cardsCue(card(1), card(2)), receipts, play.cardsCue(card(2)), receipts, play.cardsCue()])
    let deck = makeDeck(client)
    await deck.load().value
    let walk = try await begin(deck)
    await deck.putAway(walk.entry).value
    XCTAssertNil(deck.shown)
    stage.clock.use { $0 += 600 }
    deck.input = { nil }
    await deck.load().value
    XCTAssertEqual(deck.shown?.card.id, "card_1", "although the list no longer has it")
    XCTAssertEqual(deck.shown?.walk, walk.state)
    XCTAssertEqual(CardWalk(deck.shown!.card, from: deck.shown?.walk).step?.key, "why")
    deck.input = { walk.state }
    await deck.save(walk.entry).value
    await deck.end(.completed, CardEntry(values: ["main": two, "why": .text("slower")])).value
    let answers = try await sent()
    let id = try XCTUnwrap(answers.first?.split(separator: " ").first)
    XCTAssertEqual(answers, ["\(id) partial 1", "\(id) completed 2"])
    deck.closeThanks()
    XCTAssertEqual(deck.shown?.card.id, "card_2")
  }

  func aCardOutlivesItsProcess() async throws {
    await stage.serve([play.cardsCue(card(1)), play.cardsCue(), receipts])
    let first = makeDeck(try makeClient())
    await first.load().value
    // Not recorded: the input is not valid yet, and the card was not seen for a second.
    var walk = CardWalk(try XCTUnwrap(first.shown?.card))
    walk.comment = String(repeating: "x", count: 6000)
    let state = walk.state
    first.input = { state }
    await first.save(walk.entry).value
    await first.client.drafts.write()

    let second = makeDeck(try makeClient())
    await second.load().value
    XCTAssertEqual(second.shown?.walk, walk.state)
    walk.comment = "slow"
    walk.set(two, for: "main")
    let later = walk.state
    second.input = { later }
    await second.putAway(walk.entry).value
    let answers = try await sent()
    XCTAssertEqual(answers.count, 1)
    XCTAssertTrue(answers[0].hasSuffix("partial 1"), answers[0])
  }

  func whatEndsADraft() async throws {
    enum End: String, CaseIterable {
      case completed, dismissed, logout, later, expired, another
    }
    for end in End.allCases {
      let client = try makeClient()
      let expiring = card(1).replacingOccurrences(of: #""expires_at": null"#, with: #""expires_at": "1970-01-01T06:00:00.000Z""#)
      stage.clock.use { $0 = Date(timeIntervalSince1970: end == .expired ? 21_000 : 0) }
      await stage.serve([play.cardsCue(expiring), receipts, play.cardsCue()])
      let deck = makeDeck(client)
      await deck.load().value
      let walk = try await begin(deck)
      switch end {
      case .completed, .dismissed:
        let sending = deck.end(end == .completed ? .completed : .dismissed, walk.entry)
        await sending.value
        deck.closeThanks()
      case .logout:
        try await logOut(client)
        await deck.putAway(walk.entry, changed: true).value
      case .later, .expired, .another: await deck.putAway(walk.entry).value
      }
      await client.drafts.write()
      if end == .later { stage.clock.use { $0 += 900 } }
      if end == .expired { stage.clock.use { $0 += 600 } }
      for next in [client, try makeClient()] where end != .another {
        await stage.serve([play.cardsCue()])
        let deck = makeDeck(next)
        await deck.load().value
        XCTAssertNil(deck.shown, end.rawValue)
      }
      guard end == .another else { continue }
      await stage.serve([play.cardsCue(), play.cardsCue()])
      let other = makeDeck(try makeClient(as: "user|2"))
      await other.load().value
      XCTAssertNil(other.shown, "of another user")
      let same = makeDeck(try makeClient())
      await same.load().value
      XCTAssertEqual(same.shown?.card.id, "card_1", "and still there for its own")
    }
  }

  func oneViewAtATimeHasADraft() async throws {
    let client = try makeClient()
    await stage.serve([
      play.cardsCue(card(1), card(2)), play.cardsCue(card(1), card(2)), receipts, play.cardsCue(card(2)), play.cardsCue(card(2)),
    ])
    var first: FeedbackDeck? = makeDeck(client)
    await first!.load().value
    let walk = try await begin(first!)
    let second = makeDeck(client)
    await second.load().value
    XCTAssertEqual(second.shown?.card.id, "card_2", "the first is open elsewhere")
    await first!.putAway(walk.entry).value
    let third = makeDeck(client, selection: .question("question_2"))
    await third.load().value
    XCTAssertEqual(third.shown?.card.id, "card_2", "the draft is not of its question")
    let fourth = makeDeck(client, selection: .question("question_1"))
    await fourth.load().value
    XCTAssertEqual(fourth.shown?.walk, walk.state)
    first = nil
    XCTAssertTrue(client.drafts.isHeld("card_1", byOtherThan: ObjectIdentifier(second)))
  }

  func aBegunCardStaysAlthoughTheListNoLongerHasIt() async throws {
    let client = try makeClient()
    await stage.serve([play.cardsCue(card(1)), receipts, play.cardsCue(card(2))])
    let deck = makeDeck(client)
    await deck.load().value
    let walk = try await begin(deck)
    await deck.sync(walk.entry).value  // the app goes to the background
    await deck.load().value
    XCTAssertEqual(deck.shown?.card.id, "card_1")
  }

  func aCardOfAPageLeavesWithIt() async throws {
    let client = try makeClient()
    let trigger = #""trigger": {"event": "a", "url": {"op": "contains", "value": "/cart"}}, "#
    let list = play.cardsCue(card(1, more: trigger))
    await stage.serve([list, receipts])
    let deck = makeDeck(client)
    await deck.load().value
    client.trackPage("/cart")
    client.track("a")
    await until { deck.shown != nil }
    await play.see(deck, stage)
    client.trackPage("/home")
    await until { deck.shown == nil }
    client.trackPage("/cart/2")
    await until { deck.shown != nil }
    let walk = try await begin(deck)
    client.trackPage("/home")
    for _ in 0..<100 { await Task.yield() }
    XCTAssertEqual(deck.shown?.card.id, "card_1", "a begun card stays")
    await stage.serve([receipts])
    await deck.putAway(walk.entry).value
    let answers = try await sent().map { $0.split(separator: " ").dropFirst().joined(separator: " ") }
    XCTAssertEqual(answers, ["partial 2"], "one answer, and it was never dismissed")
  }

  func aDamagedFileIsIgnored() async throws {
    _ = try makeClient()
    try Data("{".utf8).write(to: folder.appendingPathComponent("drafts.json"))
    let client = try makeClient()
    await stage.serve([play.cardsCue(card(1))])
    let deck = makeDeck(client)
    await deck.load().value
    XCTAssertEqual(deck.shown?.card.id, "card_1")
    let left = try await client.countUnsentAnswers()
    XCTAssertEqual(left, 0, "the file of drafts is not an answer")
  }
}
