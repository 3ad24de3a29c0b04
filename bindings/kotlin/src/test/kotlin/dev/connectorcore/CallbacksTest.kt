package dev.connectorcore

import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.filter
import kotlinx.coroutines.async
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** A credential store in memory, with a hook before each answer. */
internal open class MemoryCredentials(private val before: () -> Unit = {}) : CredentialStore {
    private val secrets = HashMap<CredentialKey, ByteArray>()

    override fun get(key: CredentialKey): ByteArray? { before(); return synchronized(secrets) { secrets[key] } }
    override fun has(key: CredentialKey): Boolean = synchronized(secrets) { key in secrets }
    override fun set(key: CredentialKey, secret: ByteArray) { synchronized(secrets) { secrets[key] = secret } }
    override fun delete(key: CredentialKey): Boolean = synchronized(secrets) { secrets.remove(key) != null }
}

class CallbacksTest {
    private fun code(work: () -> Unit): String = assertThrows<ConnectorException> { work() }.code

    /** Plans a call that needs the secret, and carries it out. */
    private fun call(options: RuntimeOptions): Answer = Notes { Notes.answer(it, "[]") }.use { notes ->
        ConnectorRuntime.open(options).use { runtime ->
            val contract = notes.install(runtime)
            runtime.setCredential("notes", "token", "s3cret".toByteArray())
            val plan = runtime.plan(contract, "notes.mine", "{}")
            runBlocking { withTimeout(30_000) { runtime.execute(plan.id()) } }
        }
    }

    @Test
    fun `the host's store gives the secret, and the server sees it`() {
        val seen = CopyOnWriteArrayList<String>()
        Notes { seen += it.requestHeaders.getFirst("Authorization"); Notes.answer(it, "[]") }.use { notes ->
            ConnectorRuntime.open(RuntimeOptions(credentials = MemoryCredentials())).use { runtime ->
                val contract = notes.install(runtime)
                assertFalse(runtime.hasCredential("notes", "token"))
                runtime.setCredential("notes", "token", "s3cret".toByteArray())
                val plan = runtime.plan(contract, "notes.mine", "{}")
                assertFalse(plan.display().contains("s3cret"))
                assertEquals(200u.toUShort(), runBlocking { runtime.execute(plan.id()) }.status())
                assertTrue(runtime.deleteCredential("notes", "token"))
            }
        }
        assertEquals(listOf("Bearer s3cret"), seen)
    }

    @Test
    fun `an exception of a callback is an error that repeats nothing of it`() {
        val store = MemoryCredentials { throw IllegalStateException("s3cret in a message") }
        val error = assertThrows<ConnectorException> { call(RuntimeOptions(credentials = store)) }
        assertEquals("host.callback", error.code)
        assertFalse(error.toString().contains("s3cret"))
    }

    @Test
    fun `a refusal of the store is the same error`() {
        val store = MemoryCredentials { throw HostException.Unavailable("the person said no") }
        assertEquals("host.callback", code { call(RuntimeOptions(credentials = store)) })
    }

    @Test
    fun `a callback that blocks is left behind`() {
        val hold = CountDownLatch(1)
        val store = MemoryCredentials { hold.await() }
        try {
            assertEquals("host.callback", code { call(RuntimeOptions(credentials = store, callbackTimeoutMs = 200u)) })
        } finally {
            hold.countDown()
        }
    }

    @Test
    fun `a callback that calls back is refused`() {
        var runtime: ConnectorRuntime? = null
        val codes = CopyOnWriteArrayList<String>()
        val store = MemoryCredentials { codes += code { runtime!!.list() } }
        Notes { Notes.answer(it, "[]") }.use { notes ->
            ConnectorRuntime.open(RuntimeOptions(credentials = store)).use {
                runtime = it
                val contract = notes.install(it)
                it.setCredential("notes", "token", "s3cret".toByteArray())
                val plan = it.plan(contract, "notes.mine", "{}")
                runBlocking { it.execute(plan.id()) }
            }
        }
        assertEquals("host.callback", codes.first())
    }

    @Test
    fun `a log that fails or blocks holds up nothing`() {
        val hold = CountDownLatch(1)
        val log = object : LogSink {
            override fun log(event: AuditEvent) {
                hold.await(20, TimeUnit.SECONDS)
                throw IllegalStateException()
            }
        }
        try {
            val options = RuntimeOptions(credentials = MemoryCredentials(), log = log)
            assertEquals(200u.toUShort(), call(options).status())
        } finally {
            hold.countDown()
        }
    }

    @Test
    fun `events come as a flow`() {
        val log = EventFlow()
        runBlocking {
            val call = async { withTimeout(20_000) { log.events.filter { it.deed == "call" }.first() } }
            yield()
            call(RuntimeOptions(credentials = MemoryCredentials(), log = log))
            val event = call.await()
            assertEquals("notes.mine ok", "${event.subject} ${event.outcome}")
        }
    }

    @Test
    fun `what the platform forbids stays forbidden`() {
        System.setProperty("test.cleartext", "no")
        try {
            val options = RuntimeOptions(credentials = MemoryCredentials(), cleartext = PlatformCleartextPolicy())
            assertEquals("grant.denied", code { call(options) })
        } finally {
            System.clearProperty("test.cleartext")
        }
    }

    @Test
    fun `use after close is an error`() {
        val runtime = ConnectorRuntime.open(RuntimeOptions())
        runtime.shutdown()
        assertEquals("session.closed", code { runtime.list() })
        runtime.close()
        assertThrows<IllegalStateException> { runtime.list() }
    }
}
