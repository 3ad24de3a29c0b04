package dev.connectorcore

import java.security.KeyStore
import java.security.cert.X509Certificate

/**
 * The certificate authorities that the Android system trusts, for [RuntimeOptions.roots].
 *
 * Only those of the system: an authority that was installed by the user, or by whoever administers the device, does not
 * vouch for servers here, as is the default for apps since Android 7. Read them anew for each runtime, so that what the
 * system no longer trusts is no longer trusted here either.
 */
public object SystemRoots {
    private const val STORE = "AndroidCAStore"
    private const val SYSTEM = "system:"

    /**
     * The DER bytes of each.
     *
     * @throws ConnectorException.Host with `host.value` where there is no such store, or nothing in it: a runtime without
     * roots could reach no server, and the reason would not be seen.
     */
    public fun read(): List<ByteArray> = read {
        KeyStore.getInstance(STORE).apply { load(null) }
    }

    internal fun read(open: () -> KeyStore): List<ByteArray> {
        val roots = try {
            val store = open()
            store.aliases().asSequence()
                .filter { it.startsWith(SYSTEM) }
                .mapNotNull { store.getCertificate(it) as? X509Certificate }
                .map { it.encoded }
                .toList()
        } catch (fault: Exception) {
            throw unusable("the certificate store of the system cannot be read: ${fault.javaClass.simpleName}")
        }
        if (roots.isEmpty()) throw unusable("the certificate store of the system is empty")
        return roots
    }

    private fun unusable(reason: String) = ConnectorException.Host("host.value", reason, null, emptyList())
}

/**
 * Android's `NetworkSecurityPolicy`, for [RuntimeOptions.cleartext]: what the app's network security configuration forbids
 * stays forbidden, whatever a grant says. Elsewhere than on Android everything is left to the grant.
 */
public class PlatformCleartextPolicy : CleartextPolicy {
    override fun permits(host: String): Boolean {
        // By name, since the class is not there on a JVM.
        val policy = try {
            Class.forName("android.security.NetworkSecurityPolicy")
        } catch (_: ClassNotFoundException) {
            return true
        }
        val instance = policy.getMethod("getInstance").invoke(null)
        return policy.getMethod("isCleartextTrafficPermitted", String::class.java).invoke(instance, host) as Boolean
    }
}
