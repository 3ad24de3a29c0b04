package dev.connectorcore

import java.io.File
import java.nio.file.Files
import java.security.KeyStore
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

class SystemRootsTest {
    /** A store of certificates that `keytool` makes, under these aliases. */
    private fun store(vararg aliases: String): KeyStore {
        val folder = Files.createTempDirectory("roots").toFile()
        try {
            val file = File(folder, "store.p12")
            for (alias in aliases) {
                val keytool = File(System.getProperty("java.home"), "bin/keytool").path
                val made = ProcessBuilder(
                    keytool, "-genkeypair", "-keyalg", "EC", "-alias", alias, "-dname", "CN=$alias",
                    "-keystore", file.path, "-storetype", "PKCS12", "-storepass", "secret",
                ).redirectErrorStream(true).start()
                val said = made.inputStream.bufferedReader().readText()
                assertEquals(0, made.waitFor(), said)
            }
            return KeyStore.getInstance("PKCS12").apply {
                if (file.exists()) file.inputStream().use { load(it, "secret".toCharArray()) } else load(null, null)
            }
        } finally {
            folder.deleteRecursively()
        }
    }

    @Test
    fun `only the authorities of the system vouch`() {
        val store = store("system:a", "user:b")
        val roots = SystemRoots.read { store }
        assertEquals(1, roots.size)
        assertArrayEquals(store.getCertificate("system:a").encoded, roots.single())
        ConnectorRuntime.open(RuntimeOptions(roots = roots)).use { it.list() }
    }

    @Test
    fun `no authority at all is an error and no runtime that reaches nobody`() {
        val error = assertThrows<ConnectorException.Host> { SystemRoots.read { store("user:b") } }
        assertEquals("host.value", error.code)
    }

    @Test
    fun `a JVM has no such store`() {
        assertEquals("host.value", assertThrows<ConnectorException.Host> { SystemRoots.read() }.code)
    }

    @Test
    fun `a root that is no certificate is refused`() {
        val error = assertThrows<ConnectorException> {
            ConnectorRuntime.open(RuntimeOptions(roots = listOf(byteArrayOf(1, 2, 3))))
        }
        assertEquals("net.tls", error.code)
    }
}
