import Foundation

#if canImport(CoreGraphics)
  import CoreGraphics
#endif

/// Returns the visible share of a view, 0…1, from its frame and the frames that clip it, all in one coordinate system.
///
/// A view larger than the smallest of them counts as completely visible when it fills that one.
func visibleShare(of frame: CGRect, within clips: [CGRect]) -> Double {
  let seen = clips.reduce(frame) { $0.intersection($1) }
  if seen.isNull || seen.isEmpty || frame.isEmpty { return 0 }
  let most = clips.reduce(frame.size) { size, clip in
    CGSize(width: min(size.width, clip.width), height: min(size.height, clip.height))
  }
  return Double(seen.width * seen.height / (most.width * most.height))
}

/// Decides when a displayed card counts as seen: at least half of it has been visible for a second without a break.
struct SeenRule {
  static let share = 0.5
  static let duration: TimeInterval = 1

  private var visibleSince: Date?

  /// Processes a sample; returns since when the card has been visible if it is seen, otherwise nil.
  mutating func sample(share: Double, at now: Date) -> Date? {
    guard share >= Self.share else {
      visibleSince = nil
      return nil
    }
    let since = visibleSince ?? now
    visibleSince = since
    return now.timeIntervalSince(since) >= Self.duration ? since : nil
  }
}
