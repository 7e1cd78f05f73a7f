import Foundation

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The end of the name of a file that is being written.
let unfinished = ".unfinished"

extension Data {
  /// Writes a file as a whole or not at all: when this returns, it outlives a power cut.
  func writeDurably(to file: URL) throws {
    let draft = file.appendingPathExtension(String(unfinished.dropFirst()))
    try write(to: draft)
    try flushToDisk(draft.path)
    guard rename(draft.path, file.path) == 0 else { throw systemError() }
    try flushToDisk(file.deletingLastPathComponent().path)
  }
}

/// Does some work while no other process does any under the same lock.
func withFileLock<Result>(_ path: String, _ work: () throws -> Result) throws -> Result {
  let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
  guard descriptor >= 0 else { throw systemError() }
  defer { close(descriptor) }  // which also ends the lock
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
    if fcntl(descriptor, F_FULLFSYNC) == 0 { return }  // fsync alone leaves it in the drive's cache there
  #endif
  guard fsync(descriptor) == 0 else { throw systemError() }
}

private func systemError() -> POSIXError {
  POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
}

/// Readable from the first time that the device is unlocked, so that a sync in the background works.
var protection: [FileAttributeKey: Any] {
  #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
    return [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication]
  #else
    return [.posixPermissions: 0o700]
  #endif
}

/// Keeps a folder out of backups: restored on another device it would send answers that have long arrived.
func excludeFromBackup(_ folder: URL) throws {
  #if canImport(Darwin)
    var folder = folder
    var values = URLResourceValues()
    values.isExcludedFromBackup = true
    try folder.setResourceValues(values)
  #endif
}
