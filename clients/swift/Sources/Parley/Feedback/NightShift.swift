#if canImport(UIKit)
  import UIKit

  /// A few seconds of background time to finish work when the app is left.
  @MainActor
  final class NightShift {
    private var id = UIBackgroundTaskIdentifier.invalid

    init() {
      id = UIApplication.shared.beginBackgroundTask(withName: "Parley") { [weak self] in
        MainActor.assumeIsolated { self?.end() }
      }
    }

    func end() {
      if id == .invalid { return }
      UIApplication.shared.endBackgroundTask(id)
      id = .invalid
    }
  }
#endif
