package dev.connectorcore

import kotlin.time.TimeSource
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The hostile-origin kit through the bindings: every scenario with the same codes. Needs a library with test-hooks. */
class HostileKitTest {
    @Test
    fun `no scenario has a fault`() {
        TestHooksKit().use { kit ->
            val scenarios = kit.scenarios()
            val faults = scenarios.flatMap { scenario ->
                val found = kit.stage(scenario.id).use { runBlocking(Dispatchers.Default) { Player(it).play() } }
                found.map { "${scenario.group} ${scenario.id}: $it" }
            }
            assertEquals(emptyList<String>(), faults)
            assertTrue(scenarios.size >= 150)
            println("${scenarios.size} scenarios right")
        }
    }

    private class Player(private val stage: TestHooksStage) {
        private val runtime = stage.runtime()

        suspend fun play(): List<String> = coroutineScope {
            val connectors = stage.connectors()
            val refused = connectors.map { install(it) }
            val ends = stage.calls().mapIndexed { number, call ->
                stage.advance(call.advanceMs)
                val connector = connectors[call.connector.toInt()]
                refused[call.connector.toInt()]?.let { code ->
                    return@mapIndexed async { TestHooksSeen(code, null, 0uL, 0uL, true, emptyList()) }
                }
                if (call.reinstalled) {
                    runtime.remove(connector.id, runtime.list().contract)
                    assertEquals(null, install(connector))
                }
                call.regranted?.let { runtime.setGrant(connector.id, it) }
                delay(call.afterMs.toLong())
                val running = async { run(call, "call-$number") }
                if (call.meanwhile) assertTrue(stage.requested()) else running.join()
                running
            }.map { it.await() }
            stage.judge(ends)
        }

        private fun install(connector: TestHooksConnector): String? = try {
            runtime.install(Installation(connector.manifest, "kit", connector.grant))
            null
        } catch (error: ConnectorException) {
            stage.said(error.toString())
            error.code
        }

        private suspend fun run(call: TestHooksCall, id: String): TestHooksSeen {
            val plan = try {
                runtime.plan(runtime.list().contract, call.tool, call.arguments)
            } catch (error: ConnectorException) {
                return TestHooksSeen(error.code, null, 0uL, 0uL, false, listOf(error.toString()))
            }
            val deadline = stage.deadlineMs(plan)
            val confirmation = if (plan.needsConfirmation().isEmpty() || call.unconfirmed) null else plan.digest()
            val began = TimeSource.Monotonic.markNow()
            val (code, answer, said) = try {
                val answer = giveUp(call, id) { runtime.execute(plan.id(), confirmation, id) }
                if (answer == null) Triple(lastOutcome(), null, "")
                else Triple(answer.code() ?: if (answer.isError()) "status.${answer.status()}" else "ok", answer, "$answer")
            } catch (error: ConnectorException) {
                Triple(error.code, null, error.toString())
            }
            val took = began.elapsedNow().inWholeMilliseconds.toULong()
            return TestHooksSeen(code, answer, took, deadline, false, listOf(said, plan.toString()))
        }

        /** The answer, or null when the coroutine was cancelled. */
        private suspend fun giveUp(call: TestHooksCall, id: String, execute: suspend () -> Answer): Answer? = coroutineScope {
            val running: Deferred<Answer> = async(kotlinx.coroutines.SupervisorJob()) { execute() }
            val watcher = call.giveUp?.let { way ->
                launch {
                    if (way != TestHooksGiveUp.CANCEL && !stage.requested()) awaitCancellation()
                    if (way == TestHooksGiveUp.CANCEL || way == TestHooksGiveUp.CANCEL_IN_ANSWER) delay(50)
                    if (way == TestHooksGiveUp.DROP_AFTER_REQUEST) running.cancelAndJoin() else runtime.cancel(id)
                }
            }
            try {
                running.await()
            } catch (cancelled: CancellationException) {
                null
            } finally {
                watcher?.cancel()
            }
        }

        /** Nobody is there to be told: the trail says how a dropped call ended. */
        private suspend fun lastOutcome(): String {
            repeat(1_000) {
                val event = runtime.audit().records.last().event
                if (event.deed == "call") return event.outcome
                delay(5)
            }
            return "none"
        }
    }
}
