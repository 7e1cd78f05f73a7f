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
    /// Whether stored answers are sent when the client is created and, on Apple systems, when the network returns.
    public var flushesAutomatically = true
    /// Called for answers that are given up: rejected, too large, too many, refused on the way for 30 days.
    public var onLost: @Sendable (LostAnswer) -> Void = { _ in }
    /// Called once for each answer that something on the way, such as a firewall, refuses; the code of the error is `refused`. It
    /// waits apart from the others, and is tried every hour.
    public var onRefused: @Sendable (NewAnswer, ParleyError) -> Void = { _, _ in }
    /// Queue of completion handlers.
    public var completionQueue = DispatchQueue.main
    /// Called after each attempt of a call, for logs and metrics, on any thread.
    public var onAttempt: @Sendable (Attempt) -> Void = { _ in }
    /// Also accepts `http://` for other hosts than localhost. The token and the answers are then readable for everyone in
    /// that network; App Transport Security must allow it too.
    public var allowHTTP = false
    /// Network, clock, random numbers and time limit in use.
    public var wire = Wire()
    /// Waits until a file or folder of the outbox is on the disk; replaced in tests of a full disk.
    var flushToDisk: @Sendable (_ path: String) throws -> Void = { try Parley.flushToDisk($0) }

    public init() {}
  }

  let connection: Connection
  let cards: CardReader
  let outbox: Outbox
  let triggers: Triggers
  let drafts: DraftStore
  let completionQueue: DispatchQueue
  /// The client that this one was made of, by `with`.
  private let original: ParleyClient?
  private let reachability: Reachability?

  /// Creates a client for `baseURL`: `https://…`, or `http://localhost` in development.
  ///
  /// Throws `insecureURL`, or `storageFailed` if the outbox folder cannot be created.
  public init(baseURL: String, provider: TokenProvider, options: Options = Options()) throws {
    let wire = options.wire
    let base = try checkBaseURL(baseURL, allowHTTP: options.allowHTTP)
    let connection = Connection(
      baseURL: base, wire: wire, policy: options.retry, tokens: TokenCache(provider: provider, wire: wire),
      onAttempt: options.onAttempt)
    self.connection = connection
    cards = CardReader(connection: connection)
    let folder = try ParleyClient.open(options)
    drafts = DraftStore(file: folder.draftsFile)
    triggers = Triggers(connection: connection, file: try ParleyClient.triggerFile(options))
    let outbox = Outbox(
      connection: connection, folder: folder, policy: options.outboxRetry, onLost: options.onLost,
      onRefused: options.onRefused)
    self.outbox = outbox
    completionQueue = options.completionQueue
    original = nil
    reachability = options.flushesAutomatically ? Reachability { [weak outbox] in outbox?.flushInBackground() } : nil
  }

  private static func open(_ options: Options) throws -> OutboxFolder {
    do {
      return try OutboxFolder(options.outboxFolder ?? OutboxFolder.usual(), flush: options.flushToDisk)
    } catch {
      throw ParleyError.storageFailed(error)
    }
  }

  /// A file next to the folder of the outbox.
  private static func triggerFile(_ options: Options) throws -> URL {
    let folder = try options.outboxFolder ?? OutboxFolder.usual()
    return folder.deletingLastPathComponent().appendingPathComponent("\(folder.lastPathComponent)-triggers.json")
  }

  private init(_ other: ParleyClient, connection: Connection) {
    self.connection = connection
    cards = CardReader(connection: connection)
    outbox = other.outbox
    triggers = other.triggers
    drafts = other.drafts
    completionQueue = other.completionQueue
    original = other.original ?? other
    reachability = nil
  }

  /// Returns a client with another retry policy or time limit in seconds of each attempt, for single calls.
  ///
  /// It shares user, token and outbox with this client; `flush` keeps the policy of the outbox.
  public func with(retry: RetryPolicy? = nil, timeout: TimeInterval? = nil) -> ParleyClient {
    var changed = connection
    changed.policy = retry ?? connection.policy
    if let timeout { changed.wire = connection.wire.limited(to: timeout) }
    return ParleyClient(self, connection: changed)
  }

  /// Call this when the user changes: drops the token, all cached data and unfinished cards, and requests a new token.
  ///
  /// Returns immediately. Answers in the outbox stay there until their user signs in again.
  public func logout() {
    if let original { return original.logout() }
    connection.tokens.logout()
    cards.forget()
    triggers.logout()
    drafts.removeAll()
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
    try await read("whoAmI", path("me"))
  }

  /// Updates the attributes that the tenant allows apps to set; nil removes one, others are unchanged.
  ///
  /// Returns all of them. Public tokens: `forbidden`.
  @discardableResult
  public func patchMyAttributes(_ attributes: [String: Attribute?]) async throws -> [String: Attribute] {
    let known: Attributes<Attribute> = try await write(
      "patchMyAttributes", "PATCH", path("me", "attributes"), Attributes(attributes: attributes))
    return known.attributes
  }

  /// Reads an answer of the user; `notFound` until it is stored. Public tokens receive only `id` and `state`.
  public func readAnswer(_ id: String) async throws -> Answer {
    try await read("readAnswer", path("answers", id))
  }

  /// Reads a resource.
  func read<Value: Decodable>(_ operation: String, _ path: String) async throws -> Value {
    try await connection.request(Call(operation: operation, method: "GET", path: path)).read(Value.self)
  }

  /// Sends a write and decodes the response.
  func write<Value: Decodable>(
    _ operation: String, _ method: String, _ path: String, _ body: some Encodable
  ) async throws -> Value {
    let body = try JSON.encoder.encode(body)
    return
      try await connection
      .request(Call(operation: operation, method: method, path: path, body: body)).read(Value.self)
  }

  /// Sends a write without a response body.
  func act(_ operation: String, _ method: String, _ path: String, _ body: Data? = nil) async throws {
    let reply = try await connection.request(Call(operation: operation, method: method, path: path, body: body))
    guard reply.status == 204 else { throw ParleyError.unreadable(reply) }
  }
}
