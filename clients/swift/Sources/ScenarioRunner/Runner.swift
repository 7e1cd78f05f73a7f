import Foundation

/// Plays one part of `clients/contract/scenario.json` against a real server, as its README says.
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

/// Writes a line on standard output, at once.
func report(_ line: Line) throws {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  FileHandle.standardOutput.write(try encoder.encode(line) + Data("\n".utf8))
}

/// A line of the runner's output; what is nil is left out.
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
