import Foundation

@testable import Parley

struct ProviderFailure: Error, CustomStringConvertible {
  let description: String
}

/// A token as far as a client reads it.
func token(_ name: String, identity: String, expiresAt: Double) -> Credential {
  let claims = #"{"sub":"tenant_1","exp":\#(expiresAt),"grants":{"identity":"\#(identity)"}}"#
  let parts = [#"{"alg":"HS256"}"#, claims].map { text in
    Data(text.utf8).base64EncodedString()
      .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
      .replacingOccurrences(of: "=", with: "")
  }
  return Credential(accessToken: "\(parts[0]).\(parts[1]).\(name)")
}

/// What a provider hands out, one entry a call; it can be made to hesitate.
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
    guard !entries.isEmpty else { throw ProviderFailure(description: "asked too often") }
    let entry = entries.removeFirst()
    if hesitates { await withCheckedContinuation { waiting.append($0) } }
    if let failure = entry["failure"]?.text { throw ProviderFailure(description: failure) }
    if let raw = entry["raw"]?.text { return Credential(accessToken: raw) }
    return token(
      entry["token"]?.text ?? "", identity: entry["identity"]?.text ?? "",
      expiresAt: entry["expires_at"]?.number ?? 0)
  }
}

/// Who is logged in. Its tokens have long expired by the clock, so that each request asks anew who it is.
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
