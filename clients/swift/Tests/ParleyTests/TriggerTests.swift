import Foundation
import XCTest

@testable import Parley

final class TriggerTests: XCTestCase {
  func testTheCasesOfTheContract() async throws {
    for each in try contract("triggers.json")["cases"]!.list {
      let app = try TriggerApp(folder: temporaryFolder())
      for (index, step) in each["steps"]!.list.enumerated() {
        let name = "\(each["name"]!.text!), step \(index)"
        app.seen.use { $0 = [] }
        try await app.play(step, name)
        XCTAssertEqual(app.seen.use { $0 }, (step["shown"]?.list ?? []).map { "card_\($0.int!)" }, name)
      }
    }
  }

  func testConditions() throws {
    let file = try contract("triggers.json")
    let properties = attributes(file["properties"])
    for each in file["conditions"]!.list {
      let conditions = try each["where"]!.list.map { try JSON.decoder.decode(PropertyCondition.self, from: $0.encoded()) }
      let isMet = conditions.allSatisfy { $0.holds(for: properties[$0.property]) }
      XCTAssertEqual(isMet, each["met"]!.flag, "\(each)")
    }
  }

  func testATriggerOfALaterServerDoesNotOccur() throws {
    for trigger in [#"{"event": {"any": ["a"]}}"#, "7", #"{"event": "a", "count": "many"}"#] {
      let text = cardJSON(1).replacingOccurrences(of: #""reply": null"#, with: #""trigger": \#(trigger)"#)
      XCTAssertEqual(try JSON.decoder.decode(Card.self, from: Data(text.utf8)).trigger, .unknown)
    }
  }

  func testADamagedFileIsIgnored() async throws {
    let folder = temporaryFolder()
    let file = folder.deletingLastPathComponent().appendingPathComponent("\(folder.lastPathComponent)-triggers.json")
    try Data("{".utf8).write(to: file)
    let app = try TriggerApp(folder: folder)
    try await app.play(
      .object(["do": .text("fetch"), "cards": .list([.object(["card": .number(1), "trigger": .object(["event": .text("a")])])])]),
      "fetch")
    app.client.track("a")
    XCTAssertEqual(app.seen.use { $0 }, ["card_1"])
  }

  func testAViewShowsTheCardAndFetchesAgainAfterAnAnswer() async throws {
    try await TriggerPlay().aViewShowsTheCardAndFetchesAgainAfterAnAnswer()
  }

  func testAViewFetchesAgainWhenItBecomesVisibleAfterPollAfter() async throws {
    try await TriggerPlay().aViewFetchesAgainWhenItBecomesVisibleAfterPollAfter()
  }
}

private func attributes(_ value: Value?) -> [String: Attribute] {
  (value?.object ?? [:]).compactMapValues { value in
    switch value {
    case .text(let text): .text(text)
    case .number(let number): .number(number)
    case .flag(let flag): .flag(flag)
    default: nil
    }
  }
}

extension Value {
  fileprivate func encoded() throws -> Data {
    try JSONSerialization.data(withJSONObject: plain, options: .fragmentsAllowed)
  }

  private var plain: Any {
    switch self {
    case .null: NSNull()
    case .flag(let flag): flag
    case .number(let number): number == number.rounded() ? Int(number) as Any : number as Any
    case .text(let text): text
    case .list(let items): items.map(\.plain)
    case .object(let members): members.mapValues(\.plain)
    }
  }
}

/// A list of cards of the contract as a response.
private func cardsBody(_ cards: Value?) throws -> String {
  let texts = try (cards?.list ?? []).map { card in
    let trigger = try card["trigger"].map { String(decoding: try $0.encoded(), as: UTF8.self) } ?? "null"
    let expiry = card["expires_at"]?.text.map { #""\#($0)""# } ?? "null"
    return cardJSON(card["card"]!.int!)
      .replacingOccurrences(of: #""expires_at": null"#, with: #""expires_at": \#(expiry)"#)
      .replacingOccurrences(
        of: #""reply": null"#, with: #""trigger": \#(trigger), "in_cooldown": \#(card["in_cooldown"]?.flag ?? false)"#)
  }
  return #"{"data": [\#(texts.joined(separator: ","))], "poll_after_s": 60}"#
}

/// An app on a device; `restart` ends its process and starts it again.
private final class TriggerApp {
  let seen = Guarded<[String]>([])
  private let folder: URL
  private let stage = Stage()
  private let login = LoggedIn()
  private(set) var client: ParleyClient

  init(folder: URL) throws {
    self.folder = folder
    client = try makeClient(stage, provider: login.provider, folder: folder, sleepEnds: false) { $0.retry.retries = 0 }
    listen()
  }

  private func listen() {
    _ = client.onTriggered { [seen] card in seen.use { $0.append(card.id) } }
  }

  func play(_ step: Value, _ name: String) async throws {
    await stage.serve([])
    switch step["do"]!.text! {
    case "fetch": try await fetch(step, name)
    case "track": client.track(step["event"]!.text!, attributes(step["properties"]))
    case "page": client.trackPage(step["url"]!.text!)
    case "logout": try await logOut(client)
    case "restart":
      client.triggers.settle()
      client = try makeClient(stage, provider: login.provider, folder: folder, sleepEnds: false) { $0.retry.retries = 0 }
      listen()
    case "wait":
      stage.clock.use { $0 += step["seconds"]!.number! }
      client.triggers.checkDue()
    default: XCTFail("unknown step in \(name)")
    }
    if step["do"]!.text != "fetch" {
      let sent = await stage.sent.count
      XCTAssertEqual(sent, 0, name)
    }
  }

  private func fetch(_ step: Value, _ name: String) async throws {
    _ = login.become(step["identity"]?.text ?? "user|1")
    let isOffline = step["offline"]?.flag == true
    if isOffline && step["token"]?.flag != true { login.fail("offline") }
    let body = try cardsBody(step["cards"])
    let cues = (step["replies"]?.list ?? [.object(["status": .number(200)])]).map { reply in
      let problem = reply["code"]?.text.map { #"{"code": "\#($0)"}"# }
      return Cue(status: reply["status"]!.int, body: problem ?? body)
    }
    await stage.serve(isOffline ? [.noReply] : cues)
    var query = CardQuery()
    query.triggers = true
    var ids: [String] = []
    let came = await outcome { ids = try await client.listCards(query).map(\.id) }
    if isOffline { return XCTAssertNotEqual(came.name, "success", name) }
    XCTAssertEqual(came.name, step["failure"]?.text ?? "success", name)
    let plain = (step["cards"]?.list ?? []).filter { $0["trigger"] == nil }
    if came.name == "success" { XCTAssertEqual(ids, plain.map { "card_\($0["card"]!.int!)" }, name) }
    guard let wanted = step["sent"]?.list else { return }
    let sent = await stage.sent.map { request in
      (URLComponents(string: request.url)?.queryItems ?? []).map { "\($0.name)=\($0.value ?? "")" }
    }
    XCTAssertEqual(sent, wanted.map { $0.object.map { "\($0)=\($1.text!)" } }, name)
  }
}

/// Runs on the main actor, like views; test cases do not.
@MainActor
private struct TriggerPlay {
  private let step =
    #"{"key": "main", "type": "nps", "title": "t", "description": "", "config": {}, "required": true, "show_if": null}"#

  private func cards(_ texts: String...) -> Cue {
    let filled = texts.map { $0.replacingOccurrences(of: #""steps": []"#, with: #""steps": [\#(step)]"#) }
    return Cue(status: 200, body: #"{"data": [\#(filled.joined(separator: ","))], "poll_after_s": 300}"#)
  }

  private func triggered(_ number: Int, by event: String) -> String {
    cardJSON(number).replacingOccurrences(of: #""reply": null"#, with: #""trigger": {"event": "\#(event)"}"#)
  }

  private func makeDeck(_ stage: Stage) throws -> FeedbackDeck {
    let client = try makeClient(stage, provider: steady, sleepEnds: false)
    let deck = FeedbackDeck(client: client, query: CardQuery(), metadata: [:])
    deck.onError = { XCTFail("\($0)") }
    return deck
  }

  func aViewShowsTheCardAndFetchesAgainAfterAnAnswer() async throws {
    let stage = Stage()
    let deck = try makeDeck(stage)
    await stage.serve([cards(triggered(1, by: "a")), receiptsCue(.object([:])), cards(triggered(1, by: "a"), cardJSON(2))])
    await deck.load().value
    XCTAssertNil(deck.shown)
    deck.client.track("a")
    while deck.shown == nil { await Task.yield() }
    XCTAssertEqual(deck.shown?.card.id, "card_1")
    await deck.end(.completed, CardEntry(values: ["main": .number(9)])).value
    let sent = await stage.sent
    let answer = try readJSON(XCTUnwrap(sent[1].body))["answers"]![0]
    XCTAssertEqual(answer["metadata"], .object(["card_locale": .text("en"), "trigger": .text("a")]))
    XCTAssertEqual(sent.count, 3, "fetched again")
    deck.closeThanks()
    XCTAssertEqual(deck.shown?.card.id, "card_2", "a new card after the thanks, and the answered one not again")
  }

  func aViewFetchesAgainWhenItBecomesVisibleAfterPollAfter() async throws {
    let stage = Stage()
    let deck = try makeDeck(stage)
    await stage.serve([cards(), cards(cardJSON(1))])
    await deck.load().value
    stage.clock.use { $0 += 299 }
    XCTAssertNil(deck.loadIfDue())
    stage.clock.use { $0 += 1 }
    await deck.loadIfDue()?.value
    XCTAssertEqual(deck.shown?.card.id, "card_1")
  }
}
