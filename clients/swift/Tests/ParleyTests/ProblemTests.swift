import Foundation
import XCTest

@testable import Parley

final class ProblemTests: XCTestCase {
  func testRepliesThatAreNoSuccess() async throws {
    let problems = try contract("problems.json")
    let now = JSON.date(problems["now"]!.text!.replacingOccurrences(of: "Z", with: ".000Z"))!
    for each in problems["cases"]!.list { try await check(each, now) }
  }

  func testKindsByStatus() throws {
    for (status, kind) in try contract("problems.json")["kinds"]!.object {
      let sample = Int(status) ?? (status == "4xx" ? 499 : 599)
      XCTAssertEqual(ParleyError.Kind(status: sample).rawValue, kind.text, status)
    }
  }

  private func check(_ each: Value, _ now: Date) async throws {
    let (stage, name) = (Stage(), each["name"]!.text!)
    stage.clock.use { $0 = now }
    let headers = each["headers"]!.object.mapValues { $0.text! }
    let cue = Cue(status: each["status"]!.int!, headers: headers, body: each["body"]!.text!)
    await stage.serve(Array(repeating: cue, count: 4))
    let client = try makeClient(stage, provider: steady)
    let came = await outcome { _ = try await client.whoAmI() }
    let error = try XCTUnwrap(came.error, "\(name): \(came.name)")
    for (member, value) in each["expect"]!.object {
      XCTAssertEqual(try read(member, of: error), value, "\(name): \(member)")
    }
  }

  private func read(_ member: String, of error: ParleyError) throws -> Value {
    switch member {
    case "kind": .text(error.kind.rawValue)
    case "status": .number(Double(error.status))
    case "code": optional(error.code)
    case "title": optional(error.title)
    case "detail": optional(error.detail)
    case "request_id": optional(error.requestId)
    case "errors": try readJSON(JSON.encoder.encode(error.errors))
    case "retryable": .flag(error.retryable)
    case "retry_after_ms": error.retryAfterMs.map { .number(Double($0)) } ?? .null
    default: .text("an unknown member")
    }
  }

  private func optional(_ text: String?) -> Value {
    text.map(Value.text) ?? .null
  }
}
