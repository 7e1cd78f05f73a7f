#if canImport(UIKit)
  import UIKit

  /// Shows the user's cards one at a time, each step by step; has no height without cards.
  ///
  /// A card counts as seen when at least half of it has been visible for a second. Each change is saved to disk
  /// immediately, text also while it is written. Answers are sent when a card is answered, dismissed, removed from the
  /// screen, or when the app goes to the background. A card that the user has begun to answer is shown again where it was left, for
  /// 15 minutes. After the last card the view shows thanks for a few seconds.
  public final class FeedbackView: UIView {
    /// Called when the user has ended a card, for example to ask for a review after a 9 or 10.
    public var onAnswer: (GivenAnswer) -> Void {
      get { deck.onAnswer }
      set { deck.onAnswer = newValue }
    }
    /// Called on failures that are not shown to the user, such as a missing network.
    public var onError: (any Error) -> Void {
      get { deck.onError }
      set { deck.onError = newValue }
    }
    /// Called when the view changes to another card or step, to the thanks, or to empty, for layouts that depend on the view's height.
    public var onResize: () -> Void = {}

    private let deck: FeedbackDeck
    private let texts: FeedbackTexts
    private let style: FeedbackStyle
    private let stack = UIStackView()
    private var cardView: CardView?
    private var thanksView: ThanksView?
    /// Measures how much of the card is visible, until it counts as seen.
    private var measuring: Timer?

    /// Creates a view for the users of `client`.
    ///
    /// `query` is the display context, by default this device; its `locale` selects the texts unless given. `context` is
    /// stored with each answer. `style` comes before the appearance that the tenant has set. `selection` limits the cards.
    public init(
      client: ParleyClient, query: CardQuery? = nil, texts: FeedbackTexts? = nil, context: FeedbackContext = FeedbackContext(),
      style: FeedbackStyle = FeedbackStyle(), selection: FeedbackSelection = .all
    ) {
      self.style = style
      let query = query ?? .ofThisDevice()
      self.texts = texts ?? .for(query.locale ?? "en")
      let metadata = [String: String].ofThisDevice(query).merging(context.fields) { device, _ in device }
      deck = FeedbackDeck(client: client, query: query, metadata: metadata, selection: selection)
      super.init(frame: .zero)
      addFilling(stack)
      stack.axis = .vertical
      deck.onShow = { [weak self] in self?.show(moving: $0) }
      deck.input = { [weak self] in self?.cardView?.state }
      deck.areThanksInUse = { [weak self] in self?.thanksView?.isRead ?? false }
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
      thanksView?.removeFromSuperview()
      let paint = Paint(deck.client.appearance, style)
      cardView = deck.shown.map { makeCardView($0, paint) }
      thanksView = deck.thanked.map { card in
        ThanksView(card.thanks, texts: texts, paint: paint) { [weak self] in self?.deck.closeThanks() }
      }
      setScheme()
      if let shown = cardView ?? thanksView { stack.addArrangedSubview(shown) }
      startMeasuring()
      onResize()
      if moving { UIAccessibility.post(notification: .screenChanged, argument: cardView?.heading ?? thanksView?.title) }
    }

    /// Sets light or dark, unless the theme follows the system.
    private func setScheme() {
      switch CardScheme.fixed(style.theme ?? deck.client.appearance?.theme, behind: colorBehind) {
      case .light?: overrideUserInterfaceStyle = .light
      case .dark?: overrideUserInterfaceStyle = .dark
      case nil: overrideUserInterfaceStyle = .unspecified
      }
    }

    private func startMeasuring() {
      measuring?.invalidate()
      measuring = nil
      guard deck.isWaitingToBeSeen else { return }
      let timer = Timer(timeInterval: 0.2, repeats: true) { [weak self] _ in
        MainActor.assumeIsolated { self?.measure() }
      }
      RunLoop.main.add(timer, forMode: .common)  // also while the user scrolls
      measuring = timer
    }

    private func measure() {
      let isActive = UIApplication.shared.applicationState == .active
      deck.measure(visibleShare: isActive ? cardView?.visibleShare ?? 0 : 0)
      if !deck.isWaitingToBeSeen { measuring?.invalidate() }
    }

    private func makeCardView(_ draft: Draft, _ paint: Paint) -> CardView {
      let view = CardView(draft.card, from: draft.walk, texts: texts, paint: paint)
      view.onChange = { [weak self, weak view] in
        // A pause in writing may end after its card.
        if let self, let view, view === self.cardView { self.deck.save(view.entry) }
      }
      view.onStep = { [weak self, weak view] in
        guard let self, let view, view === self.cardView else { return }
        self.deck.save(view.entry)
        self.onResize()
        UIAccessibility.post(notification: .screenChanged, argument: view.heading)
      }
      view.onResize = { [weak self, weak view] in
        guard let self, let view, view === self.cardView else { return }
        self.onResize()
        Task { view.showActions() }  // after the layout of the app
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
      if window != nil { deck.loadIfDue() }
    }

    /// Called on the thread of the logout.
    @objc private nonisolated func userLeaves() {
      Task { @MainActor in
        leave { deck.putAway(entry, changed: true) }
        if window != nil { deck.load() }
      }
    }
  }
#endif
