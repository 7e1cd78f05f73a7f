import Foundation

/// A call with a completion handler that is in progress.
public struct CallHandle: Sendable {
  let task: Task<Void, Never>

  /// Ends the call: its handler gets a `CancellationError`, unless the call has just finished.
  ///
  /// A request that was already sent may still take effect.
  public func cancel() {
    task.cancel()
  }
}
