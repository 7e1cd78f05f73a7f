import Foundation

@testable import Parley

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

/// A server on this machine that serves one response per connection, in order, and records the requests.
final class LocalServer: Sendable {
  let url: String
  private let listener: Int32
  private let heads = Guarded<[String]>([])

  init(_ responses: [String]) throws {
    #if canImport(Darwin)
      listener = socket(AF_INET, SOCK_STREAM, 0)
    #else
      listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #endif
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listener = listener
    let isOpen = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        bind(listener, generic, size) == 0 && listen(listener, 8) == 0 && getsockname(listener, generic, &size) == 0
      }
    }
    guard isOpen else { throw POSIXError(.EADDRNOTAVAIL) }
    url = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
    Thread.detachNewThread { [heads] in
      for response in responses {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { return }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(connection, &bytes, bytes.count, 0)
        heads.use { $0.append(String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)) }
        let text = Array(response.utf8)
        _ = send(connection, text, text.count, 0)
        close(connection)
      }
    }
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }

  /// The received requests.
  var requests: [String] {
    heads.use { $0 }
  }
}
