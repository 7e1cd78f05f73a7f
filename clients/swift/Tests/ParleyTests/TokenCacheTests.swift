import Foundation
import XCTest

@testable import Parley

final class TokenCacheTests: XCTestCase {
  func testTokenCache() async throws {
    for each in try contract("token-cache.json").list {
      let feed = Feed(each["provider"]!.list)
      let stage = Stage()
      let play = TokenPlay(
        name: each["name"]!.text!, feed: feed, stage: stage,
        client: try makeClient(stage, provider: feed.provider) { options in
          let limits = each["steps"]!.list.compactMap { $0["timeout_ms"]?.number }
          if let limit = limits.first { options.wire.timeout = limit / 1000 }
        })
      for step in each["steps"]!.list { try await play.play(step) }
    }
  }
}

private struct TokenPlay: Sendable {
  let name: String
  let feed: Feed
  let stage: Stage
  let client: ParleyClient

  func play(_ step: Value) async throws {
    stage.clock.use { $0 = Date(timeIntervalSince1970: step["at"]!.number!) }
    stage.chance.use { $0 = 0.5 }
    let slept = await stage.slept.count
    switch step["do"]!.text! {
    case "nothing": break
    case "logout": try await logOut(client)
    case "request": try await request(step, count: 1)
    case "requests": try await request(step, count: step["count"]!.int!)
    case "logout_while_fetching": try await logOutWhileFetching(step)
    case "logout_while_sending": try await logOutWhileSending(step)
    default: XCTFail("\(name): unknown step")
    }
    let calls = await feed.calls
    XCTAssertEqual(calls, step["provider_calls"]!.int, name)
    if let waits = step["waits_ms"]?.list {
      let since = await stage.slept.dropFirst(slept)
      XCTAssertEqual(Array(since), waits.map { $0.int! }, name)
    }
  }

  private func request(_ step: Value, count: Int) async throws {
    await stage.serve(step["replies"]!.list.map(cue), crowd: count)
    let isFirst = await feed.calls == 0
    if isFirst { await feed.hesitate() }
    async let outcomes = ask(times: count)
    if isFirst { try await letAllWait(count) }
    for each in await outcomes { check(each, step) }
    try await checkSent(step)
  }

  /// Lets the provider respond once all callers are waiting.
  private func letAllWait(_ count: Int) async throws {
    try await waitUntil("everybody waits") { client.connection.tokens.visit().waiting == count }
    await feed.goOn()
  }

  private func ask(times: Int) async -> [(name: String, error: ParleyError?)] {
    await withTaskGroup(of: (name: String, error: ParleyError?).self) { group in
      for _ in 0..<times { group.addTask { await ask() } }
      return await group.reduce(into: []) { $0.append($1) }
    }
  }

  private func logOutWhileFetching(_ step: Value) async throws {
    await stage.serve([])
    await feed.hesitate()
    async let asked = ask()
    try await waitUntil("the provider is asked") { await feed.calls == 1 }
    client.logout()
    try await waitUntil("it is asked again") { await feed.calls == 2 }
    await feed.goOn()
    check(await asked, step)
    try await checkSent(step)
    try await waitUntil("the next token is there") { client.connection.tokens.visit().waiting == 0 }
  }

  private func logOutWhileSending(_ step: Value) async throws {
    var late = cue(step["replies"]![0])
    late.meanwhile = { try await logOut(client) }
    await stage.serve([late])
    check(await ask(), step)
    try await checkSent(step)
  }

  private func cue(_ value: Value) -> Cue {
    var cue = Cue(value)
    let me =
      #"{"credential": "access-token", "tenant_id": "tenant_1", "identity": "user|1", "#
      + #""identity_verified": true, "expires_at": "2026-11-21T08:00:00.000Z"}"#
    cue.body = { _ in Data(value.int == 200 ? me.utf8 : "{}".utf8) }
    return cue
  }

  private func ask() async -> (name: String, error: ParleyError?) {
    await outcome { _ = try await client.whoAmI() }
  }

  private func check(_ came: (name: String, error: ParleyError?), _ step: Value) {
    XCTAssertEqual(came.name, step["outcome"]!.text, name)
    if let retryable = step["retryable"]?.flag { XCTAssertEqual(came.error?.retryable, retryable, name) }
    if let after = step["retry_after_ms"] { XCTAssertEqual(came.error?.retryAfterMs, after.int, name) }
    guard let cause = step["cause"]?.text else { return }
    let known = came.error?.cause as? ParleyError
    XCTAssertEqual(known?.detail ?? came.error?.cause.map { String(describing: $0) }, cause, name)
  }

  private func checkSent(_ step: Value) async throws {
    let sent = await stage.sent.map(\.tokenName)
    XCTAssertEqual(sent, step["sent"]!.list.map { $0.text! }, name)
  }
}
