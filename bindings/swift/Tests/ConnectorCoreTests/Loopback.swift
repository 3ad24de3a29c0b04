import ConnectorCore
import Foundation

#if canImport(Glibc)
  import Glibc
  private let stream = Int32(SOCK_STREAM.rawValue)
#else
  import Darwin
  private let stream = SOCK_STREAM
#endif

/// A server on loopback: a thread for each connection, which reads heads without bodies and answers each.
final class Loopback: @unchecked Sendable {
  private let socket: Int32
  private let lock = NSLock()
  private var heads: [String] = []
  private var closings = 0
  let port: UInt16

  /// Gives the body of the answer for the head of a request, or nothing when it shall wait for ever.
  init(answer: @escaping @Sendable (String) -> String?) throws {
    #if canImport(Glibc)
      let listener = Glibc.socket(AF_INET, stream, 0)
    #else
      let listener = Darwin.socket(AF_INET, stream, 0)
    #endif
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(listener, pointer, size) == 0 && listen(listener, 64) == 0 && getsockname(listener, pointer, &size) == 0
      }
    }
    precondition(bound, "no port on loopback")
    socket = listener
    port = UInt16(bigEndian: address.sin_port)
    Thread.detachNewThread { [weak self] in
      while true {
        let connection = accept(listener, nil, nil)
        if connection < 0 { return }
        Thread.detachNewThread { [weak self] in
          Loopback.serve(connection, answer) { self?.saw($0) }
          self?.ended()
          close(connection)
        }
      }
    }
  }

  private static func serve(_ connection: Int32, _ answer: (String) -> String?, _ saw: (String) -> Void) {
    var pending: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = recv(connection, &buffer, buffer.count, 0)
      if count <= 0 { return }
      pending += buffer[0..<count]
      guard let text = String(bytes: pending, encoding: .utf8), text.contains("\r\n\r\n") else { continue }
      pending = []
      saw(text)
      guard let body = answer(text) else { continue }
      let bytes = Array(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8)
      if send(connection, bytes, bytes.count, 0) != bytes.count { return }
    }
  }

  private func saw(_ head: String) { lock.withLock { heads.append(head) } }
  private func ended() { lock.withLock { closings += 1 } }

  /// Every head so far.
  var requests: [String] { lock.withLock { heads } }
  /// Connections that have ended.
  var ends: Int { lock.withLock { closings } }

  deinit {
    shutdown(socket, Int32(SHUT_RDWR))
    close(socket)
  }

  var origin: String { "http://127.0.0.1:\(port)" }

  /// Installs the connector of this server, and gives a contract.
  func install(_ runtime: ConnectorRuntime) throws -> String {
    let grant = Grant(origins: ["server": origin], loopback: true, cleartextCredentials: true)
    let manifest = try Data(contentsOf: CasesTests.folder.appendingPathComponent("manifests/served.json"))
    let installation = Installation(manifest: manifest, source: "test", grant: grant)
    return try runtime.install(installation: installation).contract
  }
}
