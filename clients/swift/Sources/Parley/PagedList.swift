import Foundation

/// A part of a list as the server sends it.
public struct Page<Item: Decodable & Sendable>: Decodable, Sendable {
  public let data: [Item]
  public let hasMore: Bool
  public let nextCursor: String?
}

/// A list: `for try await` goes through all of it, page by page as needed; `page()` gives the first page alone.
public struct PagedList<Item: Decodable & Sendable>: AsyncSequence, Sendable {
  public typealias Element = Item

  let fetch: @Sendable (_ cursor: String?) async throws -> Page<Item>

  public func page() async throws -> Page<Item> {
    try await fetch(nil)
  }

  public func makeAsyncIterator() -> Iterator {
    Iterator(fetch: fetch)
  }

  public struct Iterator: AsyncIteratorProtocol {
    let fetch: @Sendable (_ cursor: String?) async throws -> Page<Item>
    private var ready: ArraySlice<Item> = []
    private var cursor: String?
    private var isAtEnd = false

    init(fetch: @escaping @Sendable (_ cursor: String?) async throws -> Page<Item>) {
      self.fetch = fetch
    }

    public mutating func next() async throws -> Item? {
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
