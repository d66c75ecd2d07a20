//! MiniMalloc's instances, of which most leave no byte free at their peaks.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use tofu_allocator::{Options, Problem, allocate, check, read_csv};

#[test]
fn everything_fits_into_its_capacity() {
    for name in ["A", "B", "C", "D", "E", "F", "G", "H"] {
        let path = format!("../../testdata/allocator/minimalloc-{name}.1048576.csv.gz");
        let file = File::open(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
        let mut text = String::new();
        flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
        let buffers = read_csv(&text).unwrap().into_iter().map(|(_, buffer)| buffer).collect();
        let problem = Problem::new(buffers, Some(1_048_576));
        let found = allocate(&problem, &Options::default(), &mut || true).unwrap();
        assert_eq!(check(&problem, &found.offsets, &[1_048_576]), Ok(()), "{name}");
    }
}
