import Foundation

@testable import Parley

struct ProviderFailure: Error, CustomStringConvertible {
  let description: String
}

/// A token with the claims that clients read.
func token(_ name: String, identity: String, expiresAt: Double) -> Credential {
  let claims = #"{"sub":"tenant_1","exp":\#(expiresAt),"grants":{"identity":"\#(identity)"}}"#
  let parts = [#"{"alg":"HS256"}"#, claims].map { text in
    Data(text.utf8).base64EncodedString()
      .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
      .replacingOccurrences(of: "=", with: "")
  }
  return Credential(accessToken: "\(parts[0]).\(parts[1]).\(name)")
}

/// A fake provider that returns one entry per call and can be paused.
actor Feed {
  private var entries: [Value]
  private(set) var calls = 0
  private var hesitates = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  init(_ entries: [Value]) {
    self.entries = entries
  }

  nonisolated var provider: TokenProvider {
    TokenProvider { try await self.next() }
  }

  func hesitate() {
    hesitates = true
  }

  func goOn() {
    hesitates = false
    for each in waiting { each.resume() }
    waiting = []
  }

  private func next() async throws -> Credential {
    calls += 1
    guard !entries.isEmpty else { throw ProviderFailure(description: "too many calls") }
    let entry = entries.removeFirst()
    if hesitates { await withCheckedContinuation { waiting.append($0) } }
    if let failure = entry["failure"]?.text { throw ProviderFailure(description: failure) }
    if let raw = entry["raw"]?.text { return Credential(accessToken: raw) }
    return token(
      entry["token"]?.text ?? "", identity: entry["identity"]?.text ?? "",
      expiresAt: entry["expires_at"]?.number ?? 0)
  }
}

/// The signed-in user. The tokens have expired, so that each request calls the provider.
final class LoggedIn: Sendable {
  private let state = Guarded<Result<String, ProviderFailure>>(.success("user|1"))

  var provider: TokenProvider {
    TokenProvider {
      token("t", identity: try self.state.use { try $0.get() }, expiresAt: -1)
    }
  }

  func become(_ identity: String) {
    state.use { $0 = .success(identity) }
  }

  func fail(_ why: String) {
    state.use { $0 = .failure(ProviderFailure(description: why)) }
  }
}
