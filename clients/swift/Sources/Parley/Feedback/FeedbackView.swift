#if canImport(UIKit)
  import UIKit

  /// Shows the user's cards one at a time; has no height without cards.
  ///
  /// Each change is saved to disk immediately. Answers are sent when a card is answered, dismissed, removed from the
  /// screen, or when the app goes to the background.
  public final class FeedbackView: UIView {
    /// Called on failures that are not shown to the user, such as a missing network.
    public var onError: (any Error) -> Void {
      get { deck.onError }
      set { deck.onError = newValue }
    }
    /// Called when another card or none is shown, for layouts that depend on the view's height.
    public var onResize: () -> Void = {}

    private let deck: FeedbackDeck
    private let texts: FeedbackTexts
    private let stack = UIStackView()
    private var cardView: CardView?

    /// Creates a view for the users of `client`.
    ///
    /// `query` is the display context, by default this device; its `locale` selects the texts unless given.
    public init(client: ParleyClient, query: CardQuery? = nil, texts: FeedbackTexts? = nil) {
      let query = query ?? .ofThisDevice()
      self.texts = texts ?? .for(query.locale ?? "en")
      deck = FeedbackDeck(client: client, query: query, metadata: .ofThisDevice(query))
      super.init(frame: .zero)
      addFilling(stack)
      stack.axis = .vertical
      deck.onShow = { [weak self] in self?.show(moving: $0) }
      watch()
    }

    @available(*, unavailable, message: "Use init(client:)")
    public required init?(coder _: NSCoder) {
      nil
    }

    public override func didMoveToWindow() {
      super.didMoveToWindow()
      if window == nil { leave { deck.putAway(entry) } } else { deck.load() }
    }

    /// Refetches the cards. The displayed card stays if it is still among them.
    public func reload() {
      deck.load()
    }

    private var entry: CardEntry {
      cardView?.entry ?? CardEntry()
    }

    private func show(moving: Bool) {
      cardView?.removeFromSuperview()
      cardView = deck.shown.map(makeCardView)
      if let cardView {
        stack.addArrangedSubview(cardView)
        deck.save(CardEntry())  // seen
      }
      onResize()
      if moving { UIAccessibility.post(notification: .screenChanged, argument: cardView?.heading ?? texts.thanks) }
    }

    private func makeCardView(_ draft: Draft) -> CardView {
      let view = CardView(draft.card, texts: texts)
      view.onChange = { [weak self, weak view] in
        if let view { self?.deck.save(view.entry) }
      }
      view.onEnd = { [weak self, weak view] state in
        if let view { self?.leave { self?.deck.end(state, view.entry) } }
      }
      return view
    }

    /// Requests background time to record and send when the app is about to be suspended.
    private func leave(_ work: () -> Task<Void, Never>?) {
      let night = NightShift()
      let sending = work()
      Task {
        await sending?.value
        night.end()
      }
    }

    private func watch() {
      observe(UIApplication.didEnterBackgroundNotification, #selector(appLeaves), of: nil)
      observe(UIApplication.willEnterForegroundNotification, #selector(appReturns), of: nil)
      observe(ParleyClient.didLogOut, #selector(userLeaves), of: deck.client)
    }

    private func observe(_ name: Notification.Name, _ action: Selector, of object: AnyObject?) {
      NotificationCenter.default.addObserver(self, selector: action, name: name, object: object)
    }

    @objc private func appLeaves() {
      if window != nil { leave { deck.sync(entry) } }
    }

    @objc private func appReturns() {
      if window != nil && deck.shown == nil { deck.load() }
    }

    /// Called on the thread of the logout.
    @objc private nonisolated func userLeaves() {
      Task { @MainActor in
        leave { deck.putAway(entry) }
        if window != nil { deck.load() }
      }
    }
  }
#endif
