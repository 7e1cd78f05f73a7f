#if canImport(UIKit)
  import UIKit

  extension UIView {
    /// The visible share of the view: inside its window and all views that clip it, such as scroll views.
    var visibleShare: Double {
      guard let window, !isHidden, alpha > 0.01 else { return 0 }
      var clips = [window.bounds]
      var ancestor = superview
      while let view = ancestor, view !== window {
        if view.isHidden || view.alpha <= 0.01 { return 0 }
        if view.clipsToBounds { clips.append(view.convert(view.bounds, to: window)) }
        ancestor = view.superview
      }
      return Parley.visibleShare(of: convert(bounds, to: window), within: clips)
    }
  }
#endif
