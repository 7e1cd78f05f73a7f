import Foundation

/// Resumes a continuation once; later results are dropped.
private final class Finish<Value: Sendable>: Sendable {
  private let continuation: Guarded<CheckedContinuation<Value, any Error>?>

  init(_ continuation: CheckedContinuation<Value, any Error>) {
    self.continuation = Guarded(continuation)
  }

  func callAsFunction(_ result: Result<Value, any Error>) {
    let waiting = continuation.use { continuation in
      defer { continuation = nil }
      return continuation
    }
    waiting?.resume(with: result)
  }
}

/// Waits for work at most that many seconds, and then throws `late`. The work itself continues.
func within<Value: Sendable>(
  _ seconds: TimeInterval, orThrow late: @autoclosure @escaping @Sendable () -> any Error,
  _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    let finish = Finish(continuation)
    let timer = Task {
      try await Task.sleep(nanoseconds: UInt64(max(0, seconds) * 1_000_000_000))
      finish(.failure(late()))
    }
    Task {
      do { finish(.success(try await work())) } catch { finish(.failure(error)) }
      timer.cancel()
    }
  }
}

/// Waits for a shared task; a cancelled caller stops waiting and leaves the task running.
func sharedValue<Value: Sendable>(of task: Task<Value, any Error>) async throws -> Value {
  let waiting = Guarded<Finish<Value>?>(nil)
  return try await withTaskCancellationHandler {
    try await withCheckedThrowingContinuation { continuation in
      let finish = Finish(continuation)
      waiting.use { $0 = finish }
      if Task.isCancelled { return finish(.failure(CancellationError())) }
      Task {
        do { finish(.success(try await task.value)) } catch { finish(.failure(error)) }
      }
    }
  } onCancel: {
    waiting.use { $0 }?(.failure(CancellationError()))
  }
}
