import Foundation
import XCTest

@testable import Parley

/// Answer n of the contract, to card n.
func answer(_ number: Int, revision: Int, comment: String? = nil) throws -> NewAnswer {
  let card = try JSON.decoder.decode(Card.self, from: Data(cardJSON(number).utf8))
  let digits = String(number)
  var answer = NewAnswer(
    to: card, id: "00000000-0000-7000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits)
  answer.revision = revision
  answer.state = .partial
  answer.comment = comment
  return answer
}

private func number(_ id: String) -> Value {
  .number(Double(id.suffix(12))!)
}

/// A response with receipts: all accepted unless `results` is given.
func receiptsCue(_ reply: Value) -> Cue {
  var cue = Cue(status: reply["status"]?.int ?? 202)
  if let seconds = reply["retry_after"]?.int { cue.headers = ["Retry-After": String(seconds)] }
  cue.body = { request in
    if let body = reply["body"]?.text { return Data(body.utf8) }
    let items = (try? readJSON(request.body ?? Data()))?["answers"]?.list ?? []
    let verdicts = reply["results"]?.list ?? items.map { _ in .text("accepted") }
    let receipts = zip(items, verdicts).map { item, verdict in
      let status = verdict.text ?? "rejected"
      let code = verdict["rejected"]?.text.map { #", "code": "\#($0)""# } ?? ""
      return #"{"id": "\#(item["id"]!.text!)", "revision": 1, "status": "\#(status)"\#(code)}"#
    }
    return Data(#"{"results": [\#(receipts.joined(separator: ","))]}"#.utf8)
  }
  return cue
}

/// A case of `outbox.json` with its own folder and restarting clients.
actor OutboxPlay {
  private let name: String
  private let stage = Stage()
  private let login = LoggedIn()
  private let folder = temporaryFolder()
  private let lost = Guarded<[LostAnswer]>([])
  private var client: ParleyClient

  init(_ name: String) throws {
    self.name = name
    client = try Self.makeClient(stage, login, folder, lost)
  }

  private static func makeClient(
    _ stage: Stage, _ login: LoggedIn, _ folder: URL, _ lost: Guarded<[LostAnswer]>
  ) throws -> ParleyClient {
    try ParleyTests.makeClient(stage, provider: login.provider, folder: folder, sleepEnds: false) {
      $0.onLost = { each in lost.use { $0.append(each) } }
    }
  }

  func play(_ step: Value) async throws {
    stage.clock.use { $0 = Date(timeIntervalSince1970: step["at"]?.number ?? 0) }
    if let identity = step["identity"]?.text { login.become(identity) }
    if let failure = step["provider_failure"]?.text { login.fail(failure) }
    switch step["do"]!.text! {
    case "record": try await record(step)
    case "record_many": try await recordMany(step)
    case "flush": try await flush(step, times: 1)
    case "flush_twice": try await flush(step, times: 2)
    case "logout": try await logOut(client)
    case "restart": client = try Self.makeClient(stage, login, folder, lost)
    case "left": break
    default: XCTFail("\(name): unknown step")
    }
    try await checkLeft(step)
    checkLost(step)
  }

  private func record(_ step: Value) async throws {
    let comment = step["comment_bytes"]?.int.map { String(repeating: "x", count: $0) }
    try await client.record(try answer(step["answer"]!.int!, revision: step["revision"]!.int!, comment: comment))
  }

  private func recordMany(_ step: Value) async throws {
    let first = step["first"]!.int!
    for number in first..<(first + step["count"]!.int!) {
      try await client.record(try answer(number, revision: 1))
    }
  }

  private func flush(_ step: Value, times: Int) async throws {
    let slept = await stage.slept.count
    await stage.serve(step["replies"]!.list.map { cue($0) })
    let client = client
    async let other = times == 2 ? client.flush() : nil
    let outcomes = [try await client.flush(), try await other].compactMap { $0?.rawValue }
    XCTAssertEqual(outcomes, Array(repeating: step["outcome"]!.text!, count: times), name)
    try await checkSent(step)
    let unserved = await stage.unserved
    XCTAssertEqual(unserved, 0, name)
    if outcomes.contains("later") { try await waitUntil("a timer is set") { await stage.slept.count > slept } }
  }

  private func cue(_ reply: Value) -> Cue {
    if reply.text == "no-reply" { return .noReply }
    var cue = receiptsCue(reply)
    let steps = reply["meanwhile"]?.list ?? []
    cue.meanwhile = { for step in steps { try await self.play(step) } }
    return cue
  }

  private func checkSent(_ step: Value) async throws {
    let sent = try await stage.sent.map { request in
      let answers = try readJSON(request.body!)["answers"]!.list
      return answers.map { Value.list([number($0["id"]!.text!), $0["revision"]!]) }
    }
    if let ranges = step["sent_ranges"]?.list {
      XCTAssertEqual(sent.map { Value.list([$0.first![0], $0.last![0]]) }, ranges, name)
      XCTAssertEqual(sent.map { $0.count }, ranges.map { $0[1].int! - $0[0].int! + 1 }, name)
    } else {
      XCTAssertEqual(sent.map { Value.list($0) }, step["sent"]!.list, name)
    }
  }

  private func checkLeft(_ step: Value) async throws {
    if step["left"] == nil && step["left_range"] == nil { return }
    var left: [Value] = []
    for slip in try await client.outbox.shelf.list() {
      let entry = try await client.outbox.shelf.read(slip)!
      left.append(.list([number(slip.id), .number(Double(entry.answer.revision)), .text(entry.owner.identity)]))
    }
    if let range = step["left_range"]?.list {
      XCTAssertEqual(left.map { $0[0].int! }, Array(range[0].int!...range[1].int!), name)
    } else {
      XCTAssertEqual(left, step["left"]!.list, name)
    }
  }

  private func checkLost(_ step: Value) {
    let told = lost.use { lost in
      defer { lost = [] }
      return lost.map { Value.list([number($0.id), .text($0.code)]) }
    }
    XCTAssertEqual(told, step["lost"]?.list ?? [], "\(name): lost")
  }
}
