import Foundation
import XCTest

@testable import Parley

/// What a kill or a power cut during `record` must not destroy.
final class DiskTests: XCTestCase {
  private let owner = Owner(tenant: "tenant_1", identity: "user|1", verified: true)

  private func entry(revision: Int) throws -> OutboxEntry {
    OutboxEntry(owner: owner, answer: try answer(1, revision: revision))
  }

  private func names(_ folder: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0 != "lock" }.sorted()
  }

  func testAnAnswerIsFlushedBeforeItGetsItsNameAndThenItsFolder() throws {
    let url = temporaryFolder()
    let flushed = Guarded<[(path: String, names: [String])]>([])
    let folder = try OutboxFolder(url) { path in
      let names = try FileManager.default.contentsOfDirectory(atPath: url.path).filter { $0 != "lock" }
      flushed.use { $0.append((path, names)) }
    }
    try folder.put(entry(revision: 1), at: Date(timeIntervalSince1970: 0))
    let name = try XCTUnwrap(names(url).first)
    let steps = flushed.use { $0 }
    XCTAssertEqual(steps.map { URL(fileURLWithPath: $0.path).lastPathComponent }, [name + unfinished, url.lastPathComponent])
    XCTAssertEqual(steps.map(\.names), [[name + unfinished], [name]])
  }

  func testARevisionReplacesTheFileInsteadOfOverwritingIt() throws {
    let (url, copy) = (temporaryFolder(), temporaryFolder())
    let folder = try OutboxFolder(url)
    try folder.put(entry(revision: 1), at: Date())
    let file = url.appendingPathComponent(try XCTUnwrap(names(url).first))
    try FileManager.default.linkItem(at: file, to: copy)
    try folder.put(entry(revision: 2), at: Date())
    XCTAssertEqual(try JSON.decoder.decode(OutboxEntry.self, from: Data(contentsOf: copy)).answer.revision, 1)
    XCTAssertEqual(try JSON.decoder.decode(OutboxEntry.self, from: Data(contentsOf: file)).answer.revision, 2)
  }

  func testAFailedWriteLeavesThePreviousRevision() throws {
    let (url, isFull) = (temporaryFolder(), Guarded(false))
    let folder = try OutboxFolder(url) { _ in
      if isFull.use({ $0 }) { throw POSIXError(.ENOSPC) }
    }
    try folder.put(entry(revision: 1), at: Date())
    isFull.use { $0 = true }
    XCTAssertThrowsError(try folder.put(entry(revision: 2), at: Date()))
    XCTAssertEqual(try folder.readAll().entries.map(\.answer.revision), [1])
    XCTAssertEqual(try names(url).filter { $0.hasSuffix(unfinished) }, [])
  }

  func testAFlushReachesTheSystem() throws {
    XCTAssertThrowsError(try flushToDisk("/dev/null"), "a device without a disk cannot be flushed")
    XCTAssertNoThrow(try flushToDisk(FileManager.default.temporaryDirectory.path))
  }

  func testAnEntryOfAnOlderVersionIsSentWithEitherToken() async throws {
    for verified in [true, false] {
      let (stage, login, url) = (Stage(), LoggedIn(), temporaryFolder())
      _ = login.become("user|1", verified: verified)
      let older = OutboxEntry(owner: Owner(tenant: "tenant_1", identity: "user|1"), answer: try answer(1, revision: 1))
      try OutboxFolder(url).put(older, at: Date())
      let text = try String(contentsOf: url.appendingPathComponent(XCTUnwrap(names(url).first)), encoding: .utf8)
      XCTAssertFalse(text.contains("verified"))
      let client = try makeClient(stage, provider: login.provider, folder: url)
      await stage.serve([receiptsCue(.object([:]))])
      let outcome = try await client.flush()
      XCTAssertEqual(outcome, .done)
      let left = try await client.countUnsentAnswers()
      XCTAssertEqual(left, 0)
    }
  }
}
