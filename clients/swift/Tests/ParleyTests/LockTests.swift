#if os(Linux)
  import Foundation
  import Glibc
  import XCTest

  @testable import Parley

  /// An app and its extension share the outbox's folder: two processes, which the tests start from their own executable.
  final class LockTests: XCTestCase {
    private static let count = 40

    private struct Child {
      let process: Process
      let folder: URL

      /// Starts a process that does a task with the folder `outbox`.
      init(_ task: String, in folder: URL) throws {
        self.folder = folder
        process = Process()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        process.arguments = ["ParleyTests.LockTests/testAsChild"]
        process.environment = ["PARLEY_LOCK_TASK": task, "PARLEY_LOCK_FOLDER": folder.path]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
      }

      func end() -> Int32 {
        process.waitUntilExit()
        return process.terminationStatus
      }
    }

    private let folder = temporaryFolder()

    override func setUpWithError() throws {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private static func mark(_ name: String, in folder: URL) throws {
      try Data().write(to: folder.appendingPathComponent(name))
    }

    private static func wait(for name: String, in folder: URL, while isWaiting: () -> Bool = { true }) throws {
      while !FileManager.default.fileExists(atPath: folder.appendingPathComponent(name).path) {
        if !isWaiting() { throw ProviderFailure(description: "the process ended before \(name)") }
        usleep(1000)
      }
    }

    private static func entry(_ number: Int) throws -> OutboxEntry {
      OutboxEntry(owner: Owner(tenant: "tenant_1", identity: "user|1", verified: true), answer: try answer(number, revision: 1))
    }

    private var outbox: URL {
      folder.appendingPathComponent("outbox")
    }

    func testTwoProcessesThatWriteAtOnceLoseNothing() throws {
      let children = try [1, 2].map { try Child("write \($0)", in: folder) }
      for (number, child) in zip([1, 2], children) {
        try Self.wait(for: "ready-\(number)", in: folder) { child.process.isRunning }
      }
      try Self.mark("go", in: folder)
      XCTAssertEqual(children.map { $0.end() }, [0, 0])
      let slips = try OutboxFolder(outbox).list()
      XCTAssertEqual(Set(slips.map(\.id)).count, 2 * Self.count)
      XCTAssertEqual(Set(slips.map(\.place)).count, 2 * Self.count, "each answer has a position of its own")
      XCTAssertEqual(try OutboxFolder(outbox).readAll().entries.count, 2 * Self.count)
    }

    func testALockOfAnotherProcessEndsWithIt() throws {
      let folder = try OutboxFolder(outbox)
      try folder.put(Self.entry(1), at: Date())
      let child = try Child("hold", in: self.folder)
      try Self.wait(for: "held", in: self.folder) { child.process.isRunning }
      XCTAssertThrowsError(try folder.put(Self.entry(2), at: Date()), "the wait is limited") {
        XCTAssertEqual(($0 as? POSIXError)?.code, .EWOULDBLOCK)
      }
      kill(child.process.processIdentifier, SIGKILL)
      _ = child.end()
      try folder.put(Self.entry(2), at: Date())
      XCTAssertEqual(try folder.list().count, 2)
    }

    /// Runs only in a process that another test has started.
    func testAsChild() throws {
      let environment = ProcessInfo.processInfo.environment
      guard let task = environment["PARLEY_LOCK_TASK"], let path = environment["PARLEY_LOCK_FOLDER"] else { return }
      let folder = URL(fileURLWithPath: path)
      if task == "hold" {
        try withFileLock(folder.appendingPathComponent("outbox/lock").path) {
          try Self.mark("held", in: folder)
          while true { sleep(1) }
        }
      }
      let number = Int(task.split(separator: " ")[1]) ?? 0
      let outbox = try OutboxFolder(folder.appendingPathComponent("outbox"))
      try Self.mark("ready-\(number)", in: folder)
      try Self.wait(for: "go", in: folder)
      for each in 0..<Self.count {
        try outbox.put(Self.entry(number * 1000 + each), at: Date())
        usleep(1000)
      }
    }
  }
#endif
