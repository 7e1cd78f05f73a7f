import Foundation
import XCTest

@testable import Parley

final class OutboxTests: XCTestCase {
  func testLimits() throws {
    let limits = try contract("outbox.json")["limits"]!
    XCTAssertEqual(OutboxShelf.maxAnswers, limits["answers"]!.int)
    XCTAssertEqual(OutboxFlush.maxAnswers, limits["batch_answers"]!.int)
    XCTAssertEqual(OutboxFlush.maxBytes, limits["batch_bytes"]!.int)
  }

  func testOutbox() async throws {
    for each in try contract("outbox.json")["cases"]!.list {
      let play = try OutboxPlay(each)
      for step in each["steps"]!.list { try await play.play(step) }
    }
  }

  func testATimerTriesAgain() async throws {
    let (stage, folder) = (Stage(), temporaryFolder())
    let client = try makeClient(stage, provider: steady, folder: folder)
    try await client.record(try answer(1, revision: 1))
    await stage.serve([.noReply, receiptsCue(.object([:]))])
    let first = try await client.flush()
    XCTAssertEqual(first, .later)
    try await waitUntil("it was sent by itself") { try await client.countUnsentAnswers() == 0 }
  }

  func testAnAnswerToACardOfAUserBeforeGoesOutAsThatUserAlone() async throws {
    let (stage, login) = (Stage(), LoggedIn())
    let client = try makeClient(stage, provider: login.provider)
    await stage.serve([Cue(status: 200, body: #"{"data": [\#(cardJSON(1))], "poll_after_s": 60}"#)])
    let card = try await client.listCards()[0]
    _ = login.become("user|2")
    try await logOut(client)
    try await client.record(NewAnswer(to: card))
    await stage.serve([])
    let outcome = try await client.flush()
    XCTAssertEqual(outcome, .done)
    let left = try await client.countUnsentAnswers()
    XCTAssertEqual(left, 1)
  }

  func testAFileThatIsNoAnswerIsGivenUpAndTold() async throws {
    let (stage, folder, lost) = (Stage(), temporaryFolder(), Guarded<[LostAnswer]>([]))
    let client = try makeClient(stage, provider: steady, folder: folder) {
      $0.onLost = { each in lost.use { $0.append(each) } }
    }
    try Data("{".utf8).write(to: folder.appendingPathComponent("1-0-a.json"))
    try Data("{".utf8).write(to: folder.appendingPathComponent("notes.txt"))
    let outcome = try await client.flush()
    XCTAssertEqual(outcome, .done)
    XCTAssertEqual(lost.use { $0 }, [LostAnswer(id: "a", code: "outbox-unreadable")])
    XCTAssertTrue(FileManager.default.fileExists(atPath: folder.appendingPathComponent("notes.txt").path))
  }

  func testStoredAnswersAreSentAtTheNextStart() async throws {
    let (stage, folder) = (Stage(), temporaryFolder())
    try await makeClient(stage, provider: steady, folder: folder).record(try answer(1, revision: 1))
    await stage.serve([receiptsCue(.object([:]))])
    let client = try makeClient(stage, provider: steady, folder: folder) { $0.flushesAutomatically = true }
    try await waitUntil("it was sent") { try await client.countUnsentAnswers() == 0 }
  }

  func testADiskThatCannotBeWrittenIsAnError() async throws {
    let (stage, folder) = (Stage(), temporaryFolder())
    let client = try makeClient(stage, provider: steady, folder: folder)
    try FileManager.default.removeItem(at: folder)
    let came = await outcome { try await client.record(try answer(1, revision: 1)) }
    XCTAssertEqual(came.name, "storage-failed")
    XCTAssertNotNil(came.error?.cause)
  }
}
