//! The ops by which programs of the StableHLO project say what they expect. They compute nothing; whoever runs such a
//! program compares.

use tofu_ir::{AttrClass, AttrData, DENSE, Dialect, INT, OpDef, op, optional, required, tensor};
use tofu_tdl::Undescribed;

const NUMBER: AttrClass = AttrClass {
    name: "a float",
    contains: |module, attr| matches!(module.attr_data(attr), AttrData::Float(..)),
};

const COMPARES: Undescribed = Undescribed("it computes nothing; it says what a value is to be");

/// The dialect of expectations.
pub static CHECK: Dialect = Dialect {
    name: "check",
    summary: "What programs expect of their own values.",
    ops: &[&EXPECT_ALMOST_EQ, &EXPECT_ALMOST_EQ_CONST, &EXPECT_CLOSE, &EXPECT_EQ, &EXPECT_EQ_CONST],
    types: &[],
    attributes: &[],
    constant: None,
};

macro_rules! expectations {
    ($($constant:ident = $name:literal, $summary:literal, $operands:literal,
        [$($operand:literal),*], [$($attribute:expr),*];)*) => {$(
        #[doc = concat!("`check.", $name, "`: ", $summary)]
        pub static $constant: OpDef = op(concat!("check.", $name))
            .summary($summary)
            .example(concat!("check.", $name, " ", $operands))
            .operands(&[$(tensor($operand)),*])
            .attributes(&[$($attribute),*])
            .interfaces(&[&COMPARES]);
    )*};
}

expectations! {
    EXPECT_ALMOST_EQ = "expect_almost_eq", "Expects two values to be equal but for a small difference.", "%x, %x",
        ["lhs", "rhs"], [optional("tolerance", NUMBER)];
    EXPECT_ALMOST_EQ_CONST = "expect_almost_eq_const", "Expects a value to be a constant but for a small difference.",
        "%x {value = dense<0.5> : tensor<4x8xf32>}", ["lhs"],
        [optional("tolerance", NUMBER), required("value", DENSE)];
    EXPECT_CLOSE = "expect_close", "Expects two values to be only so many units in the last place apart.",
        "%x, %x {max_ulp_difference = 3}", ["actual", "expected"],
        [optional("max_ulp_difference", INT), optional("min_ulp_difference", INT)];
    EXPECT_EQ = "expect_eq", "Expects two values to be equal.", "%x, %x", ["lhs", "rhs"], [];
    EXPECT_EQ_CONST = "expect_eq_const", "Expects a value to be a constant.",
        "%x {value = dense<0.5> : tensor<4x8xf32>}", ["lhs"], [required("value", DENSE)];
}
