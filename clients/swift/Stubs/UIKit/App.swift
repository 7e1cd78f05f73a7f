import Foundation
import ObjectiveC

public struct UIBackgroundTaskIdentifier: Hashable, Sendable {
  public static let invalid = UIBackgroundTaskIdentifier()
}

@MainActor
open class UIApplication: UIResponder {
  public enum State: Sendable { case active, inactive, background }
  public static let shared = UIApplication()
  public nonisolated static let didEnterBackgroundNotification = Notification.Name("background")
  public nonisolated static let willEnterForegroundNotification = Notification.Name("foreground")
  open var applicationState: State { .active }
  open func open(_: URL) {}
  open func beginBackgroundTask(
    withName _: String?, expirationHandler _: (@MainActor @Sendable () -> Void)? = nil
  ) -> UIBackgroundTaskIdentifier { .invalid }
  open func endBackgroundTask(_: UIBackgroundTaskIdentifier) {}
}

@MainActor
open class UIDevice {
  public static let current = UIDevice()
  open var systemVersion: String { "" }
  open var model: String { "" }
}

@MainActor
open class UIScreen {
  public static let main = UIScreen()
  open var bounds: CGRect { .zero }
}

public struct UIAccessibilityTraits: OptionSet, Sendable {
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }
  public static let none = UIAccessibilityTraits([])
  public static let button = UIAccessibilityTraits(rawValue: 1)
  public static let link = UIAccessibilityTraits(rawValue: 2)
  public static let selected = UIAccessibilityTraits(rawValue: 8)
  public static let header = UIAccessibilityTraits(rawValue: 1 << 16)
}

public enum UIAccessibilityContainerType: Sendable { case none, dataTable, list, landmark, semanticGroup }

public enum UIAccessibility {
  public struct Notification: Hashable, Sendable {
    public static let screenChanged = Notification()
    public static let layoutChanged = Notification()
  }
  public struct AssistiveTechnologyIdentifier: Hashable, Sendable {
    public static let notificationVoiceOver = AssistiveTechnologyIdentifier()
  }
  @MainActor public static var isReduceMotionEnabled: Bool { false }
  @MainActor public static func post(notification _: Notification, argument _: Any?) {}
  @MainActor public static func focusedElement(using _: AssistiveTechnologyIdentifier?) -> Any? { nil }
}

extension NotificationCenter {
  public func addObserver(_: Any, selector _: Selector, name _: Notification.Name?, object _: Any?) {}
}
