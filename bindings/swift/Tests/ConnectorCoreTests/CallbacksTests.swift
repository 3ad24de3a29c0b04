import ConnectorCore
import Foundation
import XCTest

/// A credential store in memory, with a hook before each answer.
final class MemoryCredentials: CredentialStore, @unchecked Sendable {
  private let lock = NSLock()
  private var secrets: [CredentialKey: Data] = [:]
  private let before: @Sendable () throws -> Void

  init(before: @escaping @Sendable () throws -> Void = {}) { self.before = before }

  func get(key: CredentialKey) throws -> Data? {
    try before()
    return lock.withLock { secrets[key] }
  }

  func has(key: CredentialKey) throws -> Bool { lock.withLock { secrets[key] != nil } }
  func set(key: CredentialKey, secret: Data) throws { lock.withLock { secrets[key] = secret } }
  func delete(key: CredentialKey) throws -> Bool { lock.withLock { secrets.removeValue(forKey: key) != nil } }
}

/// A box that threads share.
final class Shared<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var inner: Value
  init(_ value: Value) { inner = value }
  var value: Value {
    get { lock.withLock { inner } }
    set { lock.withLock { inner = newValue } }
  }
}

final class CallbacksTests: XCTestCase {
  private struct Fault: Error, CustomStringConvertible { let description = "s3cret in a message" }

  /// Makes a call that needs the secret; gives its code and what was printed, or `ok`.
  private func call(_ options: RuntimeOptions, _ opened: (ConnectorRuntime) -> Void = { _ in }) async throws -> (String, String) {
    let server = try Loopback { $0.contains("Bearer s3cret") ? "[]" : #"["no secret"]"# }
    let runtime = try ConnectorRuntime.open(options: options)
    opened(runtime)
    let contract = try server.install(runtime)
    try runtime.setCredential(id: "notes", name: "token", value: Data("s3cret".utf8))
    do {
      let plan = try runtime.plan(contract: contract, name: "notes.mine", arguments: "{}")
      let answer = try await runtime.execute(plan)
      return (try answer.text().contains("no secret") ? "no secret" : "ok", "")
    } catch let error as ConnectorError {
      return (error.code, "\(error) \(error.localizedDescription)")
    }
  }

  func testTheHostsStoreGivesTheSecret() async throws {
    let (code, _) = try await call(RuntimeOptions(credentials: MemoryCredentials()))
    XCTAssertEqual(code, "ok")
  }

  func testAFaultOfACallbackRepeatsNothing() async throws {
    let (code, said) = try await call(RuntimeOptions(credentials: MemoryCredentials { throw Fault() }))
    XCTAssertEqual(code, "host.callback")
    XCTAssertFalse(said.contains("s3cret"), said)
  }

  func testARefusalOfTheStoreIsTheSameError() async throws {
    let store = MemoryCredentials { throw HostError.Unavailable(reason: "the person said no") }
    let (code, _) = try await call(RuntimeOptions(credentials: store))
    XCTAssertEqual(code, "host.callback")
  }

  func testACallbackThatBlocksIsLeftBehind() async throws {
    let hold = DispatchSemaphore(value: 0)
    let store = MemoryCredentials { hold.wait() }
    let (code, _) = try await call(RuntimeOptions(credentials: store, callbackTimeoutMs: 200))
    for _ in 0..<8 { hold.signal() }
    XCTAssertEqual(code, "host.callback")
  }

  func testACallbackThatCallsBackIsRefused() async throws {
    let runtime = Shared<ConnectorRuntime?>(nil)
    let seen = Shared<[String]>([])
    let store = MemoryCredentials {
      do { _ = try runtime.value?.list() } catch let error as ConnectorError { seen.value.append(error.code) }
    }
    _ = try await call(RuntimeOptions(credentials: store)) { runtime.value = $0 }
    runtime.value = nil
    XCTAssertEqual(seen.value.first, "host.callback")
  }

  func testEventsComeAsAStream() async throws {
    let log = EventStream()
    let (code, _) = try await call(RuntimeOptions(credentials: MemoryCredentials(), log: log))
    XCTAssertEqual(code, "ok")
    for await event in log.events where event.deed == "call" {
      XCTAssertEqual("\(event.subject) \(event.outcome)", "notes.mine ok")
      break
    }
  }

  func testWhatThePlatformForbidsStaysForbidden() async throws {
    final class Never: CleartextPolicy { func permits(host: String) throws -> Bool { host != "127.0.0.1" } }
    let (code, _) = try await call(RuntimeOptions(credentials: MemoryCredentials(), cleartext: Never()))
    XCTAssertEqual(code, "grant.denied")
  }
}
