#if canImport(SwiftUI) && canImport(UIKit)
  import SwiftUI

  /// The feedback view for SwiftUI. Its height follows its content.
  public struct Feedback: View {
    private let client: ParleyClient
    private let query: CardQuery?
    private let texts: FeedbackTexts?
    private let context: FeedbackContext
    private let onAnswer: (GivenAnswer) -> Void
    private let onError: (any Error) -> Void
    @State private var height: CGFloat = 0

    /// Creates a view for the users of `client`.
    ///
    /// `texts` are by default those of the query's `locale`. `context` is stored with each answer. `onAnswer` is called when a
    /// card is completed or dismissed.
    public init(
      client: ParleyClient, query: CardQuery? = nil, texts: FeedbackTexts? = nil,
      context: FeedbackContext = FeedbackContext(),
      onAnswer: @escaping (GivenAnswer) -> Void = { _ in }, onError: @escaping (any Error) -> Void = { _ in }
    ) {
      self.client = client
      self.query = query
      self.texts = texts
      self.context = context
      self.onAnswer = onAnswer
      self.onError = onError
    }

    public var body: some View {
      GeometryReader { place in
        Container(
          client: client, query: query, texts: texts, context: context, onAnswer: onAnswer, onError: onError,
          width: place.size.width, height: $height)
      }
      .frame(height: height)
    }

    private struct Container: UIViewRepresentable {
      let client: ParleyClient
      let query: CardQuery?
      let texts: FeedbackTexts?
      let context: FeedbackContext
      let onAnswer: (GivenAnswer) -> Void
      let onError: (any Error) -> Void
      let width: CGFloat
      @Binding var height: CGFloat

      func makeUIView(context _: Context) -> FeedbackView {
        FeedbackView(client: client, query: query, texts: texts, context: context)
      }

      func updateUIView(_ view: FeedbackView, context _: Context) {
        view.onAnswer = onAnswer
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
