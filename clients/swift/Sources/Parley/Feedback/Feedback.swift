#if canImport(SwiftUI) && canImport(UIKit)
  import SwiftUI
  import UIKit

  /// The feedback view for SwiftUI. Its height follows its content.
  public struct Feedback: View {
    private let client: ParleyClient
    private let query: CardQuery?
    private let texts: FeedbackTexts?
    private let context: FeedbackContext
    private let style: FeedbackStyle
    private let selection: FeedbackSelection
    private let onAnswer: (GivenAnswer) -> Void
    private let onError: (any Error) -> Void
    @State private var height: CGFloat = 0

    /// Creates a view for the users of `client`.
    ///
    /// `texts` are by default those of the query's `locale`. `context` is stored with each answer. `style` comes before the
    /// appearance that the tenant has set. `selection` limits the cards. `onAnswer` is called when the user has ended a card.
    public init(
      client: ParleyClient, query: CardQuery? = nil, texts: FeedbackTexts? = nil,
      context: FeedbackContext = FeedbackContext(), style: FeedbackStyle = FeedbackStyle(),
      selection: FeedbackSelection = .all,
      onAnswer: @escaping (GivenAnswer) -> Void = { _ in }, onError: @escaping (any Error) -> Void = { _ in }
    ) {
      self.client = client
      self.query = query
      self.texts = texts
      self.context = context
      self.style = style
      self.selection = selection
      self.onAnswer = onAnswer
      self.onError = onError
    }

    public var body: some View {
      GeometryReader { place in
        Container(feedback: self, width: place.size.width, height: $height)
      }
      .frame(height: height)
    }

    private struct Container: UIViewRepresentable {
      let feedback: Feedback
      let width: CGFloat
      @Binding var height: CGFloat

      func makeUIView(context _: Context) -> FeedbackView {
        FeedbackView(
          client: feedback.client, query: feedback.query, texts: feedback.texts, context: feedback.context,
          style: feedback.style, selection: feedback.selection)
      }

      func updateUIView(_ view: FeedbackView, context _: Context) {
        view.onAnswer = feedback.onAnswer
        view.onError = feedback.onError
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
