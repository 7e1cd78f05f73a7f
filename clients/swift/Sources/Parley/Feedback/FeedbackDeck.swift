import Foundation

/// Manages the cards of a feedback view: the displayed one, its answer, and the thanks at the end.
///
/// Display changes are immediate; disk and network work runs in tasks.
@MainActor
final class FeedbackDeck {
  /// How long the thanks are displayed.
  static let thanksMs = 5000

  let client: ParleyClient
  private var query: CardQuery
  private let metadata: [String: String]
  private let selection: FeedbackSelection
  private var coming: [Card] = []
  private var visibility = SeenRule()
  /// Sequence number of the current load; results of earlier loads are ignored.
  private var turn = 0
  /// When the cards were fetched last.
  private var fetchedAt: Date?
  /// Finished cards, which a list that is fetched right after an answer may still contain.
  private var finished: Set<String> = []
  private var stopListening: (@Sendable () -> Void)?
  /// Loads the cards after the time that the server has asked to wait for.
  private var returning: Task<Void, Never>?
  /// The displayed page or screen, as reported by the app.
  private var page = ""
  /// Displayed cards that are hidden until the user returns to their page.
  private var resting: [String: Draft] = [:]
  private(set) var shown: Draft?
  /// The card that the user has just completed and that is thanked for; nil once the thanks are closed.
  private(set) var thanked: Card?
  private var closing: Task<Void, Never>?
  /// The present input in the displayed card.
  var input: () -> WalkState? = { nil }
  /// Whether the thanks have to stay, for example because a screen reader is reading them.
  var areThanksInUse: () -> Bool = { false }
  /// Called when the view changes to another card, to the thanks, or to empty; true if the user has just finished a card.
  var onShow: (_ goesOn: Bool) -> Void = { _ in }
  /// Called when the user has ended a card.
  var onAnswer: (GivenAnswer) -> Void = { _ in }
  /// Called on failures that are not shown to the user.
  var onError: (any Error) -> Void = { _ in }

  init(client: ParleyClient, query: CardQuery, metadata: [String: String], selection: FeedbackSelection = .all) {
    self.selection = selection
    self.client = client
    self.query = query
    self.query.triggers = true
    self.query.isOfView = true
    self.metadata = metadata
  }

  deinit {
    returning?.cancel()
    client.drafts.release(by: ObjectIdentifier(self))
  }

  /// Refetches the cards. The displayed card stays if it is still among them.
  @discardableResult
  func load(isAfterAnswer: Bool = false) -> Task<Void, Never> {
    returning?.cancel()
    turn += 1
    fetchedAt = client.connection.wire.now()
    if !isAfterAnswer { finished = [] }
    listen()
    let ours = turn
    return attempt {
      do {
        let cards = try await self.client.listCards(self.query)
        if ours == self.turn { self.take(cards) }
      } catch {
        if ours == self.turn {
          self.resume()
          self.comeBack(after: error)
        }
        throw error
      }
    }
  }

  /// Loads the cards after the `Retry-After` of an error plus 0 to 100 % of it at random: others wait as well.
  private func comeBack(after error: any Error) {
    guard let wait = (error as? ParleyError)?.retryAfterMs else { return }
    let wire = client.connection.wire
    let delay = wait + Int(Double(wait) * wire.random())
    returning = Task { [weak self] in
      try? await wire.sleep(delay)  // throws only if it was cancelled
      if !Task.isCancelled { self?.load() }
    }
  }

  /// Fetches the cards again when the app becomes visible, if they may have changed.
  @discardableResult
  func loadIfDue() -> Task<Void, Never>? {
    let age = fetchedAt.map { client.connection.wire.now().timeIntervalSince($0) } ?? .infinity
    return age >= client.pollAfter ? load() : nil
  }

  /// Shows cards whose trigger occurs, until the view is put away.
  private func listen() {
    if stopListening != nil { return }
    let selection = selection
    page = client.triggers.page
    stopListening = client.triggers.listen(
      accepting: { selection.accepts($0) },
      turning: { [weak self] page in Task { @MainActor in self?.turn(to: page) } },
      { [weak self] card in Task { @MainActor in self?.takeTriggered(card) } })
  }

  /// Hides a card of another page unless the user has begun to answer it, and shows it again on return.
  func turn(to page: String) {
    self.page = page
    if let draft = shown, !draft.card.isOn(page), !noteTouch() {
      resting[draft.card.id] = draft
      coming.insert(draft.card, at: 0)
      _ = send(draft.note(CardEntry()))
      showNext(goesOn: false)
    } else if shown == nil && thanked == nil && due != nil {
      showNext(goesOn: false)
    }
  }

  /// Notes whether the user has begun to answer the displayed card, and returns it.
  private func noteTouch() -> Bool {
    if input()?.isUntouched == false { shown?.isTouched = true }
    return shown?.isTouched ?? false
  }

  /// Index of the next card for the displayed page.
  private var due: Int? {
    let now = client.connection.wire.now()
    return coming.firstIndex { card in
      let isLive = card.expiresAt.map { $0 > now } ?? true
      return isLive && (card.isOn(page) || resting[card.id]?.isTouched == true)
    }
  }

  /// Shows a card whose trigger has occurred, after the displayed one.
  func takeTriggered(_ card: Card) {
    let isKnown = shown?.card.id == card.id || coming.contains { $0.id == card.id }
    if isKnown || stopListening == nil { return }
    coming.insert(card, at: 0)
    if shown == nil && thanked == nil { showNext(goesOn: false) }
  }

  /// Whether the view has to measure how much of the card is visible.
  var isWaitingToBeSeen: Bool {
    shown.map { !$0.isSeen } ?? false
  }

  /// Processes the visible share of the card, several times a second; records when the card counts as seen.
  @discardableResult
  func measure(visibleShare share: Double) -> Task<Void, Never>? {
    guard let since = visibility.sample(share: share, at: client.connection.wire.now()) else { return nil }
    let answer = shown?.markSeen(since: since)
    return attempt { try await self.record(answer) }
  }

  /// Records the current input.
  @discardableResult
  func save(_ entry: CardEntry) -> Task<Void, Never> {
    let answer = shown?.note(entry)
    keepDraft()
    return attempt { try await self.record(answer) }
  }

  /// Records and sends the current input; the card stays.
  @discardableResult
  func sync(_ entry: CardEntry) -> Task<Void, Never> {
    let answer = shown?.note(entry)
    keepDraft()
    return send(answer)
  }

  /// Keeps the input of a card that the user has begun to answer, unless another view does.
  private func keepDraft() {
    guard noteTouch(), let draft = shown, let input = input(), let stored = draft.stored(input) else { return }
    if client.drafts.hold(draft.card.id, by: ObjectIdentifier(self)) { client.drafts.keep(stored) }
  }

  /// Shows the card that the user has left unfinished, where it was left. Returns whether there is one.
  @discardableResult
  private func resume() -> Bool {
    guard shown == nil, thanked == nil, let owner = client.connection.tokens.visit().heldOwner else { return false }
    let (now, selection, finished) = (client.connection.wire.now, selection, finished)
    let found = client.drafts.take(of: owner, at: now(), by: ObjectIdentifier(self)) { card in
      selection.accepts(card) && !finished.contains(card.id)
    }
    guard let (stored, card) = found else { return false }
    coming.removeAll { $0.id == card.id }
    resting[card.id] = Draft(stored, to: card, now: now)
    coming.insert(card, at: 0)
    showNext(goesOn: false)
    return true
  }

  /// Finishes the card: sends the answer, and shows the thanks after the last card and for a question with thanks of its
  /// own, otherwise the next card.
  @discardableResult
  func end(_ state: AnswerState, _ entry: CardEntry) -> Task<Void, Never> {
    let ended = shown
    let answer = ended?.note(state, entry)
    if let card = ended?.card {
      finished.insert(card.id)
      client.drafts.remove(card.id)
      client.drafts.release(by: ObjectIdentifier(self))
    }
    if state == .completed, let card = ended?.card, due == nil || card.thanks != nil {
      thank(card)
    } else {
      showNext(goesOn: true)
    }
    if let ended { onAnswer(ended.given) }
    let sending = send(answer)
    guard state == .completed else { return sending }
    return attempt {  // the answer may qualify the user for other cards
      await sending.value
      let outcome = try await self.client.flush()
      // Answers that were refused on the way do not keep other cards away.
      if outcome == .done || (outcome == .later && self.client.flushFailure == nil) { await self.load(isAfterAnswer: true).value }
    }
  }

  /// Replaces the thanks by the next card, if any.
  func closeThanks() {
    if thanked != nil { showNext(goesOn: areThanksInUse()) }
  }

  /// Records and sends the input because the card is no longer displayed; it is shown again, unless the user has `changed`.
  @discardableResult
  func putAway(_ entry: CardEntry, changed: Bool = false) -> Task<Void, Never> {
    turn += 1
    returning?.cancel()
    let answer = shown?.note(entry)
    if changed, let shown { client.drafts.remove(shown.card.id) } else { keepDraft() }
    client.drafts.release(by: ObjectIdentifier(self))
    coming = []
    resting = [:]
    stopListening?()
    stopListening = nil
    if shown != nil || thanked != nil { showNext(goesOn: false) }
    return send(answer)
  }

  private func send(_ answer: NewAnswer?) -> Task<Void, Never> {
    let recording = attempt { try await self.record(answer) }
    return attempt {
      await recording.value
      try await self.client.flush()  // also an answer that the disk refused
    }
  }

  private func record(_ answer: NewAnswer?) async throws {
    guard let answer else { return }
    await client.drafts.write()
    try await client.record(answer)
  }

  private func thank(_ card: Card) {
    shown = nil
    thanked = card
    onShow(true)
    let sleep = client.connection.wire.sleep
    closing = Task { [weak self] in
      repeat {
        try? await sleep(Self.thanksMs)  // throws only if it was cancelled
        if Task.isCancelled { return }
      } while self?.areThanksInUse() == true
      self?.closeThanks()
    }
  }

  /// Queues new cards. The displayed one stays if it is among them or if the user has begun to answer it, and the thanks stay until they
  /// are closed.
  private func take(_ cards: [Card]) {
    let isTaken = { [client, finished] (id: String) in
      finished.contains(id) || client.drafts.isHeld(id, byOtherThan: ObjectIdentifier(self))
    }
    let known = selection.cards(of: cards.filter { $0.canBeShown && !isTaken($0.id) })
    let others = known.filter { $0.id != shown?.card.id }
    coming = coming.filter { $0.trigger != nil && client.triggers.isListed($0) } + others
    let isStillThere = shown != nil && (others.count < known.count || shown?.card.trigger != nil || noteTouch())
    if isStillThere || thanked != nil || resume() { return }
    if shown != nil || due != nil { showNext(goesOn: false) }
  }

  private func showNext(goesOn: Bool) {
    closing?.cancel()
    thanked = nil
    visibility = SeenRule()
    let now = client.connection.wire.now
    let card = due.map { coming.remove(at: $0) }
    shown = card.map { resting.removeValue(forKey: $0.id) ?? Draft($0, now: now, metadata: metadata) }
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
