package android.security;

/** Stands in for Android's class of this name, which a JVM does not have: forbids one host. */
public final class NetworkSecurityPolicy {
    public static NetworkSecurityPolicy getInstance() {
        return new NetworkSecurityPolicy();
    }

    public boolean isCleartextTrafficPermitted(String host) {
        return !host.equals("127.0.0.1") || System.getProperty("test.cleartext", "yes").equals("yes");
    }
}
