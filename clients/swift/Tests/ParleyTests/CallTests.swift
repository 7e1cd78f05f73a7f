import Foundation
import XCTest

@testable import Parley

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

final class CallTests: XCTestCase {
  func testARedirectIsNotFollowed() async throws {
    let end = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
    let server = try LocalServer([
      "HTTP/1.1 307 Temporary Redirect\r\nLocation: /elsewhere\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", end,
    ])
    let reply = try await Wire().exchange(
      WireRequest(method: "GET", url: server.url + "/v1/me", headers: ["Authorization": "Bearer t"], body: nil))
    XCTAssertEqual(reply.status, 307)
    XCTAssertEqual(server.requests.count, 1)
    XCTAssertTrue(server.requests[0].hasPrefix("GET /v1/me "))
  }

  func testTheSenderIsNamedOnTheWire() async throws {
    let server = try LocalServer(["HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"])
    var options = ParleyClient.Options()
    options.outboxFolder = temporaryFolder()
    let client = try ParleyClient(baseURL: server.url, provider: steady, options: options)
    let came = await outcome { _ = try await client.whoAmI() }
    XCTAssertEqual(came.name, "forbidden")
    XCTAssertTrue(server.requests[0].contains("User-Agent: parley-swift/"), server.requests[0])
  }

  func testACancelledCallEndsAtOnceAlthoughTheProviderHangs() async throws {
    let feed = Feed([try readJSON(Data(#"{"hangs": true}"#.utf8))])
    let client = try makeClient(Stage(), provider: feed.provider) { $0.completionQueue = .global() }
    let ended = expectation(description: "the handler is called")
    let handle = client.whoAmI { result in
      if case .failure(let error) = result { XCTAssertTrue(error is CancellationError, "\(error)") } else { XCTFail() }
      ended.fulfill()
    }
    try await waitUntil("the provider is asked") { await feed.calls == 1 }
    handle.cancel()
    await fulfillment(of: [ended], timeout: 5)
  }

  func testEachAttemptIsReportedForALog() async throws {
    let (stage, seen) = (Stage(), Guarded<[Attempt]>([]))
    await stage.serve([Cue(status: 503, headers: ["X-Request-Id": "req-1"]), .noReply, Cue(status: 403)])
    stage.chance.use { $0 = 0.5 }
    let client = try makeClient(stage, provider: steady) {
      $0.onAttempt = { attempt in seen.use { $0.append(attempt) } }
    }
    _ = await outcome { _ = try await client.listCards() }
    let attempts = seen.use { $0 }
    XCTAssertEqual(attempts.map(\.number), [1, 2, 3])
    XCTAssertEqual(attempts.map(\.status), [503, 0, 403])
    XCTAssertEqual(attempts.map(\.requestId), ["req-1", nil, nil])
    XCTAssertEqual(attempts.map(\.retryInMs), [250, 500, nil])
    XCTAssertEqual(attempts.map { ($0.error as? ParleyError)?.kind }, [.unavailable, .noReply, .forbidden])
    XCTAssertEqual(Set(attempts.map { "\($0.method) \($0.operation)" }), ["GET listCards"])
  }

  func testOptionsOfSingleCallsLeaveTheClientAsItIs() async throws {
    let stage = Stage()
    let client = try makeClient(stage, provider: steady)
    let once = client.with(retry: RetryPolicy(retries: 0, baseMs: 1, capMs: 1, longestRetryAfterMs: 0))
    await stage.serve([Cue(status: 503)])
    let first = await outcome { _ = try await once.whoAmI() }
    XCTAssertEqual(first.name, "unavailable")
    await stage.serve([Cue(status: 503), Cue(status: 403)])
    let second = await outcome { _ = try await client.whoAmI() }
    XCTAssertEqual(second.name, "forbidden")
    once.logout()
    XCTAssertTrue(client.connection.tokens.visit() === once.connection.tokens.visit())
  }

  func testATimeLimitOfASingleCallEndsIt() async throws {
    let stage = Stage()
    var slow = Cue(status: 200)
    slow.meanwhile = { try await Task.sleep(nanoseconds: 5_000_000_000) }
    await stage.serve([slow])
    let client = try makeClient(stage, provider: steady) { $0.retry.retries = 0 }
    let began = Date()
    let came = await outcome { _ = try await client.with(timeout: 0.1).whoAmI() }
    XCTAssertEqual(came.name, "no-reply")
    XCTAssertLessThan(Date().timeIntervalSince(began), 3)
  }

  func testALostConnectionOfACustomProviderIsRetried() async throws {
    let calls = Guarded(0)
    let stage = Stage()
    await stage.serve([Cue(status: 403)])
    let provider = TokenProvider {
      let call = calls.use { calls in
        calls += 1
        return calls
      }
      if call == 1 { throw URLError(.notConnectedToInternet) }
      return token("t", identity: "user|1", expiresAt: 3600)
    }
    let client = try makeClient(stage, provider: provider)
    let came = await outcome { _ = try await client.whoAmI() }
    XCTAssertEqual(came.name, "forbidden")
    XCTAssertEqual(calls.use { $0 }, 2)
  }

  func testTheTextOfAnErrorNamesCodeRequestAndFields() async throws {
    for each in try contract("problems.json")["cases"]!.list {
      let headers = each["headers"]!.object.mapValues { $0.text! }
      let reply = WireReply(status: each["status"]!.int!, headers: headers, body: Data(each["body"]!.text!.utf8))
      let error = ParleyError(reply, at: Date())
      let fields = error.errors.flatMap { [$0.parameter ?? $0.pointer, $0.detail] }
      for part in [error.code, error.requestId].compactMap({ $0 }) + fields {
        XCTAssertTrue(error.localizedDescription.contains(part), "\(error.localizedDescription) lacks \(part)")
      }
    }
  }
}
