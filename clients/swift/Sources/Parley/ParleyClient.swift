import Foundation

/// Parley as one user of an app sees it: cards, answers, conversations.
///
/// Make one for the life of the app. Every call throws a `ParleyError` (or `CancellationError` in a cancelled task);
/// each has a form with a completion handler beside it.
public final class ParleyClient: Sendable {
  public struct Options: Sendable {
    /// Where answers wait to be sent; a folder of this client's alone. Application Support where nil.
    public var outboxFolder: URL?
    /// How often a call is repeated that got no reply.
    public var retry = RetryPolicy.request
    /// How long after each other the outbox tries again.
    public var outboxRetry = RetryPolicy.outbox
    /// Hears of answers that were given up: refused, too large, too many, too old.
    public var onLost: @Sendable (LostAnswer) -> Void = { _ in }
    /// Where completion handlers are called.
    public var completionQueue = DispatchQueue.main
    /// The network, time and chance that it works with.
    public var wire = Wire()

    public init() {}
  }

  let connection: Connection
  let cards: CardReader
  let outbox: Outbox
  let completionQueue: DispatchQueue

  /// A client for `baseURL`: `https://…`, or `http://localhost` while developing.
  ///
  /// Throws `insecureURL`, and what the system says when the folder of the outbox can't be made.
  public init(baseURL: String, provider: TokenProvider, options: Options = Options()) throws {
    let wire = options.wire
    let tokens = TokenCache(provider: provider, now: wire.now)
    let base = try checkBaseURL(baseURL)
    let connection = Connection(baseURL: base, wire: wire, policy: options.retry, tokens: tokens)
    self.connection = connection
    cards = CardReader(connection: connection)
    let folder = try OutboxFolder(options.outboxFolder ?? OutboxFolder.usual())
    outbox = Outbox(connection: connection, folder: folder, policy: options.outboxRetry, onLost: options.onLost)
    completionQueue = options.completionQueue
  }

  /// To be called when the user changes: forgets the token and all that was read, and asks the provider anew.
  ///
  /// Returns at once. Answers that are still in the outbox stay there until their own user comes back.
  public func logout() {
    connection.tokens.logout()
    cards.forget()
    NotificationCenter.default.post(name: Self.didLogOut, object: self)
  }

  /// Whether the provider is being asked.
  package var isAskingProvider: Bool {
    connection.tokens.visit().waiting > 0
  }

  /// Posted by a client, on the thread of whoever called `logout`.
  public static let didLogOut = Notification.Name("ParleyClientDidLogOut")

  /// Who the server takes the user for.
  public func whoAmI() async throws -> Me {
    try await read(path("me"))
  }

  /// Says something of the user, by the attributes that the tenant lets apps set; nil removes one, the rest stays.
  ///
  /// Returns all of these. Not with a public token: `forbidden`.
  @discardableResult
  public func patchMyAttributes(_ attributes: [String: Attribute?]) async throws -> [String: Attribute] {
    let known: Attributes<Attribute> = try await write("PATCH", path("me", "attributes"), Attributes(attributes: attributes))
    return known.attributes
  }

  /// An answer of the user's once it is stored; `notFound` before. With a public token only `id` and `state` are known.
  public func readAnswer(_ id: String) async throws -> Answer {
    try await read(path("answers", id))
  }

  /// What is at a path.
  func read<Value: Decodable>(_ path: String) async throws -> Value {
    try await connection.request(Call(method: "GET", path: path)).read(Value.self)
  }

  /// What a write answers.
  func write<Value: Decodable>(_ method: String, _ path: String, _ body: some Encodable) async throws -> Value {
    let body = try JSON.encoder.encode(body)
    return try await connection.request(Call(method: method, path: path, body: body)).read(Value.self)
  }

  /// A write that answers with nothing.
  func act(_ method: String, _ path: String, _ body: Data? = nil) async throws {
    let reply = try await connection.request(Call(method: method, path: path, body: body))
    guard reply.status == 204 else { throw ParleyError.unreadable(reply) }
  }
}
