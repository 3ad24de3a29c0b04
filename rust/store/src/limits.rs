//! How large a store may grow.

/// The bounds of a store; a host may change one without a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreLimits {
    /// Bytes of a manifest; the limit under which it was checked.
    pub manifest_bytes: usize,
    /// Bytes of the lock file. Tombstones fill it: each keeps all that a tool was.
    pub lock_bytes: usize,
    /// Tool names ever seen; an install beyond is refused, and none is forgotten.
    pub tombstones: usize,
    /// Bytes of the write ledger. When it is full the older half of its lines goes.
    pub ledger_bytes: usize,
    /// Bytes of the audit trail. When it is full the older half of its lines goes, and the last of these is remembered.
    pub audit_bytes: usize,
}

impl Default for StoreLimits {
    fn default() -> Self {
        Self {
            manifest_bytes: 1 << 20,
            lock_bytes: 32 << 20,
            tombstones: 10_000,
            ledger_bytes: 1 << 20,
            audit_bytes: 4 << 20,
        }
    }
}
