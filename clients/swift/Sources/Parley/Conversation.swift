import Foundation

/// A conversation of the user with the team.
public struct Conversation: Decodable, Equatable, Sendable, Identifiable {
  public struct Status: OpenText {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Waiting for the team.
    public static let open: Self = "open"
    /// Waiting for the user.
    public static let pending: Self = "pending"
    public static let resolved: Self = "resolved"
  }

  public struct LastMessage: Decodable, Equatable, Sendable {
    public let seq: Int
    /// First 140 characters.
    public let preview: String
    public let authorType: AuthorType
    public let at: Date
  }

  public let id: String
  public let subject: String
  public let status: Status
  public let lastMessage: LastMessage
  public let messageCount: Int
  public let unreadCount: Int
  public let waitingSince: Date?
  public let resolvedAt: Date?
  /// The conversation that this one continues.
  public let previousId: String?
  public let createdAt: Date
  public let updatedAt: Date
  public let lastActivityAt: Date
}

public struct AuthorType: OpenText {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public static let user: Self = "user"
  public static let member: Self = "member"
  public static let api: Self = "api"
  public static let system: Self = "system"
}

public struct Message: Decodable, Equatable, Sendable, Identifiable {
  public struct Author: Decodable, Equatable, Sendable {
    public let type: AuthorType
    public let id: String?
    public let name: String?
  }

  /// The order of a list of messages.
  public enum Order: String, Sendable {
    case oldestFirst = "asc"
    case newestFirst = "desc"
  }

  public let id: String
  public let conversationId: String
  /// Sequence number, from 1.
  public let seq: Int
  public let author: Author
  public let body: String
  public let format: MessageFormat
  public let clientMessageId: String?
  public let createdAt: Date
  public let editedAt: Date?
  /// Whether the author removed the text.
  public let redacted: Bool
}

public struct MessageFormat: OpenText {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public static let text: Self = "text"
  public static let markdown: Self = "markdown"
}

/// Filter of the conversation list.
public struct ConversationQuery: Sendable {
  public var status: Conversation.Status?
  public var unread: Bool?
  public var updatedSince: Date?
  /// Page size, 1…100; defaults to 10.
  public var limit: Int?
  public var cursor: String?

  public init(
    status: Conversation.Status? = nil, unread: Bool? = nil, updatedSince: Date? = nil, limit: Int? = nil,
    cursor: String? = nil
  ) {
    self.status = status
    self.unread = unread
    self.updatedSince = updatedSince
    self.limit = limit
    self.cursor = cursor
  }

  func path(cursor next: String?) throws -> String {
    let filters: Query = [("status", status?.rawValue), ("unread", unread.map { String($0) })]
    let part: Query = [("updated_since", updatedSince.map(JSON.text)), ("limit", limit.map(String.init))]
    return try Parley.path("conversations", query: filters + part + [("cursor", next ?? cursor)])
  }
}
