import Foundation
import XCTest

@testable import Parley

final class CardTests: XCTestCase {
  func testCardsAndTheirEntityTags() async throws {
    for each in try contract("cards.json").list {
      let (stage, login) = (Stage(), LoggedIn())
      let client = try makeClient(stage, provider: login.provider)
      for step in each["steps"]!.list {
        _ = login.become(step["identity"]?.text ?? "nobody")
        if step["do"]!.text == "logout" {
          try await logOut(client)
        } else {
          try await check(step, each["name"]!.text!, stage, client)
        }
      }
    }
  }

  func testWhatALaterServerAddsIsRead() throws {
    let later =
      #"{"id": "card_1", "question_id": "q", "question_version": 1, "kind": "banner", "locale": "en", "#
      + #""priority": 1, "expires_at": null, "new": {"a": 1}, "steps": [{"key": "main", "type": "ranking", "#
      + #""title": "t", "description": "", "config": {"depth": [1]}, "required": true, "show_if": {"step": "x"}}]}"#
    let card = try JSON.decoder.decode(Card.self, from: Data(later.utf8))
    XCTAssertEqual(card.kind.rawValue, "banner")
    XCTAssertEqual(card.steps[0].type, "ranking")
    XCTAssertNotNil(card.steps[0].showIf)
  }

  private func check(_ step: Value, _ name: String, _ stage: Stage, _ client: ParleyClient) async throws {
    let reply = step["reply"]!
    let locales = reply["locales"]?.list.map { $0.text! }
    let cards = (reply["cards"]?.list ?? []).enumerated()
      .map { cardJSON($1.int!, locale: locales?[$0] ?? "en") }.joined(separator: ",")
    let headers = reply["etag"].map { ["ETag": $0.text!] } ?? [:]
    await stage.serve([
      Cue(
        status: reply["status"]!.int, headers: headers,
        body: #"{"data": [\#(cards)], "poll_after_s": \#(reply["poll_after_s"]?.int ?? 60)}"#)
    ])
    var listed: [Card] = []
    let came = await outcome { listed = try await client.listCards(cardQuery(step["query"])) }
    XCTAssertEqual(came.name, step["failure"]?.text ?? "success", name)
    XCTAssertEqual(listed.map(\.id), (step["expect"]?.list ?? []).map { "card_\($0.int!)" }, name)
    if let wanted = step["expect_locales"] {
      XCTAssertEqual(listed.map(\.locale), wanted.list.map { $0.text! }, name)
    }
    if let wait = step["poll_after_ms"]?.number { XCTAssertEqual(client.pollAfter * 1000, wait, name) }
    let sent = await stage.sent[0]
    let query = (URLComponents(string: sent.url)?.queryItems ?? []).map { ($0.name, Value.text($0.value ?? "")) }
    XCTAssertEqual(Dictionary(uniqueKeysWithValues: query), step["sent"]!["query"]!.object, name)
    XCTAssertEqual(sent.headers["If-None-Match"], step["sent"]!["if_none_match"]!.text, name)
  }
}
