import Foundation

/// The cards of a feedback view, one after the other: which is shown, and what becomes of it.
///
/// What is seen changes at once; the tasks are the disk's and the network's part of it.
@MainActor
final class FeedbackDeck {
  let client: ParleyClient
  private let query: CardQuery
  private let metadata: [String: String]
  private var coming: [Card] = []
  /// Counts the loads; what comes back for an earlier one shows nothing.
  private var turn = 0
  private(set) var shown: Draft?
  /// Hears that another card is shown, or none; true when the user has just ended the one before.
  var onShow: (_ goesOn: Bool) -> Void = { _ in }
  /// Hears of a failure that the user need not see.
  var onError: (any Error) -> Void = { _ in }

  init(client: ParleyClient, query: CardQuery, metadata: [String: String]) {
    self.client = client
    self.query = query
    self.metadata = metadata
  }

  /// Reads the cards anew. A card that is shown stays, where it is still among them.
  @discardableResult
  func load() -> Task<Void, Never> {
    turn += 1
    let ours = turn
    return attempt {
      let cards = try await self.client.listCards(self.query)
      if ours == self.turn { self.take(cards) }
    }
  }

  /// Writes down what stands in the card, as far as it goes.
  @discardableResult
  func save(_ entry: CardEntry) -> Task<Void, Never> {
    let answer = shown?.note(entry)
    return attempt { try await self.record(answer) }
  }

  /// Writes down and sends what stands in the card, which stays.
  @discardableResult
  func sync(_ entry: CardEntry) -> Task<Void, Never> {
    send(shown?.note(entry))
  }

  /// The user is done with the card: the next one is shown, and the answer is sent.
  @discardableResult
  func end(_ state: AnswerState, _ entry: CardEntry) -> Task<Void, Never> {
    let answer = shown?.note(state, entry)
    showNext(goesOn: true)
    return send(answer)
  }

  /// No card is displayed any more: what stands in this one is written down and sent.
  @discardableResult
  func putAway(_ entry: CardEntry) -> Task<Void, Never> {
    turn += 1
    let answer = shown?.note(entry)
    coming = []
    if shown != nil { showNext(goesOn: false) }
    return send(answer)
  }

  private func send(_ answer: NewAnswer?) -> Task<Void, Never> {
    attempt {
      try await self.record(answer)
      try await self.client.flush()
    }
  }

  private func record(_ answer: NewAnswer?) async throws {
    if let answer { try await client.record(answer) }
  }

  /// Goes through new cards; of those that a newer server may send it takes what it knows.
  private func take(_ cards: [Card]) {
    let known = cards.filter { $0.kind == .question && !$0.steps.isEmpty && $0.steps.allSatisfy(\.canBeShown) }
    coming = known.filter { $0.id != shown?.card.id }
    let isStillThere = shown != nil && coming.count < known.count
    if !isStillThere && !(shown == nil && coming.isEmpty) { showNext(goesOn: false) }
  }

  private func showNext(goesOn: Bool) {
    let now = client.connection.wire.now
    shown = coming.isEmpty ? nil : Draft(coming.removeFirst(), now: now, metadata: metadata)
    onShow(goesOn)
  }

  private func attempt(_ work: @escaping @MainActor () async throws -> Void) -> Task<Void, Never> {
    Task {
      do {
        try await work()
      } catch {
        onError(error)
      }
    }
  }
}
