import Foundation

/// One flush: sends the current user's answers in requests of at most 100 answers and 48 KB.
struct OutboxFlush {
  static let maxAnswers = 100
  static let maxBytes = 48 * 1024

  /// Meaning of a receipt; none if it cannot be decoded.
  private enum Verdict {
    case taken
    case refused(String)
    case none
  }

  let connection: Connection
  let shelf: OutboxShelf
  /// Maximum number of answers in the next request.
  private var limit = Self.maxAnswers

  init(connection: Connection, shelf: OutboxShelf) {
    self.connection = connection
    self.shelf = shelf
  }

  /// Sends until no answers of the user are left; false if an answer got no receipt. Throws the error that stopped it.
  mutating func run() async throws -> Bool {
    let first = await shelf.atHand()
    if first.entries.isEmpty { return try end(first) }
    let owner = try await connection.tokens.visit().token().owner
    while true {
      let atHand = await shelf.atHand()
      let batch = try nextBatch(of: owner, from: atHand.entries)
      if batch.isEmpty { return try end(atHand) }
      guard try await sync(batch, as: owner) else { return false }
    }
  }

  private func end(_ atHand: OutboxShelf.AtHand) throws -> Bool {
    if let failure = atHand.failure { throw failure }
    return true
  }

  private func nextBatch(of owner: Owner, from entries: [OutboxEntry]) throws -> [NewAnswer] {
    var batch: [NewAnswer] = []
    var bytes = "[]".utf8.count
    for entry in entries where entry.owner.isSame(as: owner) {
      bytes += try JSON.encoder.encode(entry.answer).count + (batch.isEmpty ? 0 : ",".utf8.count)
      if !batch.isEmpty && (bytes > Self.maxBytes || batch.count == limit) { break }
      batch.append(entry.answer)
    }
    return batch
  }

  private mutating func sync(_ batch: [NewAnswer], as owner: Owner) async throws -> Bool {
    do {
      let receipts = try await send(batch, as: owner)
      limit = min(Self.maxAnswers, limit * 2)
      return await settle(batch, receipts)
    } catch let error as ParleyError where error.kind == .tooLarge {
      await halve(batch)
      return true
    }
  }

  private func send(_ answers: [NewAnswer], as owner: Owner) async throws -> [Receipts.Receipt] {
    let body = NewAnswers(clientTime: shelf.now(), answers: answers)
    var call = try Call(operation: "recordAnswers", method: "POST", path: path("answers"), body: JSON.encoder.encode(body))
    call.owner = owner
    call.policy = .once  // the outbox retries, including answers recorded meanwhile
    return try await connection.request(call).read(Receipts.self).results
  }

  private func settle(_ batch: [NewAnswer], _ receipts: [Receipts.Receipt]) async -> Bool {
    var isWhole = receipts.count >= batch.count
    for (answer, receipt) in zip(batch, receipts) {
      switch verdict(receipt, on: answer) {
      case .taken: await shelf.settle(answer, refusedWith: nil)
      case .refused(let code): await shelf.settle(answer, refusedWith: code)
      case .none: isWhole = false
      }
    }
    return isWhole
  }

  private func verdict(_ receipt: Receipts.Receipt, on answer: NewAnswer) -> Verdict {
    guard receipt.id == nil || receipt.id == answer.id else { return .none }
    switch receipt.status {
    case .accepted, .duplicate, .superseded: return .taken
    case .rejected: return .refused(receipt.code ?? "rejected")
    default: return .none
    }
  }

  private mutating func halve(_ batch: [NewAnswer]) async {
    limit = max(1, batch.count / 2)
    if batch.count == 1, let answer = batch.first { await shelf.settle(answer, refusedWith: "body-too-large") }
  }
}
