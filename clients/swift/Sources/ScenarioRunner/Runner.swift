import Foundation

/// Runs one part of `clients/contract/scenario.json` against a real server, as described in its README.
@main
struct Runner {
  static func main() async {
    do {
      let setting = try Setting(ProcessInfo.processInfo.environment)
      guard let part = try setting.readPart(CommandLine.arguments.dropFirst().first) else { exit(3) }
      exit(try await Player(setting).play(part) ? 0 : 1)
    } catch {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      exit(2)
    }
  }
}

/// Writes a line to standard output, unbuffered.
func report(_ line: Line) throws {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  FileHandle.standardOutput.write(try encoder.encode(line) + Data("\n".utf8))
}

/// A line of the runner's output; nil is omitted.
struct Line: Encodable {
  var step: Int?
  var `do`: String?
  var passed: Bool?
  var detail: String?
  var recorded: String?
  var identity: String?
}

struct WrongStart: Error, CustomStringConvertible {
  let description: String
}
