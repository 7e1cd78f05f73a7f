#if canImport(UIKit)
  import UIKit

  /// Shows the user's cards, one after the other, and takes no room while there are none.
  ///
  /// Each change is on disk as it happens. Answers are sent when a card stops being displayed: answered, dismissed,
  /// taken off the screen, or left with the app.
  public final class FeedbackView: UIView {
    /// Hears of a failure that the user need not see, such as a network that is away.
    public var onError: (any Error) -> Void {
      get { deck.onError }
      set { deck.onError = newValue }
    }
    /// Hears that another card is shown, or none, for layouts that ask a view for its height.
    public var onResize: () -> Void = {}

    private let deck: FeedbackDeck
    private let texts: FeedbackTexts
    private let stack = UIStackView()
    private var cardView: CardView?

    /// A view for the users of `client`.
    ///
    /// `query` says where cards are shown, by default on this device; its `locale` chooses the texts where none are given.
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

    @available(*, unavailable, message: "Make it with init(client:)")
    public required init?(coder _: NSCoder) {
      nil
    }

    public override func didMoveToWindow() {
      super.didMoveToWindow()
      if window == nil { leave { deck.putAway(entry) } } else { deck.load() }
    }

    /// Reads the cards again. What is shown stays, where it is still among them.
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

    /// Asks the system for time to write down and send, should the app be on its way out.
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

    /// Comes on the thread of whoever logged out.
    @objc private nonisolated func userLeaves() {
      Task { @MainActor in
        leave { deck.putAway(entry) }
        if window != nil { deck.load() }
      }
    }
  }
#endif
