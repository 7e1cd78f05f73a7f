#if canImport(UIKit)
  import UIKit

  @MainActor
  extension CardQuery {
    /// Information about app and device.
    public static func ofThisDevice() -> CardQuery {
      CardQuery(
        locale: Locale.preferredLanguages.first, platform: "ios",
        appVersion: Bundle.main.object(forInfoDictionaryKey: "CFBundleShortVersionString") as? String)
    }
  }

  @MainActor
  extension Dictionary where Key == String, Value == String {
    /// Metadata of answers. Contains no identifier of the device or the user.
    static func ofThisDevice(_ query: CardQuery) -> [String: String] {
      let size = UIScreen.main.bounds.size
      let known = [
        "platform": query.platform, "locale": query.locale, "app_version": query.appVersion,
        "os_version": UIDevice.current.systemVersion, "device_model": UIDevice.current.model,
        "screen": "\(Int(size.width))x\(Int(size.height))", "sdk": "swift/\(clientVersion)",
      ]
      return known.compactMapValues { $0 }
    }
  }
#endif
