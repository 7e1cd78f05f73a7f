import XCTest

@testable import Parley

final class RetryTests: XCTestCase {
  private let policies: [String: RetryPolicy] = ["request": .request, "outbox": .outbox]

  func testPolicies() throws {
    for (name, values) in try contract("retries.json")["policies"]!.object {
      let policy = policies[name]!
      XCTAssertEqual(policy.retries, values["retries"]!.int, name)
      XCTAssertEqual(policy.baseMs, values["base_ms"]!.int, name)
      XCTAssertEqual(policy.capMs, values["cap_ms"]!.int, name)
      XCTAssertEqual(policy.longestRetryAfterMs, values["longest_retry_after_ms"]!.int, name)
    }
  }

  func testDelays() throws {
    for each in try contract("retries.json")["delays"]!.list {
      let delay = policies[each["policy"]!.text!]!.delay(
        before: each["retry"]!.int!, random: each["random"]!.number!, retryAfterMs: each["retry_after_ms"]!.int)
      XCTAssertEqual(delay, each["delay_ms"]!.int, "\(each)")
    }
  }

  func testCalls() async throws {
    for each in try contract("retries.json")["calls"]!.list {
      let (stage, name) = (Stage(), each["name"]!.text!)
      if name == "401 is not retried with an API key" { continue }  // apps have no API key and retry once
      let cues = each["replies"]!.list.map { Cue($0) }
      await stage.serve(cues)
      let client = try makeClient(stage, provider: steady)
      let call = Call(operation: "whoAmI", method: each["method"]!.text!, path: try path("me"))
      let came = await outcome { _ = try await client.connection.request(call) }
      XCTAssertEqual(came.name, each["outcome"]!.text, name)
      let (sent, slept) = await (stage.sent, stage.slept)
      XCTAssertEqual(sent.count, each["attempts"]!.int, name)
      XCTAssertEqual(slept.count, sent.count - 1, name)
      XCTAssertEqual(Set(sent.map(\.url)).count, 1, name)
    }
  }
}
