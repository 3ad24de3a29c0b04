import ConnectorCore
import Foundation
import XCTest

final class CallsTests: XCTestCase {
  private func code(of work: () throws -> Void) -> String? {
    do { try work() } catch let error as ConnectorError { return error.code } catch { return "\(error)" }
    return nil
  }

  private func code(of work: () async throws -> Void) async -> String? {
    do { try await work() } catch let error as ConnectorError { return error.code } catch { return "\(error)" }
    return nil
  }

  func testACallOfAModelComesBackAsText() async throws {
    let server = try Loopback { _ in #"[{"id": 7}]"# }
    let runtime = try ConnectorRuntime.open(options: RuntimeOptions())
    _ = try server.install(runtime)
    let export = try runtime.exportTools(model: ModelCapabilities(tools: true, toolCalls: true))
    let result = #"""
      {"tool_calls": [{"type": "function", "id": "1",
        "function": {"name": "notes_find", "arguments": "{\"words\": \"milk & eggs\"}"}}]}
      """#
    let calls = try runtime.readCalls(contract: export.contract, result: result)
    let call = try XCTUnwrap(calls.first)
    let plan = try runtime.plan(contract: export.contract, name: call.name(), arguments: call.arguments())
    XCTAssertEqual(try plan.url(), "\(server.origin)/notes?q=milk%20%26%20eggs")
    let answer = try await runtime.execute(plan)
    XCTAssertTrue(try answer.text().contains(#""id":7"#))
    let again = await code { _ = try await runtime.execute(plan) }
    XCTAssertEqual(again, "plan.unknown")
    XCTAssertEqual(try runtime.verifyAudit(), try runtime.audit().head)
  }

  func testAWriteWaitsForTheDigestThatAPersonWasShown() async throws {
    let server = try Loopback { _ in "{}" }
    let runtime = try ConnectorRuntime.open(options: RuntimeOptions())
    let contract = try server.install(runtime)
    let plan = try runtime.plan(contract: contract, name: "notes.add", arguments: #"{"words": "milk"}"#)
    XCTAssertEqual(try plan.needsConfirmation(), ["effect"])
    let refused = await code { _ = try await runtime.execute(plan, confirmation: String(repeating: "0", count: 64)) }
    XCTAssertEqual(refused, "plan.confirmation_required")
    XCTAssertEqual(server.requests.count, 0)
    _ = try await runtime.execute(plan, confirmation: plan.digest())
    XCTAssertEqual(server.requests.count, 1)
  }

  func testNoArgumentAndNoAnswerIsPrinted() async throws {
    let server = try Loopback { _ in #"["canary-answer"]"# }
    let runtime = try ConnectorRuntime.open(options: RuntimeOptions())
    let contract = try server.install(runtime)
    let plan = try runtime.plan(contract: contract, name: "notes.find", arguments: #"{"words": "canary-argument"}"#)
    let answer = try await runtime.execute(plan)
    XCTAssertTrue(try answer.text().contains("canary-answer"))
    var said = "\(plan) \(String(reflecting: plan)) \(answer) \(try runtime.audit()) \(try runtime.list())"
    do {
      _ = try runtime.plan(contract: contract, name: "notes.find", arguments: #"{"canary-argument": 1}"#)
      XCTFail("planned")
    } catch {
      said += "\(error) \(error.localizedDescription)"
    }
    XCTAssertFalse(said.contains("canary"), said)
  }

  /// Waits until something is so.
  private func until(_ holds: () throws -> Bool) async throws {
    for _ in 0..<2_000 {
      if try holds() { return }
      try await Task.sleep(nanoseconds: 5_000_000)
    }
    XCTFail("it never came")
  }

  func testCancellingTheTaskClosesTheSocket() async throws {
    let server = try Loopback { _ in nil }
    let runtime = try ConnectorRuntime.open(options: RuntimeOptions())
    let contract = try server.install(runtime)
    let plan = try runtime.plan(contract: contract, name: "notes.find", arguments: #"{"words": "a"}"#)
    let call = Task { try await runtime.execute(plan) }
    try await until { server.requests.count == 1 }
    call.cancel()
    let ended = await code { _ = try await call.value }
    XCTAssertEqual(ended, "net.cancelled")
    try await until { server.ends == 1 }
    XCTAssertEqual(try runtime.audit().records.last?.event.outcome, "net.cancelled")
  }

  func testCancellingByIdClosesTheSocket() async throws {
    let server = try Loopback { _ in nil }
    let runtime = try ConnectorRuntime.open(options: RuntimeOptions())
    let contract = try server.install(runtime)
    let plan = try runtime.plan(contract: contract, name: "notes.find", arguments: #"{"words": "a"}"#)
    let call = Task { try await runtime.execute(plan: plan.id(), callId: "mine") }
    try await until { server.requests.count == 1 }
    XCTAssertTrue(try runtime.cancel(callId: "mine"))
    let ended = await code { _ = try await call.value }
    XCTAssertEqual(ended, "net.cancelled")
    try await until { server.ends == 1 }
    XCTAssertFalse(try runtime.cancel(callId: "mine"))
  }

  func testThousandsOfCallsLeaveNothingBehind() async throws {
    let server = try Loopback { _ in "[]" }
    let runtime = try ConnectorRuntime.open(options: RuntimeOptions(limits: ["callsPerMinute": 60_000]))
    let contract = try server.install(runtime)
    func round() async throws {
      try await withThrowingTaskGroup(of: UInt16.self) { group in
        for worker in 0..<20 {
          group.addTask {
            for number in 0..<50 {
              let plan = try runtime.plan(
                contract: contract, name: "notes.find", arguments: #"{"words": "\#(worker) \#(number)"}"#)
              let status = try await runtime.execute(plan).status()
              guard status == 200 else { return status }
            }
            return 200
          }
        }
        for try await status in group { XCTAssertEqual(status, 200) }
      }
    }
    for _ in 0..<3 { try await round() }
    let before = try resident()
    for _ in 0..<3 { try await round() }
    let grown = try resident() - before
    // The audit trail keeps some 200 bytes of each call; a leaked answer or plan is several KiB.
    XCTAssertLessThan(grown, 6_000, "\(grown) KiB more after another three thousand calls")
    print("three thousand calls: \(grown) KiB")
  }

  /// Resident memory of this process in KiB, where the system tells it in a file.
  private func resident() throws -> Int {
    guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return 0 }
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS") } ?? ""
    return Int(line.filter(\.isNumber)) ?? 0
  }

  func testAfterShutdownEverythingIsAnError() throws {
    let runtime = try ConnectorRuntime.open(options: RuntimeOptions())
    try runtime.shutdown()
    XCTAssertEqual(code { _ = try runtime.list() }, "session.closed")
  }
}
