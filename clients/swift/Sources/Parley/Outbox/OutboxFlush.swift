import Foundation

/// One flush: sends the current user's answers in requests of at most 100 answers and 48 KB.
struct OutboxFlush {
  static let maxAnswers = 100
  static let maxBytes = 48 * 1024

  /// Decodes a receipt; nil if it cannot be decoded.
  private enum Verdict {
    case taken
    case refused(String)
    case none
  }

  private typealias Item = (slip: OutboxSlip, answer: NewAnswer)

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
    try await shelf.expire()
    if try await shelf.list().isEmpty { return true }
    let owner = try await connection.tokens.visit().token().owner
    while true {
      let batch = try await nextBatch(of: owner)
      if batch.isEmpty { return true }
      guard try await sync(batch, as: owner) else { return false }
    }
  }

  private func nextBatch(of owner: Owner) async throws -> [Item] {
    var batch: [Item] = []
    var bytes = "[]".utf8.count
    for slip in try await shelf.list() {
      guard let entry = try await shelf.read(slip), entry.owner == owner else { continue }
      bytes += try JSON.encoder.encode(entry.answer).count + (batch.isEmpty ? 0 : ",".utf8.count)
      if !batch.isEmpty && (bytes > Self.maxBytes || batch.count == limit) { break }
      batch.append((slip, entry.answer))
    }
    return batch
  }

  private mutating func sync(_ batch: [Item], as owner: Owner) async throws -> Bool {
    do {
      let receipts = try await send(batch.map(\.answer), as: owner)
      limit = min(Self.maxAnswers, limit * 2)
      return try await settle(batch, receipts)
    } catch let error as ParleyError where error.kind == .tooLarge {
      try await halve(batch)
      return true
    }
  }

  private func send(_ answers: [NewAnswer], as owner: Owner) async throws -> [Receipts.Receipt] {
    let body = NewAnswers(clientTime: shelf.now(), answers: answers)
    var call = try Call(method: "POST", path: path("answers"), body: JSON.encoder.encode(body))
    call.owner = owner
    call.policy = .once  // the outbox retries, including answers recorded meanwhile
    return try await connection.request(call).read(Receipts.self).results
  }

  private func settle(_ batch: [Item], _ receipts: [Receipts.Receipt]) async throws -> Bool {
    var isWhole = receipts.count >= batch.count
    for (item, receipt) in zip(batch, receipts) {
      switch verdict(receipt, on: item) {
      case .taken: try await shelf.settle(item.slip, revision: item.answer.revision, refusedWith: nil)
      case .refused(let code): try await shelf.settle(item.slip, revision: item.answer.revision, refusedWith: code)
      case .none: isWhole = false
      }
    }
    return isWhole
  }

  private func verdict(_ receipt: Receipts.Receipt, on item: Item) -> Verdict {
    guard receipt.id == nil || receipt.id == item.answer.id else { return .none }
    switch receipt.status {
    case .accepted, .duplicate, .superseded: return .taken
    case .rejected: return .refused(receipt.code ?? "rejected")
    default: return .none
    }
  }

  private mutating func halve(_ batch: [Item]) async throws {
    limit = max(1, batch.count / 2)
    guard batch.count == 1, let item = batch.first else { return }
    try await shelf.settle(item.slip, revision: item.answer.revision, refusedWith: "body-too-large")
  }
}
