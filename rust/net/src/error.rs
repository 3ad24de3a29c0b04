//! What can go wrong on the way to an answer: structured inside, one stable code outside.

use connector_core::origin::Denied;
use connector_core::{Code, Refusal};

/// Whether the server may have seen anything of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// No byte of any try was handed to a connection: the server cannot have acted.
    Not,
    /// At least one byte may have left: a write's outcome is not known unless an answer says it.
    Maybe,
}

/// Why no answer came back. It holds no URL, header, argument or secret, only kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{failure}")]
pub struct NetError {
    /// What failed, in the last try.
    pub failure: Failure,
    /// Whether any try may have sent something.
    pub sent: Sent,
    /// The status of the last answer whose head was read, when one was: a redirect that is not followed,
    /// or an answer whose body then failed.
    pub status: Option<u16>,
}

impl NetError {
    /// The stable code. Whether a write's failure is `outcome_unknown` instead is for the caller, who knows
    /// the effect, to say from [`sent`](Self::sent).
    pub fn code(&self) -> Code {
        self.failure.code()
    }

    /// The refusal for the developer, under [`code`](Self::code).
    pub fn refusal(&self) -> Refusal {
        Refusal::new(self.code(), self.failure.to_string())
    }

    /// The refusal of a write: `outcome_unknown` when it may have begun, unless its answer was read and only
    /// refused (a redirect, a body over its cap or in a wrong coding).
    pub fn refusal_of_write(&self) -> Refusal {
        let answered = self.status.is_some()
            && matches!(self.failure, Failure::Redirect(_) | Failure::BodyTooLarge | Failure::Encoding(_));
        if self.sent == Sent::Maybe && !answered {
            let reason = format!("{} The server may have acted on the request.", self.failure);
            return Refusal::new(Code::OutcomeUnknown, reason);
        }
        self.refusal()
    }
}

impl From<NetError> for Refusal {
    fn from(error: NetError) -> Self {
        error.refusal()
    }
}

/// What failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The request cannot be written as HTTP/1.1; nothing was sent.
    #[error("The request cannot be sent: {0}.")]
    Request(Unsendable),
    /// The name has no address.
    #[error("The name of the server could not be resolved: {0}.")]
    Resolve(#[from] ResolveError),
    /// The name has addresses, or the host is one, and the guard allows none of them.
    #[error("The connector may not reach the address of the server: {0}.")]
    Address(Forbidden),
    /// No connection to any allowed address.
    #[error("No connection could be made: {0}.")]
    Connect(ConnectFailure),
    /// The TLS handshake failed.
    #[error("The TLS handshake failed: {0}.")]
    Tls(TlsFailure),
    /// The whole time of the call is over.
    #[error("The time for the call is over, while {0}.")]
    Timeout(Stage),
    /// The caller gave up.
    #[error("The call was cancelled.")]
    Cancelled,
    /// The answer is not HTTP/1.1 that can be trusted.
    #[error("The answer is not usable HTTP: {0}.")]
    Protocol(Malformed),
    /// The head of the answer is over its cap.
    #[error("The header fields of the answer are over the limit.")]
    HeadersTooLarge,
    /// The body of the answer is over the cap on wire bytes.
    #[error("The body of the answer is over the limit.")]
    BodyTooLarge,
    /// The content coding of the answer.
    #[error("The content coding of the answer is refused: {0}.")]
    Encoding(BadCoding),
    /// A redirect that is not followed.
    #[error("The server redirects, and the redirect is refused: {0}.")]
    Redirect(BadRedirect),
}

impl Failure {
    /// The one match between the kinds of failure and the stable codes.
    pub fn code(self) -> Code {
        match self {
            Self::Request(_) => Code::RequestValue,
            Self::Resolve(_) => Code::NetResolve,
            Self::Address(_) => Code::NetAddress,
            Self::Connect(_) => Code::NetConnect,
            Self::Tls(_) => Code::NetTls,
            Self::Timeout(_) => Code::NetTimeout,
            Self::Cancelled => Code::NetCancelled,
            Self::Protocol(_) => Code::NetProtocol,
            Self::HeadersTooLarge => Code::NetHeadersTooLarge,
            Self::BodyTooLarge => Code::NetTooLarge,
            Self::Encoding(_) => Code::NetEncoding,
            Self::Redirect(_) => Code::NetRedirect,
        }
    }
}

/// Why a request cannot be written. The core makes none of these; a guard behind the guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsendable {
    /// The URL has another scheme, userinfo, no host, or a target that HTTP cannot carry.
    #[error("the URL is not one of an origin")]
    Url,
    /// A field name is no token, stands twice, or is one that the transport fixes.
    #[error("a header field is not allowed")]
    HeaderName,
    /// A field value holds more than visible ASCII, inner spaces and tabs.
    #[error("a header value holds a forbidden character")]
    HeaderValue,
    /// A body with GET or HEAD.
    #[error("the method takes no body")]
    Body,
}

/// Why a name has no address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// The name does not exist or has no addresses.
    #[error("it has no address")]
    NotFound,
    /// The lookup itself failed.
    #[error("the lookup failed")]
    Failed,
}

/// Why an address is not connected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Forbidden {
    /// The policy of the core denies it: not globally reachable, and not opened by the grant.
    #[error("{0}")]
    Denied(Denied),
    /// `http`, or a literal address, and the address is a public one.
    #[error("a public address is reached by name and https only")]
    Public,
}

/// Why a connection could not be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectFailure {
    /// Nothing listens there.
    #[error("it was refused")]
    Refused,
    /// No route to the server.
    #[error("the server cannot be reached")]
    Unreachable,
    /// It took longer than its part of the time.
    #[error("it took too long")]
    TimedOut,
    /// A connection that was kept from an earlier call was closed before the answer began.
    #[error("the server closed the connection that it had kept")]
    Stale,
    /// Any other error of the system.
    #[error("the system refused it")]
    Other,
}

/// Why a TLS handshake failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TlsFailure {
    /// The certificate is for other names.
    #[error("the certificate is for another name")]
    WrongName,
    /// The certificate is past its time.
    #[error("the certificate has expired")]
    Expired,
    /// The certificate's time has not begun.
    #[error("the certificate is not valid yet")]
    NotYetValid,
    /// No trusted root stands behind the certificate (also a self-signed one).
    #[error("the certificate is not issued by a trusted authority")]
    UnknownIssuer,
    /// The certificate was revoked.
    #[error("the certificate is revoked")]
    Revoked,
    /// Any other fault of the certificate.
    #[error("the certificate is not valid")]
    BadCertificate,
    /// No common version or cipher suite, or the peer breaks the protocol, or sends an alert.
    #[error("the server does not speak TLS 1.2 or 1.3 as it should")]
    Protocol,
    /// The connection ended or broke within the handshake.
    #[error("the connection broke")]
    Broken,
    /// This device has no trusted roots to check with.
    #[error("there are no trusted roots")]
    NoRoots,
}

/// What a call was doing when its time was over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Stage {
    /// Looking up the name.
    #[error("resolving the name")]
    Resolve,
    /// Making the connection.
    #[error("connecting")]
    Connect,
    /// Sending the request, or waiting for the head of the answer.
    #[error("waiting for the answer")]
    Wait,
    /// Reading the body of the answer.
    #[error("reading the answer")]
    Read,
    /// Waiting before another try.
    #[error("pausing before another try")]
    Pause,
}

/// Why an answer cannot be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// The head does not follow RFC 9112.
    #[error("its head is malformed")]
    Head,
    /// `Content-Length` is invalid, stands with `Transfer-Encoding`, or with different values.
    #[error("its length is ambiguous")]
    Length,
    /// A transfer coding other than `chunked` alone.
    #[error("its transfer coding was not asked for")]
    TransferCoding,
    /// A change of protocol that nobody asked for.
    #[error("it changes the protocol")]
    Upgrade,
    /// The chunks or the trailer do not follow RFC 9112.
    #[error("its body is malformed")]
    Body,
    /// The connection ended before the answer did.
    #[error("it was cut short")]
    CutShort,
}

/// Why a content coding is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadCoding {
    /// Not one of those in `Accept-Encoding`.
    #[error("it was not asked for")]
    NotAsked,
    /// More than one coding.
    #[error("there is more than one")]
    Stacked,
    /// The body is not what its coding says, or ends too early.
    #[error("the body is damaged")]
    Damaged,
}

/// Why a redirect is not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadRedirect {
    /// The manifest lets none through, or the method is not GET or HEAD.
    #[error("this request follows none")]
    NotAllowed,
    /// More than three.
    #[error("there were too many")]
    TooMany,
    /// `Location` is empty, stands twice, is no URL, or spells its target so that readers could disagree about it.
    #[error("its target is malformed")]
    Malformed,
    /// Another scheme, host or port, or userinfo.
    #[error("its target is another origin")]
    OtherOrigin,
    /// A status that is not 301, 302, 303, 307 or 308.
    #[error("its status is none that is followed")]
    Status,
    /// Longer than a URL may be.
    #[error("its target is too long")]
    TooLong,
    /// Outside the literal part of the request's path.
    #[error("its target leaves the fixed part of the path")]
    OutsidePrefix,
}
