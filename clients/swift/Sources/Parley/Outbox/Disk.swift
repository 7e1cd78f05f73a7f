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
  /// Writes a file atomically; durable when this returns.
  func writeDurably(to file: URL) throws {
    let draft = file.appendingPathExtension(String(unfinished.dropFirst()))
    try write(to: draft)
    try flushToDisk(draft.path)
    guard rename(draft.path, file.path) == 0 else { throw systemError() }
    try flushToDisk(file.deletingLastPathComponent().path)
  }
}

/// Runs work under an inter-process lock.
func withFileLock<Result>(_ path: String, _ work: () throws -> Result) throws -> Result {
  let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
  guard descriptor >= 0 else { throw systemError() }
  defer { close(descriptor) }  // also releases the lock
  while flock(descriptor, LOCK_EX) != 0 {
    if errno != EINTR { throw systemError() }
  }
  return try work()
}

private func flushToDisk(_ path: String) throws {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { throw systemError() }
  defer { close(descriptor) }
  #if canImport(Darwin)
    if fcntl(descriptor, F_FULLFSYNC) == 0 { return }  // fsync alone leaves data in the drive's cache on Apple systems
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
