import Foundation

/// Compares the occurrences on the device with the cards at hand (`clients/contract/triggers.json`).
///
/// Each function returns the cards to show.
struct TriggerDeck: Sendable {
  /// Occurrences of a card's trigger.
  struct Count: Codable, Equatable, Sendable {
    let id: String
    let count: Int
  }

  /// Maximum number of counts; the one that changed longest ago is dropped.
  static let maxCounts = 100

  /// The cards of the last list that have a trigger.
  private(set) var cards: [Card] = []
  /// The latest change is last. Card ids are unique per user, so each user has counts of their own.
  private(set) var counts: [Count] = []
  /// Whether something shows this card now.
  var accepts: @Sendable (Card) -> Bool = { _ in false }
  /// When the delay of cards ends.
  private var waiting: [String: Date] = [:]
  /// When each card was shown. A list that is fetched right after may still contain an answered one.
  private var shown: [String: Date] = [:]
  /// Whether a card under the cooldown was shown since the last fetch.
  private var isAsked = false
  private(set) var url = ""
  /// Cards that have counted the present page.
  private var counted: Set<String> = []

  init(cards: [Card] = [], counts: [Count] = []) {
    self.cards = cards.filter { $0.trigger != nil }
    self.counts = counts
  }

  var nextDue: Date? {
    waiting.values.min()
  }

  /// Replaces the cards at hand by those of a list. Cards shown at least `pollAfter` ago may be shown again.
  mutating func take(_ list: [Card], pollAfter: TimeInterval, at now: Date) -> [Card] {
    cards = list.filter { $0.trigger != nil }
    let ids = Set(cards.map(\.id))
    waiting = waiting.filter { ids.contains($0.key) }
    shown = shown.filter { now.timeIntervalSince($0.value) < pollAfter }
    isAsked = list.contains { $0.inCooldown && ($0.trigger == nil || shown[$0.id] != nil) }
    return lookAtPage(at: now)
  }

  /// Drops the cards: the user changed.
  mutating func forget() {
    cards = []
    waiting = [:]
    shown = [:]
    isAsked = false
  }

  mutating func event(_ name: String, _ properties: [String: Attribute], at now: Date) -> [Card] {
    cancel { $0.cancelOn.contains(name) }
    return occur(at: now) { _, trigger in trigger.event == name && trigger.isMet(by: properties) }
  }

  mutating func page(_ next: String, at now: Date) -> [Card] {
    if next == url { return [] }
    url = next
    counted = []
    cancel { !$0.isOn(page: next) }
    return lookAtPage(at: now)
  }

  /// The cards whose delay has ended.
  mutating func due(at now: Date) -> [Card] {
    cards.filter { card in waiting[card.id].map { $0 <= now } ?? false }.compactMap { show($0, at: now) }
  }

  /// The cards that the present page set off before the first view existed.
  mutating func missed(at now: Date) -> [Card] {
    cards
      .filter { card in counted.contains(card.id) && waiting[card.id] == nil && count(of: card) >= card.trigger?.count ?? 1 }
      .compactMap { show($0, at: now) }
  }

  private mutating func lookAtPage(at now: Date) -> [Card] {
    let before = counted
    let found = occur(at: now) { card, trigger in
      trigger.event == nil && trigger.click == nil && !before.contains(card.id)
    }
    for card in cards where card.trigger.map({ $0.event == nil && $0.click == nil && $0.isOn(page: url) }) ?? false {
      counted.insert(card.id)
    }
    return found
  }

  private mutating func occur(at now: Date, _ isHit: (Card, Trigger) -> Bool) -> [Card] {
    let hit = cards.filter { card in card.trigger.map { $0.isOn(page: url) && isHit(card, $0) } ?? false }
    return hit.compactMap { add(to: $0, at: now) }
  }

  /// Counts an occurrence, and returns the card with the last one.
  private mutating func add(to card: Card, at now: Date) -> Card? {
    guard let trigger = card.trigger else { return nil }
    let count = min(count(of: card) + 1, trigger.count)
    setCount(of: card, count)
    if count < trigger.count || waiting[card.id] != nil || !isOpen(card, at: now) { return nil }
    if trigger.delayS == 0 { return show(card, at: now) }
    waiting[card.id] = now.addingTimeInterval(TimeInterval(trigger.delayS))
    return nil
  }

  private mutating func show(_ card: Card, at now: Date) -> Card? {
    waiting[card.id] = nil
    guard isOpen(card, at: now), accepts(card) else { return nil }
    shown[card.id] = now
    isAsked = isAsked || card.inCooldown
    setCount(of: card, 0)
    return card
  }

  private func isOpen(_ card: Card, at now: Date) -> Bool {
    shown[card.id] == nil && !(card.inCooldown && isAsked) && card.expiresAt.map { $0 > now } ?? true
  }

  private mutating func cancel(_ isCancelled: (Trigger) -> Bool) {
    for card in cards where card.trigger.map(isCancelled) ?? false { waiting[card.id] = nil }
  }

  private func count(of card: Card) -> Int {
    counts.first { $0.id == card.id }?.count ?? 0
  }

  private mutating func setCount(of card: Card, _ count: Int) {
    counts.removeAll { $0.id == card.id }
    if count > 0 { counts.append(Count(id: card.id, count: count)) }
    counts.removeFirst(max(0, counts.count - Self.maxCounts))
  }
}
