import Foundation
import XCTest

@testable import Parley

final class RequestTests: XCTestCase {
  func testEachOperationOfAnApp() async throws {
    var operations: Set<String> = []
    for each in try contract("requests.json").list where each["as"]!.list.contains(.text("app")) {
      operations.insert(each["operation"]!.text!)
      try await check(each, each["operation"]!.text!)
    }
    XCTAssertEqual(operations.count, 16)
  }

  func testPublicTokens() async throws {
    let each = try contract("requests.json").list.first { $0["operation"]?.text == "issuePublicToken" }!
    let (stage, arguments) = (Stage(), each["arguments"]!)
    await stage.serve([Cue(status: 200, body: #"{"access_token": "a.b.c", "expires_in": 3600}"#)])
    let user = arguments["body"]!["user_id"]!.text!
    let provider = try TokenProvider.publicTokens(
      baseURL: "https://feedback.example.com", tenantId: arguments["params"]!["tenant_id"]!.text!, keyId: "key_1",
      wire: stage.wire(), userId: { user })
    let credential = try await provider.fetch()
    XCTAssertEqual(credential.accessToken, "a.b.c")
    XCTAssertEqual(credential.expiresIn, 3600)
    XCTAssertFalse(credential.verified)
    let sent = await stage.sent
    try compare(sent[0], each["sent"]!)
    XCTAssertEqual(sent[0].headers["Authorization"], "Basic " + Data("api_key:key_1".utf8).base64EncodedString())
  }

  func testOwnBackend() async throws {
    let stage = Stage()
    await stage.serve([Cue(status: 200, body: #"{"access_token": "a.b.c"}"#), Cue(status: 403)])
    let provider = try TokenProvider.endpoint("https://example.com/v1/svc/auth/token", wire: stage.wire()) {
      ["Authorization": "Bearer session"]
    }
    let credential = try await provider.fetch()
    XCTAssertEqual(credential.accessToken, "a.b.c")
    let sent = await stage.sent[0]
    XCTAssertEqual(sent.method, "POST")
    XCTAssertNil(sent.body)
    XCTAssertEqual(sent.headers, ["Authorization": "Bearer session"])
    let refused = await outcome { _ = try await provider.fetch() }
    XCTAssertEqual(refused.name, "forbidden")
  }

  private func check(_ each: Value, _ operation: String) async throws {
    let stage = Stage()
    await stage.serve([Cue(status: 204)])  // the response is irrelevant here
    let client = try makeClient(stage, provider: steady)
    try await call(operation, each["arguments"]!, of: client)
    let sent = await stage.sent
    XCTAssertEqual(sent.count, 1, operation)
    var expected = each["sent"]!.object
    if operation == "recordAnswers" { expected["body"] = forApps(expected["body"]!) }
    try compare(sent[0], .object(expected))
    var names: Set = ["Authorization", "User-Agent"]
    if sent[0].body != nil { names.insert("Content-Type") }
    XCTAssertEqual(Set(sent[0].headers.keys), names, operation)
    XCTAssertEqual(sent[0].headers["User-Agent"], userAgent, operation)
    XCTAssertTrue(userAgent.hasPrefix("parley-swift/"))
  }

  /// The case's item is that of a server: it has an identity, which the server rejects from an app, and no card,
  /// which is required from an app.
  private func forApps(_ body: Value) -> Value {
    var item = body["answers"]![0].object
    item["identity"] = nil
    item["card_id"] = .text("card_1")
    return .object(["answers": .list([.object(item)])])
  }

  private func compare(_ request: WireRequest, _ expected: Value) throws {
    let parts = URLComponents(string: request.url)!
    XCTAssertEqual(request.method, expected["method"]!.text)
    XCTAssertEqual(parts.percentEncodedPath, expected["path"]!.text)
    let query = (parts.queryItems ?? []).map { ($0.name, Value.text($0.value ?? "")) }
    XCTAssertEqual(Dictionary(uniqueKeysWithValues: query), expected["query"]?.object ?? [:])
    XCTAssertEqual(try request.body.map(readJSON), expected["body"])
    XCTAssertEqual(request.headers["Content-Type"], request.body == nil ? nil : "application/json")
  }
}
