//! Every kind of diagnostic there is.
//!
//! `T01xx` is about text, `T02xx` about the program that it says, `T03xx` about passes and pipelines, `T04xx` about
//! files and options, `T05xx` about descriptions of operators, `T06xx` about running programs, `T07xx` about machines,
//! meshes and shardings, `T08xx` about partitioning and memory. An id is never given a second meaning; a new kind takes the next
//! free one of its range.

use crate::Code;

/// All codes, by their ids.
pub fn all() -> &'static [&'static Code] {
    ALL
}

/// The code with this id, in upper or lower case.
pub fn find(id: &str) -> Option<&'static Code> {
    ALL.iter().copied().find(|code| code.id.eq_ignore_ascii_case(id))
}

/// Defines the codes and the table of them; the explanation of `T0101` stands in `explanations/T0101.md`.
macro_rules! codes {
    ($($name:ident = $id:literal, $title:literal;)*) => {
        $(
            #[doc = concat!("`", $id, "`: ", $title, ".")]
            pub static $name: Code =
                Code { id: $id, title: $title, explanation: include_str!(concat!("explanations/", $id, ".md")) };
        )*
        static ALL: &[&Code] = &[$(&$name),*];
    };
}

codes! {
    SYNTAX = "T0101", "unexpected text";
    UNTERMINATED = "T0102", "unterminated string, bracket or body";
    NESTING_TOO_DEEP = "T0103", "text nested too deeply";
    INVALID_UTF8 = "T0104", "file that is not UTF-8";
    BAD_LITERAL = "T0105", "number or constant that does not fit its type";
    BAD_CONSTANT_SHAPE = "T0106", "constant whose lists do not have the shape of its type";
    ELIDED_CONSTANT = "T0107", "constant whose values were left out";
    FILE_TOO_LARGE = "T0108", "file too large";
    NOT_EXPRESSIBLE = "T0109", "program that another language cannot say";

    UNKNOWN_OP = "T0201", "unknown op";
    UNKNOWN_DIALECT = "T0202", "unknown dialect";
    UNKNOWN_TYPE = "T0203", "unknown type";
    UNKNOWN_ATTRIBUTE = "T0204", "unknown attribute";
    UNDEFINED_VALUE = "T0205", "value that is not defined";
    REDEFINED_VALUE = "T0206", "value defined twice";
    UNDEFINED_BLOCK = "T0207", "block that is not defined";
    REDEFINED_BLOCK = "T0208", "block defined twice";
    UNDEFINED_SYMBOL = "T0209", "symbol that is not defined";
    REDEFINED_SYMBOL = "T0210", "symbol defined twice";
    WRONG_OPERAND_COUNT = "T0211", "wrong number of operands";
    WRONG_RESULT_COUNT = "T0212", "wrong number of results";
    WRONG_OPERAND_TYPE = "T0213", "operand of a type that the op does not take";
    WRONG_RESULT_TYPE = "T0214", "written result type that is not the op's";
    CANNOT_INFER_TYPE = "T0215", "result type that is neither written nor follows";
    MISSING_ATTRIBUTE = "T0216", "missing attribute";
    WRONG_ATTRIBUTE = "T0217", "attribute of the wrong kind or value";
    WRONG_REGIONS = "T0218", "wrong regions";
    MISSING_TERMINATOR = "T0219", "block without a terminator";
    MISPLACED_TERMINATOR = "T0220", "terminator before the end of its block";
    NOT_DOMINATED = "T0221", "value used before its definition";
    ISOLATION = "T0222", "value from outside an isolated op";
    WRONG_BLOCK_ARGUMENTS = "T0223", "wrong arguments for a block";
    TENSOR_TOO_LARGE = "T0224", "tensor too large";
    SHAPE_MISMATCH = "T0225", "operands whose shapes disagree";
    WRONG_SIGNATURE = "T0226", "function type that disagrees with its body or its call";
    WRONG_PARENT = "T0227", "op where it may not stand";
    DUPLICATE_ATTRIBUTE = "T0228", "attribute written twice";
    MALFORMED_IR = "T0229", "inconsistent internal links";
    WRONG_SUCCESSORS = "T0230", "wrong number of successors";

    UNKNOWN_PASS = "T0301", "unknown pass";
    UNKNOWN_PASS_OPTION = "T0302", "unknown pass option";
    BAD_OPTION_VALUE = "T0303", "bad value for an option";
    BAD_PIPELINE = "T0304", "malformed pipeline";
    ANCHOR_MISMATCH = "T0305", "pass under an anchor that it does not work on";
    ANCHOR_MATCHES_NOTHING = "T0306", "anchor that matches nothing";
    PASS_PANICKED = "T0307", "pass that panicked";
    NOT_CONVERGED = "T0308", "canonicalization without a fixed point";
    INVALID_AFTER_PASS = "T0309", "invalid program after a pass";
    WRONG_CHANGE_REPORT = "T0310", "change that a pass did not report";
    CANCELLED = "T0311", "cancelled";
    ROUNDTRIP = "T0312", "printed text that does not read back as the same module";
    TOO_MANY_OPS = "T0313", "program that a pass would make too large";

    CANNOT_READ = "T0401", "file that cannot be read";
    CANNOT_WRITE = "T0402", "file that cannot be written";
    WRONG_USAGE = "T0403", "wrong use of the command line";
    UNEXPECTED_DIAGNOSTIC = "T0404", "diagnostic that no comment expects";
    MISSING_DIAGNOSTIC = "T0405", "expected diagnostic that did not come";
    BAD_EXPECTATION = "T0406", "malformed expectation";
    BAD_REPRODUCER = "T0407", "file that is not a reproducer";
    UNSUPPORTED_FORMAT = "T0408", "format that is not supported";

    TDL_UNKNOWN_NAME = "T0501", "unknown name in a description";
    TDL_REDEFINED = "T0502", "name defined twice in a description";
    TDL_NOT_AFFINE = "T0503", "index that is not quasi-affine";
    TDL_OUT_OF_BOUNDS = "T0504", "access that may leave its tensor";
    TDL_TYPE = "T0505", "element types that do not fit";
    TDL_WRONG_RANK = "T0506", "wrong number of indices or arguments";
    TDL_RECURSION = "T0507", "description that uses itself";
    TDL_NO_RANGE = "T0508", "index whose range does not follow";
    TDL_UNSOLVED_EXTENT = "T0509", "extent that follows neither from operands nor from results";
    TDL_UNKNOWN_OPAQUE = "T0510", "unknown opaque function, or a wrong use of one";
    TDL_WRONG_REDUCER = "T0511", "reducer that does not fit what it reduces";
    TDL_MISSING_DEFINITION = "T0512", "result that is not defined";
    TDL_REGION = "T0513", "region that is no function of single elements";
    TDL_UNSATISFIABLE = "T0514", "shapes that no extents satisfy";

    CANNOT_RUN = "T0601", "op that cannot be run";
    EXECUTION_FAILED = "T0602", "op that failed when it was run";
    CALL_DEPTH = "T0603", "calls nested too deeply";
    NO_ENTRY = "T0604", "no function to run";
    WRONG_ARGUMENTS = "T0605", "arguments that do not fit the function that is run";
    BAD_ARRAYS = "T0606", "file of arrays that cannot be read";
    RESULTS_DIFFER = "T0607", "results that are not the expected ones";
    DEVICES_DIVERGE = "T0608", "devices that go different ways";
    TRAFFIC_DIFFERS = "T0609", "traffic that is not the planned one";

    UNKNOWN_MACHINE = "T0701", "unknown machine";
    MACHINE_ENTRY = "T0702", "unknown or missing entry of a machine";
    MACHINE_VALUE = "T0703", "value of a machine that cannot be read";
    MACHINE_CONTRADICTION = "T0704", "numbers of a machine that contradict";
    WRONG_MESH = "T0705", "mesh whose axes contradict";
    UNKNOWN_AXIS = "T0706", "axis that the mesh does not have";
    WRONG_SHARDING = "T0707", "sharding that does not fit its mesh or its tensor";
    UNDECLARED_PADDING = "T0708", "uneven sharding without declared padding";

    CANNOT_PARTITION = "T0801", "program that cannot be partitioned";
    WRONG_CONSTRAINT = "T0802", "constraint that no plan can keep";
    OVER_MEMORY_LIMIT = "T0803", "memory limit that no plan keeps";
    CANNOT_PLAN = "T0804", "function whose memory cannot be planned";
    UNKNOWN_TRIP_COUNT = "T0805", "loop that runs an unknown number of times";
    CANNOT_COMMUNICATE = "T0806", "program that cannot be written for each device";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_ascending() {
        assert!(all().is_sorted_by(|a, b| a.id < b.id));
        for code in all() {
            let digits = code.id.strip_prefix('T').unwrap();
            assert!(digits.len() == 4 && digits.bytes().all(|digit| digit.is_ascii_digit()), "{}", code.id);
        }
    }

    #[test]
    fn titles_are_phrases() {
        for Code { id, title, .. } in all() {
            assert!(!title.is_empty() && !title.ends_with('.') && !title.contains('\n'), "{id}: {title}");
        }
    }

    #[test]
    fn explanations_say_something_and_show_it() {
        for Code { id, explanation, .. } in all() {
            let fences: Vec<&str> = explanation.lines().filter_map(|line| line.strip_prefix("```")).collect();
            let (opening, closing): (Vec<_>, Vec<_>) =
                fences.iter().enumerate().partition(|(index, _)| index % 2 == 0);
            assert_eq!(opening.len(), closing.len(), "{id}: a fence is left open");
            assert!(closing.iter().all(|(_, language)| language.is_empty()), "{id}: a fence is left open");
            for (_, language) in opening {
                assert!(matches!(*language, "tir" | "console" | "text"), "{id}: a block of `{language}`");
            }
            assert!(!fences.is_empty() || matches!(*id, "T0229" | "T0311"), "{id} has no example");
            assert!(explanation.len() > 80 && explanation.ends_with('\n'), "{id} says too little");
            assert!(explanation.lines().all(|line| line.chars().count() <= 90), "{id} has a long line");
        }
    }

    #[test]
    fn codes_are_found_by_id() {
        assert!(std::ptr::eq(find("t0101").unwrap(), &SYNTAX));
        assert!(find("T0199").is_none() && find("").is_none());
    }
}
