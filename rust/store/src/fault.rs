//! Errors of the operating system as refusals. Their reasons name a file of the store, never the folder it is in.

use std::io;

use connector_core::{Code, Refusal};

/// A file that could not be read.
pub(crate) fn reading(what: &str, error: &io::Error) -> Refusal {
    Refusal::new(Code::StoreIo, format!("{what} could not be read: {error}"))
}

/// A file that could not be written, made, moved or removed.
pub(crate) fn writing(what: &str, error: &io::Error) -> Refusal {
    use io::ErrorKind::{FileTooLarge, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    let code = match error.kind() {
        StorageFull | QuotaExceeded | FileTooLarge => Code::StoreFull,
        PermissionDenied | ReadOnlyFilesystem => Code::StoreReadOnly,
        _ => Code::StoreIo,
    };
    Refusal::new(code, format!("{what} could not be written: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_can_tell_a_full_disk_from_a_read_only_one() {
        let code = |kind: io::ErrorKind| writing("the lock file", &io::Error::from(kind)).code;
        assert_eq!(code(io::ErrorKind::StorageFull), Code::StoreFull);
        assert_eq!(code(io::ErrorKind::QuotaExceeded), Code::StoreFull);
        assert_eq!(code(io::ErrorKind::ReadOnlyFilesystem), Code::StoreReadOnly);
        assert_eq!(code(io::ErrorKind::PermissionDenied), Code::StoreReadOnly);
        assert_eq!(code(io::ErrorKind::Other), Code::StoreIo);
        let refusal = reading("the lock file", &io::Error::from(io::ErrorKind::PermissionDenied));
        assert_eq!(refusal.to_string(), "store.io: the lock file could not be read: permission denied");
    }
}
