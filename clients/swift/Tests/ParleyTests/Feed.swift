import Foundation

@testable import Parley

struct ProviderFailure: Error, CustomStringConvertible {
  let description: String
}

/// A token with the claims that clients read.
func token(
  _ name: String, identity: String, expiresAt: Double, expiresIn: Double? = nil, verified: Bool = true
) -> Credential {
  let claims = #"{"sub":"tenant_1","exp":\#(expiresAt),"grants":{"identity":"\#(identity)"}}"#
  let parts = [#"{"alg":"HS256"}"#, claims].map { text in
    Data(text.utf8).base64EncodedString()
      .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
      .replacingOccurrences(of: "=", with: "")
  }
  return Credential(
    accessToken: "\(parts[0]).\(parts[1]).\(name)", expiresIn: expiresIn, verified: verified)
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
    if entry["hangs"]?.flag == true { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
    if let failure = entry["failure"]?.text { throw makeFailure(failure, entry) }
    if let raw = entry["raw"]?.text { return Credential(accessToken: raw) }
    return token(
      entry["token"]?.text ?? "", identity: entry["identity"]?.text ?? "",
      expiresAt: entry["expires_at"]?.number ?? 0, expiresIn: entry["expires_in"]?.number)
  }

  /// The library's own error, or any other.
  private func makeFailure(_ text: String, _ entry: Value) -> any Error {
    guard let retryable = entry["retryable"]?.flag else { return ProviderFailure(description: text) }
    var error = ParleyError.temporary(text, retryAfterMs: entry["retry_after_ms"]?.int)
    error.retryable = retryable
    return error
  }
}

/// The signed-in user.
final class LoggedIn: Sendable {
  private struct State {
    var identity = "user|1"
    var verified = true
    var failure: ProviderFailure?
    var hangs = false
  }

  private let state = Guarded(State())

  var provider: TokenProvider {
    TokenProvider {
      let state = self.state.use { $0 }
      if let failure = state.failure { throw failure }
      if state.hangs { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
      return token("t", identity: state.identity, expiresAt: 3600, verified: state.verified)
    }
  }

  /// Whether the user has changed.
  func become(_ identity: String, verified: Bool = true) -> Bool {
    state.use { state in
      defer { state = State(identity: identity, verified: verified) }
      return state.identity != identity || state.verified != verified || state.failure != nil || state.hangs
    }
  }

  var identity: String {
    state.use { $0.identity }
  }

  func hang() {
    state.use { $0.hangs = true }
  }

  func fail(_ why: String) {
    state.use { $0.failure = ProviderFailure(description: why) }
  }
}
