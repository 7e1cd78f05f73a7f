import Foundation

#if canImport(Network)
  import Network
#endif

/// Calls a function once at its creation and, on Apple systems, whenever the network returns.
final class Reachability: Sendable {
  #if canImport(Network)
    private let monitor = NWPathMonitor()
  #endif

  init(_ onReachable: @escaping @Sendable () -> Void) {
    #if canImport(Network)
      // The monitor reports the present state first, so this is also the call at the creation.
      monitor.pathUpdateHandler = { path in
        if path.status == .satisfied { onReachable() }
      }
      monitor.start(queue: DispatchQueue(label: "parley.network"))
    #else
      onReachable()
    #endif
  }

  deinit {
    #if canImport(Network)
      monitor.cancel()
    #endif
  }
}
