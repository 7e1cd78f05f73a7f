import Foundation

/// Runs work once after a pause in a series of requests, such as keystrokes.
@MainActor
final class Debounce {
  private let milliseconds: UInt64
  private var waiting: Task<Void, Never>?

  init(milliseconds: UInt64) {
    self.milliseconds = milliseconds
  }

  /// Replaces the waiting work.
  func schedule(_ work: @escaping @MainActor () -> Void) {
    waiting?.cancel()
    waiting = Task { [milliseconds] in
      try? await Task.sleep(nanoseconds: milliseconds * 1_000_000)  // throws only if it was replaced or cancelled
      if !Task.isCancelled { work() }
    }
  }

  /// Drops the waiting work.
  func cancel() {
    waiting?.cancel()
  }
}
