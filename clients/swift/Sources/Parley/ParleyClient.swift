import Foundation

/// Client for the current user of an app: cards, answers, conversations.
///
/// Create one for the lifetime of the app. Every call throws a `ParleyError` (or `CancellationError` in a cancelled task)
/// and has a variant with a completion handler.
public final class ParleyClient: Sendable {
  public struct Options: Sendable {
    /// Folder of the outbox, used by this client only. Defaults to Application Support.
    public var outboxFolder: URL?
    /// Retry policy of failed calls.
    public var retry = RetryPolicy.request
    /// Retry policy of the outbox.
    public var outboxRetry = RetryPolicy.outbox
    /// Called for answers that are given up: rejected, too large, too many, too old.
    public var onLost: @Sendable (LostAnswer) -> Void = { _ in }
    /// Queue of completion handlers.
    public var completionQueue = DispatchQueue.main
    /// Network, clock and random numbers in use.
    public var wire = Wire()

    public init() {}
  }

  let connection: Connection
  let cards: CardReader
  let outbox: Outbox
  let completionQueue: DispatchQueue

  /// Creates a client for `baseURL`: `https://…`, or `http://localhost` in development.
  ///
  /// Throws `insecureURL`, or the system's error if the outbox folder cannot be created.
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

  /// Call this when the user changes: drops the token and all cached data, and requests a new token.
  ///
  /// Returns immediately. Answers in the outbox stay there until their user signs in again.
  public func logout() {
    connection.tokens.logout()
    cards.forget()
    NotificationCenter.default.post(name: Self.didLogOut, object: self)
  }

  /// Whether a provider call is in progress.
  package var isAskingProvider: Bool {
    connection.tokens.visit().waiting > 0
  }

  /// Posted by a client on the thread that called `logout`.
  public static let didLogOut = Notification.Name("ParleyClientDidLogOut")

  /// Returns the user as the server authenticates them.
  public func whoAmI() async throws -> Me {
    try await read(path("me"))
  }

  /// Updates the attributes that the tenant allows apps to set; nil removes one, others are unchanged.
  ///
  /// Returns all of them. Public tokens: `forbidden`.
  @discardableResult
  public func patchMyAttributes(_ attributes: [String: Attribute?]) async throws -> [String: Attribute] {
    let known: Attributes<Attribute> = try await write("PATCH", path("me", "attributes"), Attributes(attributes: attributes))
    return known.attributes
  }

  /// Reads an answer of the user; `notFound` until it is stored. Public tokens receive only `id` and `state`.
  public func readAnswer(_ id: String) async throws -> Answer {
    try await read(path("answers", id))
  }

  /// Reads a resource.
  func read<Value: Decodable>(_ path: String) async throws -> Value {
    try await connection.request(Call(method: "GET", path: path)).read(Value.self)
  }

  /// Sends a write and decodes the response.
  func write<Value: Decodable>(_ method: String, _ path: String, _ body: some Encodable) async throws -> Value {
    let body = try JSON.encoder.encode(body)
    return try await connection.request(Call(method: method, path: path, body: body)).read(Value.self)
  }

  /// Sends a write without a response body.
  func act(_ method: String, _ path: String, _ body: Data? = nil) async throws {
    let reply = try await connection.request(Call(method: method, path: path, body: body))
    guard reply.status == 204 else { throw ParleyError.unreadable(reply) }
  }
}
