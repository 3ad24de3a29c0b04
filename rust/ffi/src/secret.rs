//! Secrets on their way in.

use connector_core::{Code, Refusal};
use connector_runtime::Secret;
use uniffi::{Lift, Lower, MetadataBuffer, Result, RustBuffer, TypeId};
use zeroize::Zeroizing;

use crate::UniFfiTag;

/// Bytes of a secret (`Data`, `ByteArray`), or none. What crossed the border is overwritten once it is read, which an
/// argument of type `Vec<u8>` would not be.
pub struct SecretBytes(Zeroizing<Vec<u8>>);

/// The same, for a secret that may be absent.
pub struct MaybeSecret(Option<SecretBytes>);

impl SecretBytes {
    /// The bytes as a secret.
    pub(crate) fn into_secret(self) -> std::result::Result<Secret, Refusal> {
        let text = str::from_utf8(&self.0).map_err(|_| not_utf8())?;
        Ok(Secret::new(text.to_owned()))
    }
}

impl MaybeSecret {
    /// The bytes as a secret, where there are any.
    pub(crate) fn into_secret(self) -> std::result::Result<Option<Secret>, Refusal> {
        self.0.map(SecretBytes::into_secret).transpose()
    }
}

impl From<Vec<u8>> for SecretBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Zeroizing::new(bytes))
    }
}

fn not_utf8() -> Refusal {
    Refusal::new(Code::CredentialInvalid, "the secret is not UTF-8")
}

/// Lifts what a buffer holds, and overwrites it.
fn lift<T: Lift<UniFfiTag>>(buffer: RustBuffer) -> Result<T> {
    let bytes = Zeroizing::new(buffer.destroy_into_vec());
    T::try_read(&mut bytes.as_slice())
}

impl TypeId<UniFfiTag> for SecretBytes {
    const TYPE_ID_META: MetadataBuffer = <Vec<u8> as TypeId<UniFfiTag>>::TYPE_ID_META;
}

impl TypeId<UniFfiTag> for MaybeSecret {
    const TYPE_ID_META: MetadataBuffer = <Option<Vec<u8>> as TypeId<UniFfiTag>>::TYPE_ID_META;
}

// SAFETY: read as the `Vec<u8>` whose metadata they carry; only the buffer's end is another.
unsafe impl Lift<UniFfiTag> for SecretBytes {
    type FfiType = RustBuffer;

    fn try_lift(buffer: RustBuffer) -> Result<Self> {
        lift(buffer)
    }

    fn try_read(buf: &mut &[u8]) -> Result<Self> {
        Ok(Self(Zeroizing::new(<Vec<u8> as Lift<UniFfiTag>>::try_read(buf)?)))
    }
}

// SAFETY: as above, for `Option<Vec<u8>>`.
unsafe impl Lift<UniFfiTag> for MaybeSecret {
    type FfiType = RustBuffer;

    fn try_lift(buffer: RustBuffer) -> Result<Self> {
        lift(buffer)
    }

    fn try_read(buf: &mut &[u8]) -> Result<Self> {
        Ok(Self(<Option<SecretBytes> as Lift<UniFfiTag>>::try_read(buf)?))
    }
}

// SAFETY: written as the `Option<Vec<u8>>` whose metadata it carries. Only a store that Rust implements would be asked so.
unsafe impl Lower<UniFfiTag> for MaybeSecret {
    type FfiType = RustBuffer;

    fn lower(secret: Self) -> RustBuffer {
        Self::lower_into_rust_buffer(secret)
    }

    fn write(Self(secret): Self, buf: &mut Vec<u8>) {
        <Option<Vec<u8>> as Lower<UniFfiTag>>::write(secret.map(|secret| secret.0.to_vec()), buf);
    }
}

uniffi::derive_ffi_traits!(impl LowerReturn<UniFfiTag> for MaybeSecret);
uniffi::derive_ffi_traits!(impl LiftReturn<UniFfiTag> for MaybeSecret);
