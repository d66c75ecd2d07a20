//! NumPy arrays as files.
//!
//! `\x93NUMPY`, the version, the length of the header, the header, the elements. The header is a Python dictionary,
//! `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`. (NumPy Enhancement Proposal 1, and
//! `numpy.lib.format` for the later versions, which differ in the length and in the encoding.)

use std::fmt;

/// The elements of one array.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Array {
    pub(crate) kind: Kind,
    /// The bytes of an element.
    pub(crate) size: usize,
    pub(crate) dims: Vec<u64>,
    /// Row-major, little endian.
    pub(crate) bytes: Vec<u8>,
}

/// What elements are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Bool,
    Signed,
    Unsigned,
    Float,
    Complex,
}

const MAGIC: &[u8] = b"\x93NUMPY";

impl Kind {
    /// The letter of a kind in a header.
    fn letter(self) -> char {
        match self {
            Kind::Bool => 'b',
            Kind::Signed => 'i',
            Kind::Unsigned => 'u',
            Kind::Float => 'f',
            Kind::Complex => 'c',
        }
    }

    fn of_letter(letter: char) -> Option<Kind> {
        [Kind::Bool, Kind::Signed, Kind::Unsigned, Kind::Float, Kind::Complex]
            .into_iter()
            .find(|kind| kind.letter() == letter)
    }

    fn sizes(self) -> &'static [usize] {
        match self {
            Kind::Bool => &[1],
            Kind::Signed | Kind::Unsigned => &[1, 2, 4, 8],
            Kind::Float => &[2, 4, 8],
            Kind::Complex => &[8, 16],
        }
    }

    /// NumPy's name for elements of so many bytes.
    pub(crate) fn name(self, size: usize) -> String {
        match self {
            Kind::Bool => "bool".to_owned(),
            Kind::Signed => format!("int{}", 8 * size),
            Kind::Unsigned => format!("uint{}", 8 * size),
            Kind::Float => format!("float{}", 8 * size),
            Kind::Complex => format!("complex{}", 8 * size),
        }
    }
}

/// Extents as NumPy writes a shape.
pub(crate) fn shape(dims: &[impl fmt::Display]) -> String {
    match dims {
        [only] => format!("({only},)"),
        _ => format!("({})", dims.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
    }
}

impl Array {
    /// Reads a file; or says what is wrong with it.
    pub(crate) fn parse(file: &[u8]) -> Result<Array, String> {
        let rest = file.strip_prefix(MAGIC).ok_or("it is no NumPy array")?;
        let (header, elements) = match *rest {
            [1, _, a, b, ref rest @ ..] => rest.split_at_checked(usize::from(u16::from_le_bytes([a, b]))),
            [2 | 3, _, a, b, c, d, ref rest @ ..] => {
                rest.split_at_checked(u32::from_le_bytes([a, b, c, d]) as usize)
            }
            _ => return Err("it is of an unknown version".to_owned()),
        }
        .ok_or("its header is cut off")?;
        let header = String::from_utf8_lossy(header);
        let missing = |key: &str| format!("its header lacks `{key}`");
        let descr = entry(&header, "descr").ok_or_else(|| missing("descr"))?;
        let is_fortran = entry(&header, "fortran_order").ok_or_else(|| missing("fortran_order"))?;
        let dims = entry(&header, "shape").ok_or_else(|| missing("shape"))?;
        let (kind, size, is_big) = element(descr).ok_or_else(|| {
            format!("elements of the type {} are not supported", descr.split(", 'f").next().unwrap_or(descr))
        })?;
        let dims = dims
            .trim_start_matches('(')
            .split(')')
            .next()
            .unwrap_or("")
            .split(',')
            .map(str::trim)
            .filter(|dim| !dim.is_empty())
            .map(|dim| dim.parse::<u64>().map_err(|_| format!("`{dim}` is no extent")))
            .collect::<Result<Vec<u64>, String>>()?;
        let expected = dims.iter().try_fold(size as u64, |bytes, &dim| bytes.checked_mul(dim));
        if expected != Some(elements.len() as u64) {
            return Err(format!(
                "{} bytes are not the elements of an array {}",
                elements.len(),
                shape(&dims)
            ));
        }
        let mut array = Array { kind, size, dims, bytes: elements.to_vec() };
        if is_big {
            let part = if kind == Kind::Complex { size / 2 } else { size };
            array.bytes.chunks_exact_mut(part).for_each(<[u8]>::reverse);
        }
        if is_fortran.starts_with("True") {
            array.bytes = row_major(&array);
        }
        Ok(array)
    }

    /// The array as a file of version 1.0.
    pub(crate) fn write(&self) -> Vec<u8> {
        let order = if self.size == 1 { '|' } else { '<' };
        let descr = format!("{order}{}{}", self.kind.letter(), self.size);
        let mut header =
            format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {}, }}", shape(&self.dims));
        // The elements start at a multiple of 64 bytes.
        let unpadded = MAGIC.len() + 4 + header.len() + 1;
        header.extend(std::iter::repeat_n(' ', unpadded.next_multiple_of(64) - unpadded));
        header.push('\n');
        let mut file = MAGIC.to_vec();
        file.extend([1, 0]);
        file.extend((header.len() as u16).to_le_bytes());
        file.extend(header.as_bytes());
        file.extend(&self.bytes);
        file
    }

    /// For messages: `float32 (2, 3)`.
    pub(crate) fn text(&self) -> String {
        format!("{} {}", self.kind.name(self.size), shape(&self.dims))
    }
}

/// What follows a key in a header.
fn entry<'h>(header: &'h str, key: &str) -> Option<&'h str> {
    let at = header.find(&format!("'{key}'"))?;
    header[at..].split_once(':').map(|(_, rest)| rest.trim_start())
}

/// The kind and size of elements, and whether their bytes are in big-endian order.
fn element(descr: &str) -> Option<(Kind, usize, bool)> {
    let mut text = descr.strip_prefix('\'')?.split('\'').next()?.chars();
    let is_big = match text.next()? {
        '<' | '|' | '=' => false,
        '>' => true,
        _ => return None,
    };
    let kind = Kind::of_letter(text.next()?)?;
    let size = text.as_str().parse().ok().filter(|size| kind.sizes().contains(size))?;
    Some((kind, size, is_big))
}

/// The elements of an array whose first index runs fastest, in row-major order.
fn row_major(array: &Array) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(array.bytes.len());
    let mut index = vec![0u64; array.dims.len()];
    for _ in 0..array.bytes.len() / array.size {
        let at = index.iter().zip(&array.dims).rev().fold(0, |at, (index, dim)| at * dim + index) as usize;
        bytes.extend(&array.bytes[at * array.size..(at + 1) * array.size]);
        for (index, dim) in index.iter_mut().zip(&array.dims).rev() {
            *index += 1;
            if *index < *dim {
                break;
            }
            *index = 0;
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, elements: &[u8]) -> Vec<u8> {
        let mut file = MAGIC.to_vec();
        file.extend([1, 0]);
        file.extend((header.len() as u16).to_le_bytes());
        file.extend(header.as_bytes());
        file.extend(elements);
        file
    }

    #[test]
    fn arrays_are_read_back() {
        for (kind, size) in [(Kind::Bool, 1), (Kind::Signed, 8), (Kind::Float, 2), (Kind::Complex, 16)] {
            for dims in [vec![], vec![3], vec![2, 0], vec![2, 3, 1]] {
                let count = dims.iter().product::<u64>() as usize;
                let array =
                    Array { kind, size, dims, bytes: (0..count * size).map(|byte| byte as u8).collect() };
                let file = array.write();
                assert_eq!((file.len() - array.bytes.len()) % 64, 0);
                assert_eq!(Array::parse(&file), Ok(array));
            }
        }
    }

    #[test]
    fn other_orders_are_brought_into_ours() {
        let header = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }";
        let array = Array::parse(&file(header, &[0, 1, 0, 4, 0, 2, 0, 5, 0, 3, 0, 6])).unwrap();
        assert_eq!(array.bytes, [1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0]);
        assert_eq!((array.text(), array.dims), ("int16 (2, 3)".to_owned(), vec![2, 3]));
    }

    #[test]
    fn what_no_tensor_holds_is_refused() {
        let with = |descr: &str, shape: &str, elements: &[u8]| {
            let header = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}");
            Array::parse(&file(&header, elements)).unwrap_err()
        };
        assert_eq!(with("'|O'", "(1,)", &[0; 8]), "elements of the type '|O' are not supported");
        assert_eq!(
            with("[('x', '<f4')]", "(1,)", &[0; 4]),
            "elements of the type [('x', '<f4')] are not supported"
        );
        assert_eq!(with("'<f4'", "(2, 2)", &[0; 12]), "12 bytes are not the elements of an array (2, 2)");
        assert_eq!(
            with("'<f4'", "(18446744073709551615, 9)", &[]),
            "0 bytes are not the elements of an array (18446744073709551615, 9)"
        );
        assert_eq!(with("'<f4'", "(-1,)", &[]), "`-1` is no extent");
        assert_eq!(Array::parse(b"\x93NUMPY\x09\x00"), Err("it is of an unknown version".to_owned()));
    }
}
