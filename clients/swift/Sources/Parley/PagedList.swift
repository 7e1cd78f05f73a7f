import Foundation

/// One page of a list.
public struct Page<Item: Decodable & Sendable>: Decodable, Sendable {
  public let data: [Item]
  public let hasMore: Bool
  public let nextCursor: String?
}

/// A list: `for try await` iterates over all items and fetches pages on demand; `page()` returns only the first page.
///
/// After a logout an iteration throws `userChanged`, so that it does not continue with the next user's items.
public struct PagedList<Item: Decodable & Sendable>: AsyncSequence, Sendable {
  public typealias Element = Item

  let tokens: TokenCache
  let fetch: @Sendable (_ cursor: String?) async throws -> Page<Item>

  public func page() async throws -> Page<Item> {
    try await fetch(nil)
  }

  public func makeAsyncIterator() -> Iterator {
    Iterator(visit: tokens.visit(), fetch: fetch)
  }

  public struct Iterator: AsyncIteratorProtocol {
    private let visit: Visit
    private let fetch: @Sendable (_ cursor: String?) async throws -> Page<Item>
    private var ready: ArraySlice<Item> = []
    private var cursor: String?
    private var isAtEnd = false

    init(visit: Visit, fetch: @escaping @Sendable (_ cursor: String?) async throws -> Page<Item>) {
      self.visit = visit
      self.fetch = fetch
    }

    public mutating func next() async throws -> Item? {
      try visit.check()
      while ready.isEmpty && !isAtEnd {
        let page = try await fetch(cursor)
        ready = page.data[...]
        cursor = page.nextCursor
        isAtEnd = !page.hasMore || page.nextCursor == nil
      }
      return ready.popFirst()
    }
  }
}
