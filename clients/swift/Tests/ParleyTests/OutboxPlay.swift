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
    if let code = reply["code"]?.text { return Data(#"{"title": "Refused", "code": "\#(code)"}"#.utf8) }
    if reply["status"]?.int ?? 202 != 202 { return Data("{}".utf8) }
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
  private let refused = Guarded<[String]>([])
  private let timeout: TimeInterval?
  /// Whether the disk refuses writes.
  private let isFull = Guarded(false)
  private var client: ParleyClient
  /// Cards that the client has fetched, by number.
  private var cards: [Int: Card] = [:]

  init(_ each: Value) throws {
    name = each["name"]!.text!
    timeout = each["steps"]!.list.compactMap { $0["timeout_ms"]?.number }.first.map { $0 / 1000 }
    client = try Self.makeClient(stage, login, folder, lost, refused, isFull, timeout)
  }

  private static func makeClient(
    _ stage: Stage, _ login: LoggedIn, _ folder: URL, _ lost: Guarded<[LostAnswer]>, _ refused: Guarded<[String]>,
    _ isFull: Guarded<Bool>, _ timeout: TimeInterval?
  ) throws -> ParleyClient {
    try ParleyTests.makeClient(stage, provider: login.provider, folder: folder, sleepEnds: false) {
      $0.onLost = { each in lost.use { $0.append(each) } }
      $0.onRefused = { answer, error in
        XCTAssertEqual(error.code, "refused")
        refused.use { $0.append(answer.id) }
      }
      if let timeout { $0.wire.timeout = timeout }
      $0.flushToDisk = { path in
        if isFull.use({ $0 }) { throw POSIXError(.ENOSPC) }
        try flushToDisk(path)
      }
    }
  }

  func play(_ step: Value) async throws {
    stage.clock.use { $0 = Date(timeIntervalSince1970: step["at"]?.number ?? 0) }
    let act = step["do"]!.text!
    if act == "logout" || act == "restart" {
      if let identity = step["identity"]?.text { _ = login.become(identity) }
    } else if !["left", "damage"].contains(act) {
      try await become(step)
    }
    try await withStorage(step["storage"]?.text, unread: step["unread"]?.int) { try await perform(act, step) }
    try await checkLeft(step)
    checkLost(step)
  }

  private func perform(_ act: String, _ step: Value) async throws {
    switch act {
    case "fetch_cards": try await fetchCards(step)
    case "record": try await record(step)
    case "record_many": try await recordMany(step)
    case "flush": try await flush(step, times: 1)
    case "flush_twice": try await flush(step, times: 2)
    case "logout": try await logOut(client)
    case "restart": client = try Self.makeClient(stage, login, folder, lost, refused, isFull, timeout)
    case "damage": try damage(step["answer"]!.int!)
    case "left": break
    default: XCTFail("\(name): unknown step")
    }
  }

  /// Runs work while the disk is full, while every access to it fails, or while the file of an answer cannot be read.
  private func withStorage(_ trouble: String?, unread: Int?, _ work: () async throws -> Void) async throws {
    let away = folder.appendingPathExtension("away")
    let file = try unread.map { folder.appendingPathComponent(try fileName($0)) }
    if let file {  // a folder in its place is an error other than a damaged file, also for root
      try FileManager.default.moveItem(at: file, to: away)
      try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
    }
    defer {
      if let file {
        try? FileManager.default.removeItem(at: file)
        try? FileManager.default.moveItem(at: away, to: file)
      }
    }
    isFull.use { $0 = trouble == "full" }
    if trouble == "down" { try FileManager.default.moveItem(at: folder, to: away) }
    try await work()
    isFull.use { $0 = false }
    if trouble == "down" { try FileManager.default.moveItem(at: away, to: folder) }
  }

  private func fileName(_ number: Int) throws -> String {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    return try XCTUnwrap(names.first { $0.hasSuffix("-\(try! answer(number, revision: 1).id).json") })
  }

  private func damage(_ number: Int) throws {
    try Data("{".utf8).write(to: folder.appendingPathComponent(fileName(number)))
  }

  /// Makes the current token belong to the step's user, or fail.
  private func become(_ step: Value) async throws {
    let hasChanged = login.become(step["identity"]?.text ?? login.identity, verified: step["verified"]?.flag ?? true)
    let failure = step["provider_failure"]?.text
    if let failure { login.fail(failure) }
    let hangs = step["provider_hangs"]?.flag == true
    if hangs { login.hang() }
    if hasChanged || failure != nil || hangs { try await logOut(client) }
  }

  private func fetchCards(_ step: Value) async throws {
    let numbers = step["cards"]!.list.map { $0.int! }
    let list = numbers.map { cardJSON($0) }.joined(separator: ",")
    await stage.serve([Cue(status: 200, body: #"{"data": [\#(list)], "poll_after_s": 60}"#)])
    for (number, card) in zip(numbers, try await client.listCards()) { cards[number] = card }
  }

  private func record(_ step: Value) async throws {
    let comment = step["comment_bytes"]?.int.map { String(repeating: "x", count: $0) }
    let number = step["answer"]!.int!
    var answer = try answer(number, revision: step["revision"]!.int!, comment: comment)
    answer.owner = cards[number]?.owner
    answer.answeredAt = step["answered_at"]?.number.map { Date(timeIntervalSince1970: $0) }
    let recorded = answer
    let came = await outcome { try await client.record(recorded) }
    XCTAssertEqual(came.name, step["failure"]?.text ?? "success", name)
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
    if let failure = step["failure"]?.text { XCTAssertEqual(client.flushFailure?.kind.rawValue, failure, name) }
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
    for entry in try await client.outbox.shelf.list() {
      left.append(.list([number(entry.answer.id), .number(Double(entry.answer.revision)), .text(entry.owner.identity)]))
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
    let kept = refused.use { refused in
      defer { refused = [] }
      return refused.map(number)
    }
    XCTAssertEqual(kept, step["refused"]?.list ?? [], "\(name): refused")
  }
}
