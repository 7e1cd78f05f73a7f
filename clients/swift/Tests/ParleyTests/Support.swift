import Foundation
import XCTest

@testable import Parley

/// Creates an empty temporary folder.
func temporaryFolder() -> URL {
  FileManager.default.temporaryDirectory.appendingPathComponent("parley-\(UUID().uuidString)")
}

func makeClient(
  _ stage: Stage, provider: TokenProvider, folder: URL = temporaryFolder(), sleepEnds: Bool = true,
  change: (inout ParleyClient.Options) -> Void = { _ in }
) throws -> ParleyClient {
  var options = ParleyClient.Options()
  options.wire = stage.wire(sleepEnds: sleepEnds)
  options.outboxFolder = folder
  options.flushesAutomatically = false
  change(&options)
  return try ParleyClient(baseURL: "https://feedback.example.com", provider: provider, options: options)
}

/// A provider with a single token that does not expire.
let steady = TokenProvider { token("t", identity: "user|1", expiresAt: 4_000_000_000) }

/// Waits for a condition; fails after 10 s.
func waitUntil(_ what: String, line: UInt = #line, _ isSo: @Sendable () async throws -> Bool) async throws {
  let end = Date().addingTimeInterval(10)
  while try await !isSo() {
    guard Date() < end else { return XCTFail("never: \(what)", line: line) }
    try await Task.sleep(nanoseconds: 2_000_000)
  }
}

/// Returns `success` or the kind of the error.
func outcome(
  isolation: isolated (any Actor)? = #isolation, _ work: () async throws -> Void
) async -> (name: String, error: ParleyError?) {
  do {
    try await work()
    return ("success", nil)
  } catch let error as ParleyError {
    return (error.kind.rawValue, error)
  } catch {
    return (String(describing: error), nil)
  }
}

/// Logs out and waits for the provider's response.
func logOut(_ client: ParleyClient) async throws {
  client.logout()
  let visit = client.connection.tokens.visit()
  try await waitUntil("the next user's token was asked for") { visit.waiting == 0 }
}

/// Card n of `cards.json`.
func cardJSON(_ number: Int, locale: String = "en") -> String {
  """
  {"id": "card_\(number)", "question_id": "question_\(number)", "question_version": 1, "kind": "question", "steps": [],
   "locale": "\(locale)", "priority": 50, "expires_at": null, "reply": null}
  """
}
