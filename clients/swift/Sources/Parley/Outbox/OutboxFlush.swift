import Foundation

/// One flush: sends the current user's answers in requests of at most 100 answers and 48 KB.
struct OutboxFlush {
  static let maxAnswers = 100
  static let maxBytes = 48 * 1024

  /// How a flush has ended.
  enum Ending {
    case done
    /// An answer got no receipt.
    case incomplete
    /// Only answers that were refused on the way are left.
    case apart(until: Date)
  }

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

  /// Sends until no answers of the user are due. Throws the error that stopped it.
  mutating func run() async throws -> Ending {
    let first = await shelf.atHand()
    if first.entries.isEmpty { return try end(first, []) }
    let owner = try await connection.tokens.visit().token().owner
    while true {
      let atHand = await shelf.atHand()
      let own = atHand.entries.filter { $0.owner.isSame(as: owner) }
      let batch = try nextBatch(own)
      if batch.isEmpty { return try end(atHand, own) }
      guard try await sync(batch, as: owner) else { return .incomplete }
    }
  }

  private func end(_ atHand: OutboxShelf.AtHand, _ own: [OutboxEntry]) throws -> Ending {
    if let failure = atHand.failure { throw failure }
    return own.compactMap(\.nextTryAt).min().map { .apart(until: $0) } ?? .done
  }

  /// The entries of the next request. One that was refused on the way has a request of its own, after the others.
  private func nextBatch(_ entries: [OutboxEntry]) throws -> [OutboxEntry] {
    var batch: [OutboxEntry] = []
    var bytes = "[]".utf8.count
    for entry in entries where entry.nextTryAt == nil {
      bytes += try JSON.encoder.encode(entry.answer).count + (batch.isEmpty ? 0 : ",".utf8.count)
      if !batch.isEmpty && (bytes > Self.maxBytes || batch.count == limit) { break }
      batch.append(entry)
    }
    let now = shelf.now()
    return batch.isEmpty ? Array(entries.filter { $0.isDue(at: now) }.prefix(1)) : batch
  }

  private mutating func sync(_ batch: [OutboxEntry], as owner: Owner) async throws -> Bool {
    do {
      let answers = batch.map(\.answer)
      let receipts = try await send(answers, as: owner)
      limit = min(Self.maxAnswers, limit * 2)
      return await settle(answers, receipts)
    } catch let error as ParleyError where error.isRefusal {
      await halve(batch, error)
      return true
    }
  }

  private func send(_ answers: [NewAnswer], as owner: Owner) async throws -> [Receipts.Receipt] {
    let body = NewAnswers(clientTime: shelf.now(), answers: answers)
    var call = try Call(operation: "recordAnswers", method: "POST", path: path("answers"), body: JSON.encoder.encode(body))
    call.owner = owner
    call.policy = .once  // the outbox retries, including answers recorded meanwhile
    let reply = try await connection.request(call)
    guard reply.status == 202 else { throw ParleyError.unreadable(reply) }
    return try reply.read(Receipts.self).results
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

  /// Halves the next request. A single answer is given up if Parley itself refused it, and waits apart otherwise.
  private mutating func halve(_ batch: [OutboxEntry], _ error: ParleyError) async {
    limit = max(1, batch.count / 2)
    guard batch.count == 1, let entry = batch.first else { return }
    if error.isFinalRefusal {
      await shelf.settle(entry.answer, refusedWith: error.code)
    } else {
      await shelf.refuse(entry, error)
    }
  }
}
