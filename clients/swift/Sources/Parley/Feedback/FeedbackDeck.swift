import Foundation

/// Manages the cards of a feedback view: the displayed one and its answer.
///
/// Display changes are immediate; disk and network work runs in tasks.
@MainActor
final class FeedbackDeck {
  let client: ParleyClient
  private let query: CardQuery
  private let metadata: [String: String]
  private var coming: [Card] = []
  /// Sequence number of the current load; results of earlier loads are ignored.
  private var turn = 0
  private(set) var shown: Draft?
  /// Called when another card or none is shown; true if the user has just finished the previous one.
  var onShow: (_ goesOn: Bool) -> Void = { _ in }
  /// Called on failures that are not shown to the user.
  var onError: (any Error) -> Void = { _ in }

  init(client: ParleyClient, query: CardQuery, metadata: [String: String]) {
    self.client = client
    self.query = query
    self.metadata = metadata
  }

  /// Refetches the cards. The displayed card stays if it is still among them.
  @discardableResult
  func load() -> Task<Void, Never> {
    turn += 1
    let ours = turn
    return attempt {
      let cards = try await self.client.listCards(self.query)
      if ours == self.turn { self.take(cards) }
    }
  }

  /// Records the current input.
  @discardableResult
  func save(_ entry: CardEntry) -> Task<Void, Never> {
    let answer = shown?.note(entry)
    return attempt { try await self.record(answer) }
  }

  /// Records and sends the current input; the card stays.
  @discardableResult
  func sync(_ entry: CardEntry) -> Task<Void, Never> {
    send(shown?.note(entry))
  }

  /// Finishes the card: sends the answer and shows the next card.
  @discardableResult
  func end(_ state: AnswerState, _ entry: CardEntry) -> Task<Void, Never> {
    let answer = shown?.note(state, entry)
    showNext(goesOn: true)
    return send(answer)
  }

  /// Records and sends the input because the card is no longer displayed.
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

  /// Queues new cards; skips types that this version does not support.
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
