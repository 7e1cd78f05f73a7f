import Foundation

@testable import Parley

/// A response of the stage and an action between request and response.
struct Cue: Sendable {
  var status: Int?
  var headers: [String: String] = [:]
  var body: @Sendable (WireRequest) -> Data = { _ in Data("{}".utf8) }
  var meanwhile: @Sendable () async throws -> Void = {}

  /// A lost connection.
  static let noReply = Cue()

  /// From `200` or `"no-reply"`.
  init(_ value: Value) {
    status = value.int
  }

  init(status: Int? = nil, headers: [String: String] = [:], body: String = "{}") {
    self.status = status
    self.headers = headers
    self.body = { _ in Data(body.utf8) }
  }
}

struct NoConnection: Error {}
struct NothingToServe: Error {}

/// Test environment: ordered responses, a fixed clock, fixed random numbers and recorded delays.
actor Stage {
  private(set) var sent: [WireRequest] = []
  private(set) var slept: [Int] = []
  private var cues: [Cue] = []
  private var held: [CheckedContinuation<Void, Never>] = []
  private var crowd = 1
  nonisolated let clock = Guarded(Date(timeIntervalSince1970: 0))
  nonisolated let chance = Guarded(0.0)

  /// Sets the responses and clears the recorded requests. Requests wait until the given number has arrived.
  func serve(_ cues: [Cue], crowd: Int = 1) {
    self.cues = cues
    self.crowd = crowd
    sent = []
  }

  var unserved: Int { cues.count }

  /// Sleep that returns immediately or never.
  nonisolated func wire(sleepEnds: Bool = true) -> Wire {
    var wire = Wire()
    wire.exchange = { try await self.exchange($0) }
    wire.now = { self.clock.use { $0 } }
    wire.random = { self.chance.use { $0 } }
    wire.sleep = { try await self.sleep($0, ends: sleepEnds) }
    return wire
  }

  private func sleep(_ milliseconds: Int, ends: Bool) async throws {
    slept.append(milliseconds)
    if !ends { try await Task.sleep(nanoseconds: 3_600_000_000_000) }
  }

  private func exchange(_ request: WireRequest) async throws -> WireReply {
    sent.append(request)
    guard !cues.isEmpty else { throw NothingToServe() }
    let cue = cues.removeFirst()
    await gather()
    try await cue.meanwhile()
    guard let status = cue.status else { throw NoConnection() }
    return WireReply(status: status, headers: cue.headers, body: cue.body(request))
  }

  private func gather() async {
    if crowd == 1 { return }
    await withCheckedContinuation { continuation in
      held.append(continuation)
      if held.count < crowd { return }
      for each in held { each.resume() }
      held = []
    }
  }
}

extension WireRequest {
  /// Signature part of the request's token, which contains the token's name in tests.
  var tokenName: String {
    String(headers["Authorization", default: ""].split(separator: ".").last ?? "")
  }
}
