import Foundation

/// An outgoing request.
public struct WireRequest: Sendable {
  public var method: String
  public var url: String
  public var headers: [String: String]
  public var body: Data?
}

/// A received response.
public struct WireReply: Sendable {
  public let status: Int
  public let body: Data
  private let headers: [String: String]

  public init(status: Int, headers: [String: String], body: Data) {
    self.status = status
    self.body = body
    self.headers = Dictionary(headers.map { ($0.lowercased(), $1) }, uniquingKeysWith: { first, _ in first })
  }

  /// Returns a header, case-insensitive.
  public func header(_ name: String) -> String? {
    headers[name.lowercased()]
  }
}

/// External dependencies: network, clock and random numbers. Replaceable in tests.
public struct Wire: Sendable {
  /// Sends a request once without following redirects, which would send the credential to another URL. Throws without a
  /// response.
  public var exchange: @Sendable (WireRequest) async throws -> WireReply
  public var now: @Sendable () -> Date
  /// 0 ≤ x < 1.
  public var random: @Sendable () -> Double
  public var sleep: @Sendable (_ milliseconds: Int) async throws -> Void

  /// The defaults; `timeout` is in seconds per attempt.
  public init(timeout: TimeInterval = 30) {
    let network = Network(timeout: timeout)
    exchange = { @Sendable in try await network.exchange($0) }
    now = { @Sendable in Date() }
    random = { @Sendable in Double.random(in: 0..<1) }
    sleep = { @Sendable in try await Task.sleep(nanoseconds: UInt64($0) * 1_000_000) }
  }

  /// Sends a request once. Throws a `ParleyError` for error responses, and `CancellationError`.
  func send(_ request: WireRequest) async throws -> WireReply {
    let reply = try await receive(request)
    guard (200..<300).contains(reply.status) || reply.status == 304 else { throw ParleyError(reply, at: now()) }
    return reply
  }

  private func receive(_ request: WireRequest) async throws -> WireReply {
    do {
      return try await exchange(request)
    } catch {
      try Task.checkCancellation()
      var lost = ParleyError(.noReply, "The server could not be reached or the response was incomplete.", cause: error)
      lost.retryable = true
      throw lost
    }
  }
}

extension WireReply {
  /// Decodes the body. Throws `unreadable`.
  func read<Value: Decodable>(_ type: Value.Type) throws -> Value {
    do {
      return try JSON.decoder.decode(type, from: body)
    } catch {
      throw ParleyError.unreadable(self, cause: error)
    }
  }
}
