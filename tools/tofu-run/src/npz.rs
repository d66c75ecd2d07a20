//! NumPy archives: zip files of arrays.

use std::io::{self, Cursor, Read, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use crate::npy::Array;

/// No archive is read that holds more than this, in bytes.
const MAX_BYTES: u64 = 1 << 36;

/// The arrays of an archive, in its order.
#[derive(Debug)]
pub struct Archive(Vec<(String, Array)>);

impl Archive {
    /// Reads an archive; or says why it is none.
    pub fn parse(bytes: &[u8]) -> Result<Archive, String> {
        let mut zip = ZipArchive::new(Cursor::new(bytes)).map_err(|error| error.to_string())?;
        let mut arrays = Vec::new();
        let mut left = MAX_BYTES;
        for number in 0..zip.len() {
            let file = zip.by_index(number).map_err(|error| error.to_string())?;
            let name = file.name().map_err(|error| error.to_string())?.into_owned();
            let mut bytes = Vec::new();
            // A few bytes may say that they are many; only so many are unpacked.
            let read =
                file.take(left + 1).read_to_end(&mut bytes).map_err(|error| format!("`{name}`: {error}"))?;
            left = left.checked_sub(read as u64).ok_or("it is too large")?;
            let array = Array::parse(&bytes).map_err(|reason| format!("`{name}`: {reason}"))?;
            arrays.push((name.strip_suffix(".npy").unwrap_or(&name).to_owned(), array));
        }
        Ok(Archive(arrays))
    }

    /// The array of a name.
    pub fn get(&self, name: &str) -> Option<&Array> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, array)| array)
    }

    /// All names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }
}

/// An archive of arrays, not compressed, as `numpy.savez` writes one. It holds no time, so that equal arrays make equal
/// files.
pub(crate) fn write(arrays: &[(String, Array)]) -> io::Result<Vec<u8>> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, array) in arrays {
        let bytes = array.write();
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .large_file(u32::try_from(bytes.len()).is_err());
        zip.start_file(format!("{name}.npy"), options)?;
        zip.write_all(&bytes)?;
    }
    Ok(zip.finish()?.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::npy::Kind;

    #[test]
    fn archives_are_read_back() {
        let array = |size, dims: &[u64], bytes: &[u8]| Array {
            kind: Kind::Float,
            size,
            dims: dims.to_vec(),
            bytes: bytes.to_vec(),
        };
        let arrays = [
            ("res0".to_owned(), array(4, &[2], &[0, 0, 128, 63, 0, 0, 0, 192])),
            ("res1".to_owned(), array(8, &[3, 0], &[])),
        ];
        let bytes = write(&arrays).unwrap();
        assert_eq!(bytes, write(&arrays).unwrap());
        let archive = Archive::parse(&bytes).unwrap();
        assert_eq!(archive.names().collect::<Vec<_>>(), ["res0", "res1"]);
        assert_eq!(archive.get("res0"), Some(&arrays[0].1));
        assert_eq!(archive.get("res1"), Some(&arrays[1].1));
        assert_eq!(archive.get("res2"), None);
    }

    /// Whatever is damaged is refused, and nothing panics.
    #[test]
    fn damaged_archives_are_refused() {
        let array = Array { kind: Kind::Signed, size: 4, dims: vec![2], bytes: vec![1; 8] };
        let bytes = write(&[("arg0".to_owned(), array)]).unwrap();
        assert!(Archive::parse(b"").is_err() && Archive::parse(b"PK\x03\x04").is_err());
        for length in 0..bytes.len() {
            assert!(Archive::parse(&bytes[..length]).is_err());
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x55;
            // Some bytes do not matter; the others are noticed.
            let _ = Archive::parse(&damaged);
        }
    }
}
