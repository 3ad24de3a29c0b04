package dev.connectorcore

import java.io.File
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.sync.Semaphore
import kotlinx.coroutines.sync.withPermit
import kotlinx.coroutines.withContext
import org.json.JSONObject
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

class CallsTest {
    private val unhurried = RuntimeOptions(limits = mapOf("callsPerMinute" to 60_000uL))

    @Test
    fun `a call of a model comes back as text for it`() = Notes { Notes.answer(it, """[{"id": 7}]""") }.use { notes ->
        ConnectorRuntime.open(RuntimeOptions()).use { runtime ->
            notes.install(runtime)
            val export = runtime.exportTools(ModelCapabilities(tools = true, toolCalls = true))
            val result = """{"tool_calls": [{"type": "function", "id": "1",
                "function": {"name": "notes_find", "arguments": "{\"words\": \"milk & eggs\"}"}}]}"""
            val call = runtime.readCalls(export.contract, result).single()
            val plan = runtime.plan(export.contract, call.name(), call.arguments())
            assertEquals("${notes.origin}/notes?q=milk%20%26%20eggs", plan.url())
            val answer = runBlocking { runtime.execute(plan.id()) }
            assertEquals(7, JSONObject(answer.text()).getJSONArray("data").getJSONObject(0).getInt("id"))
            val again = assertThrows<ConnectorException.Plan> { runBlocking { runtime.execute(plan.id()) } }
            assertEquals("plan.unknown", again.code)
            assertEquals(runtime.verifyAudit(), runtime.audit().head)
        }
    }

    @Test
    fun `a write waits for the digest that a person was shown`() {
        val writes = AtomicInteger()
        Notes { writes.incrementAndGet(); Notes.answer(it, "{}") }.use { notes ->
            ConnectorRuntime.open(RuntimeOptions()).use { runtime ->
                val contract = notes.install(runtime)
                val plan = runtime.plan(contract, "notes.add", """{"words": "milk"}""")
                assertEquals(listOf("effect"), plan.needsConfirmation())
                val error = assertThrows<ConnectorException> { runBlocking { runtime.execute(plan.id(), "0".repeat(64)) } }
                assertEquals("plan.confirmation_required", error.code)
                assertEquals(0, writes.get())
                runBlocking { runtime.execute(plan, plan.digest()) }
                assertEquals(1, writes.get())
            }
        }
    }

    @Test
    fun `no argument and no answer is printed`() = Notes { Notes.answer(it, """["canary-answer"]""") }.use { notes ->
        ConnectorRuntime.open(RuntimeOptions()).use { runtime ->
            val contract = notes.install(runtime)
            val plan = runtime.plan(contract, "notes.find", """{"words": "canary-argument"}""")
            val answer = runBlocking { runtime.execute(plan.id()) }
            assertTrue(answer.text().contains("canary-answer"))
            val error = assertThrows<ConnectorException> { runtime.plan(contract, "notes.find", """{"canary-argument": 1}""") }
            val printed = "$plan ${plan.headers()} $answer $error ${runtime.audit()} ${runtime.list()}"
            assertFalse(printed.contains("canary"), printed)
        }
    }

    /** A server that answers only when it is let go, and calls that are given up meanwhile. */
    private fun givenUp(giveUp: suspend (ConnectorRuntime, kotlinx.coroutines.Deferred<Result<Answer>>) -> Unit) {
        val (asked, hold) = CountDownLatch(1) to CountDownLatch(1)
        Notes { asked.countDown(); hold.await(20, TimeUnit.SECONDS) }.use { notes ->
            ConnectorRuntime.open(RuntimeOptions()).use { runtime ->
                val contract = notes.install(runtime)
                val plan = runtime.plan(contract, "notes.find", """{"words": "a"}""")
                runBlocking {
                    val call = async(Dispatchers.Default) { runCatching { runtime.execute(plan.id(), callId = "mine") } }
                    withContext(Dispatchers.IO) { assertTrue(asked.await(20, TimeUnit.SECONDS)) }
                    giveUp(runtime, call)
                }
                assertEquals("net.cancelled", runtime.audit().records.last().event.outcome)
            }
            hold.countDown()
        }
    }

    @Test
    fun `cancelling by id ends a call at once`() = givenUp { runtime, call ->
        assertTrue(runtime.cancel("mine"))
        val error = call.await().exceptionOrNull() as ConnectorException
        assertEquals("net.cancelled", error.code)
        assertFalse(runtime.cancel("mine"))
    }

    @Test
    fun `cancelling the coroutine ends a call at once`() = givenUp { runtime, call ->
        call.cancelAndJoin()
        // The core records the end on a thread of its own.
        while (runtime.audit().records.last().event.deed != "call") delay(5)
    }

    @Test
    fun `a thousand calls at once leave nothing behind`() = Notes { Notes.answer(it, "[]") }.use { notes ->
        ConnectorRuntime.open(unhurried).use { runtime ->
            val contract = notes.install(runtime)
            suspend fun round(calls: Int) = withContext(Dispatchers.Default) {
                val room = Semaphore(32)
                (1..calls).map { number ->
                    async {
                        room.withPermit {
                            runtime.plan(contract, "notes.find", """{"words": "$number"}""").use { plan ->
                                runtime.execute(plan.id()).use { assertEquals(200u.toUShort(), it.status()) }
                            }
                        }
                    }
                }.awaitAll()
            }
            runBlocking {
                repeat(4) { round(1_000) }
                // The JVM takes memory of its own now and then, for compiled code, and gives some back: the middle of five
                // counts. The audit trail keeps some 200 bytes of each call; a leaked answer or plan is several KiB.
                val grown = List(5) {
                    val before = resident()
                    repeat(3) { round(1_000) }
                    resident() - before
                }.sorted()
                assertTrue(grown[2] < 6_000, "three thousand calls, five times: $grown KiB more")
                println("three thousand calls, five times: $grown KiB")
            }
        }
    }

    /** Resident memory of this process in KiB; the heap of the JVM is bounded by the build file. */
    private fun resident(): Long {
        val status = File("/proc/self/status")
        if (!status.exists()) return 0
        return status.readLines().first { it.startsWith("VmRSS") }.filter(Char::isDigit).toLong()
    }
}
