import Foundation

/// Shows cards whose trigger occurs on the device.
final class Triggers: Sendable {
  /// Shows cards.
  private struct Listener: Sendable {
    let id = UUID()
    let accepts: @Sendable (Card) -> Bool
    let turn: @Sendable (String) -> Void
    let show: @Sendable (Card) -> Void
  }

  private struct State {
    var deck: TriggerDeck
    var remembered: Remembered
    /// In order of registration; the first that accepts a card shows it.
    var listeners: [Listener] = []
    var timer: Task<Void, Never>?
    /// Whether the server does not know triggers.
    var isRefused = false
  }

  private let connection: Connection
  private let memory: TriggerMemory
  private let state: Guarded<State>

  init(connection: Connection, file: URL) {
    self.connection = connection
    memory = TriggerMemory(file: file)
    let remembered = memory.read()
    state = Guarded(
      State(deck: TriggerDeck(cards: remembered.cards, counts: remembered.counts), remembered: remembered))
  }

  deinit {
    state.use { $0.timer?.cancel() }
  }

  /// Fetches the cards; from a server that does not know triggers those without. Returns the cards without a trigger.
  func list(_ query: CardQuery, from reader: CardReader) async throws -> [Card] {
    var asked = query
    asked.triggers = !state.use { $0.isRefused }
    let fetched: FetchedCards
    do {
      fetched = try await reader.fetch(asked)
    } catch let error as ParleyError where asked.triggers && error.code == "unknown-parameter" {
      state.use { $0.isRefused = true }
      asked.triggers = false
      fetched = try await reader.fetch(asked)
    }
    change(remembering: { remembered in
      remembered.owner = fetched.owner
      if let body = fetched.body { remembered.list = body }
    }) { deck, now in deck.take(fetched.cards, pollAfter: reader.pollAfter, at: now) }
    return fetched.cards.filter { $0.trigger == nil }
  }

  func track(_ name: String, _ properties: [String: Attribute]) {
    checkUser()
    change { deck, now in deck.event(name, properties, at: now) }
  }

  func trackPage(_ url: String) {
    checkUser()
    change { deck, now in deck.page(url, at: now) }
    for listener in state.use({ $0.listeners }) { listener.turn(url) }
  }

  /// The displayed screen or URL, as reported last.
  var page: String {
    state.use { $0.deck.url }
  }

  /// Whether the last list has this card.
  func isListed(_ card: Card) -> Bool {
    state.use { $0.deck.cards.contains { $0.id == card.id } }
  }

  func logout() {
    forget()
  }

  /// Adds a listener; returns a function that removes it. `accepts` must not call the client. `turn` is called with each reported page.
  func listen(
    accepting accepts: @escaping @Sendable (Card) -> Bool = { _ in true },
    turning turn: @escaping @Sendable (String) -> Void = { _ in }, _ show: @escaping @Sendable (Card) -> Void
  ) -> @Sendable () -> Void {
    let listener = Listener(accepts: accepts, turn: turn, show: show)
    let id = listener.id
    state.use { $0.listeners.append(listener) }
    change { deck, now in deck.missed(at: now) }
    return { [weak self] in
      self?.state.use { $0.listeners.removeAll { $0.id == id } }
    }
  }

  /// Shows the cards whose delay has ended.
  func checkDue() {
    change { deck, now in deck.due(at: now) }
  }

  /// Waits until the state is on the disk.
  func settle() {
    memory.settle()
  }

  /// Drops the cards of another user: after a restart the user is known only with the first token.
  private func checkUser() {
    guard let held = connection.tokens.visit().heldOwner else { return }
    let isOther = state.use { $0.remembered.owner.map { !$0.isSame(as: held) } ?? false }
    if isOther { forget() }
  }

  private func forget() {
    change(remembering: { remembered in
      remembered.owner = nil
      remembered.list = nil
    }) { deck, _ in
      deck.forget()
      return []
    }
  }

  /// Changes the deck, keeps what survives a restart, and shows the cards that are set off.
  private func change(
    remembering remember: (inout Remembered) -> Void = { _ in }, _ work: (inout TriggerDeck, Date) -> [Card]
  ) {
    let now = connection.wire.now()
    let (found, listeners) = state.use { state -> ([Card], [Listener]) in
      let listeners = state.listeners
      state.deck.accepts = { card in listeners.contains { $0.accepts(card) } }
      let counts = state.deck.counts
      let owner = state.remembered.owner
      let list = state.remembered.list
      remember(&state.remembered)
      let found = work(&state.deck, now)
      let isChanged = counts != state.deck.counts || owner != state.remembered.owner || list != state.remembered.list
      if isChanged {
        state.remembered.counts = state.deck.counts
        memory.write(state.remembered)
      }
      setTimer(&state, now)
      return (found, listeners)
    }
    for card in found { listeners.first { $0.accepts(card) }?.show(card) }
  }

  private func setTimer(_ state: inout State, _ now: Date) {
    state.timer?.cancel()
    state.timer = state.deck.nextDue.map { due in
      let sleep = connection.wire.sleep
      let milliseconds = max(0, Int((due.timeIntervalSince(now) * 1000).rounded(.up)))
      return Task { [weak self] in
        try? await sleep(milliseconds)  // throws only if it was cancelled
        if !Task.isCancelled { self?.checkDue() }
      }
    }
  }
}

extension ParleyClient {
  /// Reports an event, such as `client.track("order_completed", ["total": 120])`.
  ///
  /// It is not sent, but compared with the cards at hand, also offline; a card whose trigger it completes is shown. Cards
  /// that arrive later do not learn of it.
  public func track(_ name: String, _ properties: [String: Attribute] = [:]) {
    triggers.track(name, properties)
  }

  /// Reports the displayed screen or URL, which triggers compare with their `url`.
  public func trackPage(_ url: String) {
    triggers.trackPage(url)
  }

  /// Registers a listener for cards whose trigger occurs, for an interface of your own; `FeedbackView` has one. It is called on the thread
  /// of `track`. Of several the first is called. Returns a function that removes it.
  public func onTriggered(_ listener: @escaping @Sendable (Card) -> Void) -> @Sendable () -> Void {
    triggers.listen(listener)
  }
}
