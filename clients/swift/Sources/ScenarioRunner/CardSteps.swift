import Foundation
import Parley

extension Player {
  func awaitCards(_ step: Step) async throws {
    try await eventually {
      try await succeedOrFail(step) {
        cards = try await client.listCards()
        try expect(cards.map { $0.steps[0].title }, step.titles)
      }
      try expect(await login.calls, step.providerCalls)
    }
  }

  func record(_ step: Step) async throws {
    let name = try need(step.as)
    var answer = try answers[name] ?? NewAnswer(to: card(step))
    if answers[name] != nil { answer.revision += 1 }
    answer.state = try need(step.state)
    answer.values = step.values
    answer.comment = step.comment
    answers[name] = answer
    try await record(answer)
  }

  func recordMany(_ step: Step) async throws {
    try await eventually { cards = try await client.listCards() }
    for index in 0..<(try need(step.count)) {
      var answer = NewAnswer(to: try card(step))
      answer.state = .completed
      answer.values = ["main": .number(index % 5 + 1)]
      try await record(answer)
      try await Task.sleep(nanoseconds: UInt64(step.pauseMs ?? 0) * 1_000_000)
    }
  }

  func flush(_ step: Step) async throws {
    let before = lost.take()
    try expect(before, [])
    try await client.flush()
    try expect(try await client.countUnsentAnswers(), step.left)
    try expect(lost.take(), try (step.lost ?? []).map { try need(answers[$0]).id })
  }

  func drain() async throws {
    try await eventually { try expect(try await client.flush(), .done) }
  }

  func awaitStored(_ step: Step) async throws {
    let id = try need(answers[try need(step.answer)]).id
    try await eventually {
      let stored = try await client.readAnswer(id)
      try expect(stored.state, step.state)
      try expect(stored.revision, .some(step.revision))
    }
  }

  func awaitNotFound(_ step: Step) async throws {
    let id = try need(answers[try need(step.answer)]).id
    try await eventually {
      do {
        _ = try await client.readAnswer(id)
        throw Wrong("the answer exists")
      } catch let error as ParleyError {
        try expect(error.kind, .notFound)
      }
    }
  }

  private func record(_ answer: NewAnswer) async throws {
    try await client.record(answer)
    try report(Line(recorded: answer.id, identity: await login.user))
  }

  private func card(_ step: Step) throws -> Card {
    guard let card = cards.first(where: { $0.steps[0].title == step.card }) else { throw Wrong("no such card") }
    return card
  }
}
