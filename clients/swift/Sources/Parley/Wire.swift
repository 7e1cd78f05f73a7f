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

  /// Time limit in seconds of each attempt and of each call of the token provider.
  public var timeout: TimeInterval

  /// The defaults.
  public init(timeout: TimeInterval = 30) {
    self.timeout = timeout
    let network = Transport(timeout: timeout)
    exchange = { @Sendable in try await network.exchange($0) }
    now = { @Sendable in Date() }
    random = { @Sendable in Double.random(in: 0..<1) }
    sleep = { @Sendable in try await Task.sleep(nanoseconds: UInt64($0) * 1_000_000) }
  }

  /// The same with a shorter time limit, which also ends an exchange that is longer.
  func limited(to seconds: TimeInterval) -> Wire {
    var wire = self
    wire.timeout = seconds
    wire.exchange = { [exchange] request in
      let running = Task { try await exchange(request) }
      defer { running.cancel() }  // after its time limit, or when the caller is cancelled
      let late = ParleyError.tooLate("The server did not respond completely", after: seconds)
      return try await within(seconds, orThrow: late) { try await running.value }
    }
    return wire
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
      let why = "The server could not be reached or the response was incomplete: \(error.localizedDescription)"
      var lost = ParleyError(.noReply, why, cause: error)
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
