import Foundation

/// Context in which cards are shown, for the audience of questions.
public struct CardQuery: Hashable, Sendable {
  /// BCP 47.
  public var locale: String?
  public var platform: String?
  /// Semantic version.
  public var appVersion: String?
  /// 1…20.
  public var limit: Int?
  /// Also fetches cards with a trigger: `ParleyClient.track` sets them off, and they are not in the returned list. Views set it.
  public var triggers = false
  /// Whether a response with `Retry-After` is a failure at once: a view itself returns later.
  var isOfView = false

  public init(locale: String? = nil, platform: String? = nil, appVersion: String? = nil, limit: Int? = nil) {
    self.locale = locale
    self.platform = platform
    self.appVersion = appVersion
    self.limit = limit
  }

  func path() throws -> String {
    let limit = limit.map(String.init)
    return try Parley.path(
      "cards",
      query: [
        ("locale", locale), ("platform", platform), ("app_version", appVersion), ("limit", limit),
        ("triggers", triggers ? "true" : nil),
      ])
  }
}

extension ParleyClient {
  /// Returns the user's current cards, at most 20, highest priority first.
  public func listCards(_ query: CardQuery = CardQuery()) async throws -> [Card] {
    try await query.triggers ? triggers.list(query, from: cards) : cards.fetch(query).cards
  }

  /// Seconds after which the cards may have changed, as in the last fetched list: fetch them again when the app becomes visible.
  public var pollAfter: TimeInterval {
    cards.pollAfter
  }

  /// The tenant's appearance of cards in the last fetched list; nil before it, and from servers before 0.3.
  public var appearance: Appearance? {
    cards.appearance
  }
}

/// A response with cards.
struct CardList: Decodable {
  let data: [Card]
  let appearance: Appearance?
  let pollAfterS: Double?

  /// The cards with their user, and each with its JSON in the response.
  func cards(of owner: Owner?, in body: Data) -> [Card] {
    let members = (try? JSONSerialization.jsonObject(with: body)) as? [String: Any]
    let sources = members?["data"] as? [Any] ?? []
    return zip(data, sources).map { card, source in
      var owned = card
      owned.owner = owner
      owned.source = (try? JSONSerialization.data(withJSONObject: source)).map { String(decoding: $0, as: UTF8.self) }
      return owned
    }
  }

  /// Returns the card of a JSON; nil if it is damaged.
  static func card(_ source: String) -> Card? {
    var card = try? JSON.decoder.decode(Card.self, from: Data(source.utf8))
    card?.source = source
    return card
  }
}

/// Cards with their user; `body` is the response, nil if the cards have not changed.
struct FetchedCards: Sendable {
  let cards: [Card]
  let owner: Owner
  let body: String?
}

/// Fetches cards, with the ETag of the cached list.
final class CardReader: Sendable {
  /// The last fetched list of cards.
  private struct Hand {
    let path: String
    let owner: Owner
    let etag: String
    let cards: [Card]
  }

  private let connection: Connection
  private let last = Guarded<Hand?>(nil)
  private let look = Guarded<Appearance?>(nil)
  private let poll = Guarded<TimeInterval>(60)

  init(connection: Connection) {
    self.connection = connection
  }

  func fetch(_ query: CardQuery) async throws -> FetchedCards {
    let path = try query.path()
    let asked = Guarded<(owner: Owner, known: Hand?)?>(nil)
    var call = Call(operation: "listCards", method: "GET", path: path)
    if query.isOfView {
      call.policy = connection.policy
      call.policy?.longestRetryAfterMs = 0
    }
    call.headers = { owner in
      let known = self.known(path, of: owner)
      asked.use { $0 = (owner, known) }
      return known.map { ["If-None-Match": $0.etag] } ?? [:]
    }
    let reply = try await connection.request(call)
    guard let (owner, known) = asked.use({ $0 }) else { throw ParleyError.unreadable(reply) }
    if reply.status == 304, let known { return FetchedCards(cards: known.cards, owner: owner, body: nil) }
    let body = String(decoding: reply.body, as: UTF8.self)
    return FetchedCards(cards: try keep(reply, path, of: owner), owner: owner, body: body)
  }

  var appearance: Appearance? {
    look.use { $0 }
  }

  var pollAfter: TimeInterval {
    poll.use { $0 }
  }

  func forget() {
    last.use { $0 = nil }
  }

  private func known(_ path: String, of owner: Owner) -> Hand? {
    last.use { hand in hand.flatMap { $0.path == path && $0.owner == owner ? $0 : nil } }
  }

  private func keep(_ reply: WireReply, _ path: String, of owner: Owner) throws -> [Card] {
    let list = try reply.read(CardList.self)
    look.use { $0 = list.appearance }
    if let seconds = list.pollAfterS { poll.use { $0 = seconds } }
    let cards = list.cards(of: owner, in: reply.body)
    last.use { $0 = reply.header("ETag").map { Hand(path: path, owner: owner, etag: $0, cards: cards) } }
    return cards
  }
}
