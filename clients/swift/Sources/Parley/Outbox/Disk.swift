import Foundation

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Suffix of files that are being written.
let unfinished = ".unfinished"

extension Data {
  /// Writes a file atomically; durable when this returns. `flush` waits until a file or folder is on the disk.
  func writeDurably(to file: URL, flush: (_ path: String) throws -> Void = flushToDisk) throws {
    let draft = file.appendingPathExtension(String(unfinished.dropFirst()))
    do {
      try write(to: draft)
      try flush(draft.path)
      guard rename(draft.path, file.path) == 0 else { throw systemError() }
    } catch {
      unlink(draft.path)  // a full disk needs the space
      throw error
    }
    try flush(file.deletingLastPathComponent().path)
  }
}

/// How long to wait for another process, which may have been suspended.
private let longestLockWait: TimeInterval = 5

/// Runs work under an inter-process lock. Throws `EWOULDBLOCK` if another process holds it for five seconds.
func withFileLock<Result>(_ path: String, _ work: () throws -> Result) throws -> Result {
  let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
  guard descriptor >= 0 else { throw systemError() }
  defer { close(descriptor) }  // also releases the lock
  let end = Date().addingTimeInterval(longestLockWait)
  while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
    guard [EINTR, EWOULDBLOCK].contains(errno), Date() < end else { throw systemError() }
    usleep(2000)
  }
  return try work()
}

/// Waits until a file or folder is on the disk.
func flushToDisk(_ path: String) throws {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { throw systemError() }
  defer { close(descriptor) }
  #if canImport(Darwin)
    if fcntl(descriptor, F_FULLFSYNC) == 0 { return }  // fsync leaves data in the drive's cache on Apple systems
  #endif
  guard fsync(descriptor) == 0 else { throw systemError() }
}

private func systemError() -> POSIXError {
  POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
}

/// Readable after the first unlock, so that background syncs work.
var protection: [FileAttributeKey: Any] {
  #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
    return [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication]
  #else
    return [.posixPermissions: 0o700]
  #endif
}

/// Excludes a folder from backups: a restored copy would resend old answers.
func excludeFromBackup(_ folder: URL) throws {
  #if canImport(Darwin)
    var folder = folder
    var values = URLResourceValues()
    values.isExcludedFromBackup = true
    try folder.setResourceValues(values)
  #endif
}
