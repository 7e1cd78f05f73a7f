extension CardStep {
  /// Options in the order in which they are shown. A shuffled order is that of the card, the same each time
  /// (`clients/contract/steps.json`).
  func shownOptions(inCard id: String) -> [QuestionConfig.Option] {
    let options = config.options ?? []
    guard config.shuffle == true else { return options }
    let places = options.enumerated().map { (hash($0.element.id + id + key), $0.offset) }
    return places.sorted { $0 < $1 }.map { options[$0.1] }
  }
}

/// A number for a text, evenly spread (FNV-1a over UTF-16 units).
private func hash(_ text: String) -> UInt32 {
  text.utf16.reduce(0x811c_9dc5) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
}
