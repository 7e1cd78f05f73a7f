import Foundation

/// One page of a list.
public struct Page<Item: Decodable & Sendable>: Decodable, Sendable {
  public let data: [Item]
  public let hasMore: Bool
  public let nextCursor: String?
}

/// A list: `for try await` iterates over all items and fetches pages on demand; `page()` returns only the first page.
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
