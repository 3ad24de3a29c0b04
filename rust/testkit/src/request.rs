//! A request as its bytes came.

/// One request: the exact bytes, and what of them a test or a small server asks for.
#[derive(Clone, PartialEq, Eq)]
pub struct Request {
    /// Head and body as they came off the wire.
    pub raw: Vec<u8>,
    /// Where the body begins in `raw`.
    body_at: usize,
}

impl std::fmt::Debug for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(&self.raw))
    }
}

impl Request {
    /// Takes one whole request from the start of `buffer`, when there is one. The body is counted by
    /// `Content-Length` alone: the core sends no other.
    pub(crate) fn take(buffer: &mut Vec<u8>) -> Option<Self> {
        let body_at = buffer.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
        let head = Self { raw: buffer.get(..body_at)?.to_vec(), body_at };
        let length = head.header("content-length").and_then(|value| value.parse().ok()).unwrap_or(0_usize);
        let end = body_at.checked_add(length)?;
        if buffer.len() < end {
            return None;
        }
        let rest = buffer.split_off(end);
        Some(Self { raw: std::mem::replace(buffer, rest), body_at })
    }

    /// The head, with the empty line that ends it; not UTF-8 where the client sent none.
    pub fn head(&self) -> String {
        String::from_utf8_lossy(self.raw.get(..self.body_at).unwrap_or_default()).into_owned()
    }

    /// The body.
    pub fn body(&self) -> &[u8] {
        self.raw.get(self.body_at..).unwrap_or_default()
    }

    /// The method.
    pub fn method(&self) -> String {
        self.head().split(' ').next().unwrap_or_default().to_owned()
    }

    /// The request target: path and query as sent.
    pub fn target(&self) -> String {
        self.head().split(' ').nth(1).unwrap_or_default().to_owned()
    }

    /// The header fields in order, names as sent.
    pub fn headers(&self) -> Vec<(String, String)> {
        let field = |line: &str| {
            let (name, value) = line.split_once(':')?;
            Some((name.to_owned(), value.trim().to_owned()))
        };
        self.head().split("\r\n").skip(1).filter_map(field).collect()
    }

    /// The first value of a header field; the name is compared without case.
    pub fn header(&self, name: &str) -> Option<String> {
        self.headers()
            .into_iter()
            .find_map(|(found, value)| found.eq_ignore_ascii_case(name).then_some(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_taken_when_it_is_whole() {
        let mut buffer = b"POST /a?b HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nab".to_vec();
        assert!(Request::take(&mut buffer).is_none());
        buffer.extend(b"cGET");
        let request = Request::take(&mut buffer).unwrap();
        assert_eq!((request.method().as_str(), request.target().as_str()), ("POST", "/a?b"));
        assert_eq!(request.header("HOST").as_deref(), Some("x"));
        assert_eq!(request.body(), b"abc");
        assert_eq!(buffer, b"GET");
    }
}
