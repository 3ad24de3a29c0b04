import ConnectorCore
import Foundation
import XCTest

/// The hostile-origin kit through the bindings: every scenario with the same codes. Needs a library with test-hooks.
final class HostileKitTests: XCTestCase {
  func testNoScenarioHasAFault() async throws {
    let kit = try TestHooksKit()
    let scenarios = try kit.scenarios()
    for scenario in scenarios {
      let faults = try await Player(stage: kit.stage(id: scenario.id)).play()
      for fault in faults { XCTFail("\(scenario.group) \(scenario.id): \(fault)") }
    }
    XCTAssertGreaterThanOrEqual(scenarios.count, 150)
    print("\(scenarios.count) scenarios right")
  }
}

private struct Player: Sendable {
  private let stage: TestHooksStage
  private let runtime: ConnectorRuntime

  init(stage: TestHooksStage) throws {
    self.stage = stage
    runtime = try stage.runtime()
  }

  func play() async throws -> [String] {
    let connectors = try stage.connectors()
    let refused = try connectors.map(install)
    var ends: [Task<TestHooksSeen, Error>] = []
    for (number, call) in try stage.calls().enumerated() {
      try stage.advance(byMs: call.advanceMs)
      let connector = connectors[Int(call.connector)]
      if let code = refused[Int(call.connector)] {
        ends.append(Task { seen(code, unasked: true) })
        continue
      }
      if call.reinstalled {
        _ = try runtime.remove(id: connector.id, contract: runtime.list().contract)
        XCTAssertNil(try install(connector))
      }
      if let grant = call.regranted { _ = try runtime.setGrant(id: connector.id, grant: grant) }
      try await Task.sleep(nanoseconds: call.afterMs * 1_000_000)
      let running = Task { try await run(call, "call-\(number)") }
      if call.meanwhile {
        let asked = try await stage.requested()
        XCTAssertTrue(asked)
      } else {
        _ = await running.result
      }
      ends.append(running)
    }
    var calls: [TestHooksSeen] = []
    for end in ends { calls.append(try await end.value) }
    return try stage.judge(calls: calls)
  }

  private func install(_ connector: TestHooksConnector) throws -> String? {
    do {
      _ = try runtime.install(
        installation: Installation(manifest: connector.manifest, source: "kit", grant: connector.grant))
      return nil
    } catch let error as ConnectorError {
      try stage.said(text: "\(error) \(error.localizedDescription)")
      return error.code
    }
  }

  private func seen(
    _ code: String, answer: Answer? = nil, took: UInt64 = 0, deadline: UInt64 = 0, unasked: Bool = false,
    said: [String] = []
  ) -> TestHooksSeen {
    TestHooksSeen(code: code, answer: answer, tookMs: took, deadlineMs: deadline, unasked: unasked, said: said)
  }

  private func run(_ call: TestHooksCall, _ id: String) async throws -> TestHooksSeen {
    let plan: PlannedCall
    do {
      plan = try runtime.plan(contract: runtime.list().contract, name: call.tool, arguments: call.arguments)
    } catch let error as ConnectorError {
      return seen(error.code, said: ["\(error)"])
    }
    let deadline = try stage.deadlineMs(plan: plan)
    let confirmation = try plan.needsConfirmation().isEmpty || call.unconfirmed ? nil : plan.digest()
    let began = DispatchTime.now().uptimeNanoseconds
    let running = Task {
      // By a task where that is given up, by its id where `cancel` is asked for.
      if call.giveUp == .dropAfterRequest { return try await runtime.execute(plan, confirmation: confirmation) }
      return try await runtime.execute(plan: plan.id(), confirmation: confirmation, callId: id)
    }
    if let way = call.giveUp { Task { try await giveUp(way, id, running) } }
    let result = await running.result
    let took = (DispatchTime.now().uptimeNanoseconds - began) / 1_000_000
    switch result {
    case .success(let answer):
      let code = try answer.code() ?? (try answer.isError() ? "status.\(answer.status())" : "ok")
      return seen(code, answer: answer, took: took, deadline: deadline, said: ["\(answer)", "\(plan)"])
    case .failure(let error as ConnectorError):
      return seen(error.code, took: took, deadline: deadline, said: ["\(error) \(error.localizedDescription)"])
    case .failure(let error): throw error
    }
  }

  private func giveUp(_ way: TestHooksGiveUp, _ id: String, _ running: Task<Answer, Error>) async throws {
    if way != .cancel, try await !stage.requested() { return }
    if way == .cancel || way == .cancelInAnswer { try await Task.sleep(nanoseconds: 50_000_000) }
    if way == .dropAfterRequest { running.cancel() } else { _ = try runtime.cancel(callId: id) }
  }
}
