//! A pull scanner over JSON bytes. It holds one buffer of its input at a time, so that a file of hundreds of megabytes
//! costs no more memory than what its reader keeps of it.

use std::io::Read;

/// No name is longer; what pretends to have one must not fill the memory.
const MAX_STRING: usize = 1 << 20;

/// No number that means anything is longer.
const MAX_WORD: usize = 1000;

/// Why scanning stopped: the byte offset, and what is wrong there.
#[derive(Debug)]
pub(crate) enum Fault {
    Io(std::io::Error),
    Syntax { offset: u64, message: String },
}

pub(crate) type Scan<T> = Result<T, Fault>;

/// The deepest nesting of a value that is skipped.
const DEEPEST: usize = 128;

const BUFFER: usize = 1 << 16;

pub(crate) struct Scanner<R> {
    reader: R,
    buffer: Vec<u8>,
    position: usize,
    filled: usize,
    /// Bytes before the buffer.
    before: u64,
}

impl<R: Read> Scanner<R> {
    pub(crate) fn new(reader: R) -> Self {
        Scanner { reader, buffer: vec![0; BUFFER], position: 0, filled: 0, before: 0 }
    }

    /// Calls `field` with each key of an object; it must consume the value.
    pub(crate) fn object<E: From<Fault>>(
        &mut self,
        mut field: impl FnMut(&mut Self, &str) -> Result<(), E>,
    ) -> Result<(), E> {
        self.expect(b'{')?;
        if self.accept(b'}')? {
            return Ok(());
        }
        let mut key = String::new();
        loop {
            self.string(&mut key)?;
            self.expect(b':')?;
            field(self, &key)?;
            if !self.accept(b',')? {
                return Ok(self.expect(b'}')?);
            }
        }
    }

    /// Calls `element` with each index of an array; it must consume the value.
    pub(crate) fn array<E: From<Fault>>(
        &mut self,
        mut element: impl FnMut(&mut Self, usize) -> Result<(), E>,
    ) -> Result<(), E> {
        self.expect(b'[')?;
        if self.accept(b']')? {
            return Ok(());
        }
        for index in 0.. {
            element(self, index)?;
            if !self.accept(b',')? {
                break;
            }
        }
        Ok(self.expect(b']')?)
    }

    /// An integer that fits 64 bits.
    pub(crate) fn integer(&mut self) -> Scan<i64> {
        let negative = self.token()? == Some(b'-');
        if negative {
            self.position += 1;
        }
        let first = self.peek()?;
        let mut value = 0i64;
        let mut digits = 0;
        // Negative numbers reach one further than positive ones, so digits are subtracted.
        while let Some(byte @ b'0'..=b'9') = self.peek()? {
            value = value
                .checked_mul(10)
                .and_then(|value| value.checked_sub(i64::from(byte - b'0')))
                .ok_or_else(|| self.fault("the number does not fit 64 bits"))?;
            digits += 1;
            self.position += 1;
        }
        if digits == 0 {
            return Err(self.unexpected("an integer"));
        }
        if first == Some(b'0') && digits > 1 {
            return Err(self.fault("a number does not start with 0"));
        }
        if let Some(b'.' | b'e' | b'E') = self.peek()? {
            return Err(self.fault("the number is not written as an integer"));
        }
        if negative {
            return Ok(value);
        }
        value.checked_neg().ok_or_else(|| self.fault("the number does not fit 64 bits"))
    }

    /// A string, into `text`.
    pub(crate) fn string(&mut self, text: &mut String) -> Scan<()> {
        text.clear();
        if self.token()? != Some(b'"') {
            return Err(self.unexpected("a string"));
        }
        self.position += 1;
        let mut bytes = Vec::new();
        loop {
            match self.next()? {
                None => return Err(self.fault("the string does not end")),
                Some(b'"') => break,
                Some(b'\\') => self.escape(&mut bytes)?,
                Some(0..0x20) => return Err(self.fault("a control character in a string")),
                Some(_) if bytes.len() == MAX_STRING => return Err(self.fault("the string is too long")),
                Some(byte) => bytes.push(byte),
            }
        }
        *text = String::from_utf8(bytes).map_err(|_| self.fault("the string is not UTF-8"))?;
        Ok(())
    }

    fn escape(&mut self, bytes: &mut Vec<u8>) -> Scan<()> {
        let byte = match self.next()? {
            Some(byte @ (b'"' | b'\\' | b'/')) => byte,
            Some(b'b') => 0x08,
            Some(b'f') => 0x0c,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => {
                let mut code = 0;
                for _ in 0..4 {
                    let digit = self.next()?.and_then(|byte| char::from(byte).to_digit(16));
                    code =
                        code * 16 + digit.ok_or_else(|| self.fault("\\u takes four hexadecimal digits"))?;
                }
                // Half of a surrogate pair stands for nothing by itself.
                let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
                bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            _ => return Err(self.fault("unknown escape in a string")),
        };
        bytes.push(byte);
        Ok(())
    }

    /// Skips a value of any kind.
    pub(crate) fn skip(&mut self) -> Scan<()> {
        self.skip_nested(0)
    }

    fn skip_nested(&mut self, depth: usize) -> Scan<()> {
        if depth > DEEPEST {
            return Err(self.fault(format!("values nest deeper than {DEEPEST}")));
        }
        match self.token()? {
            Some(b'{') => self.object(|scanner, _| scanner.skip_nested(depth + 1)),
            Some(b'[') => self.array(|scanner, _| scanner.skip_nested(depth + 1)),
            Some(b'"') => self.string(&mut String::new()),
            Some(b'-' | b'0'..=b'9' | b'a'..=b'z') => {
                let word = |byte| matches!(byte, b'-' | b'+' | b'.' | b'E' | b'0'..=b'9' | b'a'..=b'z');
                let mut text = String::new();
                while let Some(byte) = self.peek()?.filter(|&byte| word(byte)) {
                    if text.len() == MAX_WORD {
                        return Err(self.fault("the number is too long"));
                    }
                    text.push(char::from(byte));
                    self.position += 1;
                }
                let is_number = text.starts_with(['-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
                    && text.parse::<f64>().is_ok_and(f64::is_finite);
                if is_number || matches!(text.as_str(), "true" | "false" | "null") {
                    return Ok(());
                }
                Err(self.fault(format!("`{text}` is no value")))
            }
            _ => Err(self.unexpected("a value")),
        }
    }

    /// Nothing but white space may follow.
    pub(crate) fn end(&mut self) -> Scan<()> {
        match self.token()? {
            None => Ok(()),
            Some(_) => Err(self.unexpected("the end of the file")),
        }
    }

    fn expect(&mut self, byte: u8) -> Scan<()> {
        if self.accept(byte)? {
            return Ok(());
        }
        Err(self.unexpected(&format!("`{}`", char::from(byte))))
    }

    fn accept(&mut self, byte: u8) -> Scan<bool> {
        let found = self.token()? == Some(byte);
        self.position += usize::from(found);
        Ok(found)
    }

    /// The next byte that is not white space, not consumed.
    fn token(&mut self) -> Scan<Option<u8>> {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek()? {
            self.position += 1;
        }
        self.peek()
    }

    fn next(&mut self) -> Scan<Option<u8>> {
        let byte = self.peek()?;
        self.position += usize::from(byte.is_some());
        Ok(byte)
    }

    #[inline]
    fn peek(&mut self) -> Scan<Option<u8>> {
        if self.position < self.filled {
            return Ok(Some(self.buffer[self.position]));
        }
        self.refill()
    }

    #[cold]
    fn refill(&mut self) -> Scan<Option<u8>> {
        self.before += self.filled as u64;
        (self.position, self.filled) = (0, 0);
        loop {
            match self.reader.read(&mut self.buffer) {
                Ok(filled) => {
                    self.filled = filled;
                    return Ok(self.buffer[..filled].first().copied());
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Fault::Io(error)),
            }
        }
    }

    fn unexpected(&self, expected: &str) -> Fault {
        let found = match self.buffer[..self.filled].get(self.position) {
            None => "the file ends".to_owned(),
            Some(&byte) => format!("found `{}`", char::from(byte).escape_debug()),
        };
        self.fault(format!("expected {expected}, {found}"))
    }

    fn fault(&self, message: impl Into<String>) -> Fault {
        Fault::Syntax { offset: self.before + self.position as u64, message: message.into() }
    }
}
