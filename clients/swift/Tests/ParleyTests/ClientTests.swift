import Foundation
import XCTest

@testable import Parley

final class ClientTests: XCTestCase {
  func testIdsAreUUIDsOfVersionSevenThatSortByTime() throws {
    let ids = (0..<100).map { newId(at: Date(timeIntervalSince1970: 1_795_248_000 + Double($0) / 1000)) }
    XCTAssertEqual(ids, ids.sorted())
    XCTAssertEqual(Set(ids).count, 100)
    for id in ids {
      XCTAssertNotNil(UUID(uuidString: id))
      XCTAssertEqual(Array(id)[14], "7")
      XCTAssertTrue("89ab".contains(Array(id)[19]))
    }
  }

  func testCompletionHandlersDeliverEitherAValueOrAnError() async throws {
    let stage = Stage()
    await stage.serve([Cue(status: 200, body: #"{"count": 3}"#), Cue(status: 403)])
    let client = try makeClient(stage, provider: steady) { $0.completionQueue = .global() }
    let count = try await withCheckedThrowingContinuation { continuation in
      client.countUnreadConversations { continuation.resume(with: $0) }
    }
    XCTAssertEqual(count, 3)
    let failed = await outcome {
      _ = try await withCheckedThrowingContinuation { continuation in
        client.countUnreadConversations { continuation.resume(with: $0) }
      }
    }
    XCTAssertEqual(failed.name, "forbidden")
  }

  func testAProviderThatCallsBack() async throws {
    let provider = TokenProvider(asking: { $0(.failure(ProviderFailure(description: "nobody is logged in"))) })
    let client = try makeClient(Stage(), provider: provider)
    let came = await outcome { _ = try await client.whoAmI() }
    XCTAssertEqual(came.name, "provider-failed")
    XCTAssertEqual(came.error?.cause.map { String(describing: $0) }, "nobody is logged in")
  }

  func testANetworkThatIsNotThereIsNoReply() async throws {
    var options = ParleyClient.Options()
    options.retry.retries = 0
    options.outboxFolder = temporaryFolder()
    let client = try ParleyClient(baseURL: "http://localhost:9", provider: steady, options: options)
    let came = await outcome { _ = try await client.whoAmI() }
    XCTAssertEqual(came.name, "no-reply")
  }

  func testAnIdThatWouldLeadToAnotherPathIsRefused() async throws {
    let stage = Stage()
    let client = try makeClient(stage, provider: steady)
    for id in ["", ".", ".."] {
      let came = await outcome { _ = try await client.readConversation(id) }
      XCTAssertEqual(came.name, "invalid-argument")
    }
    let sent = await stage.sent
    XCTAssertEqual(sent.count, 0)
  }

  func testASuccessWithoutItsStatusIsNotTakenForOne() async throws {
    let stage = Stage()
    await stage.serve([Cue(status: 200, body: "<html></html>")])
    let client = try makeClient(stage, provider: steady)
    let came = await outcome { try await client.markConversationRead("conversation_1", seq: 1) }
    XCTAssertEqual(came.name, "unreadable")
  }
}
