#if canImport(SwiftUI) && canImport(UIKit)
  import SwiftUI

  /// The feedback view for SwiftUI. Its height follows its content.
  public struct Feedback: View {
    private let client: ParleyClient
    private let query: CardQuery?
    private let onError: (any Error) -> Void
    @State private var height: CGFloat = 0

    public init(client: ParleyClient, query: CardQuery? = nil, onError: @escaping (any Error) -> Void = { _ in }) {
      self.client = client
      self.query = query
      self.onError = onError
    }

    public var body: some View {
      GeometryReader { place in
        Container(client: client, query: query, onError: onError, width: place.size.width, height: $height)
      }
      .frame(height: height)
    }

    private struct Container: UIViewRepresentable {
      let client: ParleyClient
      let query: CardQuery?
      let onError: (any Error) -> Void
      let width: CGFloat
      @Binding var height: CGFloat

      func makeUIView(context _: Context) -> FeedbackView {
        FeedbackView(client: client, query: query)
      }

      func updateUIView(_ view: FeedbackView, context _: Context) {
        view.onError = onError
        view.onResize = { [weak view] in
          guard let view else { return }
          Task { measure(view) }  // deferred: state must not change during a view update
        }
        view.onResize()
      }

      private func measure(_ view: FeedbackView) {
        let narrow = CGSize(width: width, height: UIView.layoutFittingCompressedSize.height)
        let needed = view.systemLayoutSizeFitting(
          narrow, withHorizontalFittingPriority: .required, verticalFittingPriority: .fittingSizeLevel)
        if abs(height - needed.height) > 0.5 { height = needed.height }
      }
    }
  }
#endif
