//! Forms of one thing are one thing.

use tofu_dialect_stablehlo::ReadOptions;
use tofu_ir::AttrData;

use crate::support::{nameless, parse, read, testdata, text, through_tir, whole, write};

/// A program as JAX prints it and in the generic form is the same program.
#[test]
fn pretty_and_generic_forms_agree() {
    let [pretty, generic] =
        ["ops.mlir", "generic.mlir"].map(|name| read(&text(&testdata().join("stablehlo").join(name))));
    assert_eq!(nameless(&pretty), nameless(&generic));
}

/// The op in each line of a pair is the same.
#[test]
fn forms_of_one_op_agree() {
    let pairs = [
        (
            "%0 = stablehlo.reduce(%x init: %s) applies stablehlo.maximum across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>",
            "%0 = stablehlo.reduce(%x init: %s) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>\n reducer(%a: tensor<f32>, %b: tensor<f32>) {\n %1 = stablehlo.maximum %a, %b : tensor<f32>\n stablehlo.return %1 : tensor<f32>\n }",
        ),
        (
            "%0 = stablehlo.slice %x [1:3] : (tensor<4xf32>) -> tensor<2xf32>",
            "%0 = stablehlo.slice %x [1:3:1] : (tensor<4xf32>) -> tensor<2xf32>",
        ),
        (
            "%0 = stablehlo.select %p, %x, %x : tensor<4xi1>, tensor<4xf32>",
            "%0 = stablehlo.select %p, %x, %x : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
        ),
        (
            "%0 = stablehlo.add %x, %x : tensor<4xf32>",
            "%0 = stablehlo.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
        ),
        (
            "%0 = stablehlo.custom_call @\"f g\"(%x) {backend_config = \"\"} : (tensor<4xf32>) -> tensor<4xf32>",
            "%0 = \"stablehlo.custom_call\"(%x) {call_target_name = \"f g\", backend_config = \"\"} : (tensor<4xf32>) -> tensor<4xf32>",
        ),
        (
            "%0 = stablehlo.while(%a = %x) : tensor<4xf32> cond {\n %c = stablehlo.constant dense<false> : tensor<i1>\n stablehlo.return %c : tensor<i1>\n } do {\n stablehlo.return %a : tensor<4xf32>\n }",
            "%0 = \"stablehlo.while\"(%x) ({\n ^bb0(%a: tensor<4xf32>):\n %c = stablehlo.constant dense<false> : tensor<i1>\n stablehlo.return %c : tensor<i1>\n }, {\n ^bb0(%a: tensor<4xf32>):\n stablehlo.return %a : tensor<4xf32>\n }) : (tensor<4xf32>) -> tensor<4xf32>",
        ),
        (
            "%0 = stablehlo.compare NE, %x, %x, NOTYPE : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>",
            "%0 = \"stablehlo.compare\"(%x, %x) <{compare_type = #stablehlo<comparison_type NOTYPE>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>",
        ),
        (
            "%0 = stablehlo.compare NE, %x, %x, NOTYPE : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>",
            "%0 = stablehlo.compare NE, %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>",
        ),
        (
            "%$a-.1 = stablehlo.add %x, %x : tensor<4xf32>\n%0 = stablehlo.negate %$a-.1 : tensor<4xf32>",
            "%a = stablehlo.add %x, %x : tensor<4xf32>\n%b = stablehlo.negate %a : tensor<4xf32>",
        ),
        (
            "%0 = stablehlo.constant dense<[1, 1]> : tensor<2xi8>",
            "%0 = stablehlo.constant dense<\"0x0101\"> : tensor<2xi8>",
        ),
        (
            "%0 = stablehlo.convolution(%y, %y) dim_numbers = [0, b, f]x[i, o, 0]->[b, 0, f], window = {pad = [[1, 1]], reverse = [true]} {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x2x2xf32>, tensor<2x2x2xf32>) -> tensor<2x3x2xf32>",
            "%0 = \"stablehlo.convolution\"(%y, %y) <{dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 1, input_feature_dimension = 2, input_spatial_dimensions = [0], kernel_input_feature_dimension = 0, kernel_output_feature_dimension = 1, kernel_spatial_dimensions = [2], output_batch_dimension = 0, output_feature_dimension = 2, output_spatial_dimensions = [1]>, padding = dense<1> : tensor<1x2xi64>, window_reversal = array<i1: true>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<2x2x2xf32>, tensor<2x2x2xf32>) -> tensor<2x3x2xf32>",
        ),
    ];
    for (one, other) in pairs {
        let [one, other] = [one, other].map(|op| {
            read(&format!(
                "func.func @f(%x: tensor<4xf32>, %s: tensor<f32>, %p: tensor<4xi1>, %y: tensor<2x2x2xf32>) {{\n{op}\nreturn\n}}\n"
            ))
        });
        assert_eq!(nameless(&one), nameless(&other), "{}", write(&one));
        assert_eq!(whole(&through_tir(&one)), whole(&one));
        assert_eq!(nameless(&read(&write(&one))), nameless(&one), "{}", write(&one));
    }
}

/// A program whose names of arguments differ between the regions of a loop keeps its meaning.
#[test]
fn loops_name_their_arguments_twice() {
    let module = read(
        "func.func @f(%x: tensor<i1>) -> tensor<i1> {
           %0 = \"stablehlo.while\"(%x) ({
           ^bb0(%a: tensor<i1>):
             stablehlo.return %a : tensor<i1>
           }, {
           ^bb0(%b: tensor<i1>):
             %a = stablehlo.not %b : tensor<i1>
             stablehlo.return %a : tensor<i1>
           }) : (tensor<i1>) -> tensor<i1>
           return %0 : tensor<i1>
         }",
    );
    assert_eq!(whole(&read(&write(&module))), whole(&module));
}

/// JAX ends some functions with the terminator of regions.
#[test]
fn functions_end_in_return() {
    let of = |end: &str| {
        read(&format!(
            "func.func @f(%x: tensor<1xf32>, %s: tensor<f32>) -> tensor<f32> {{
               %0 = stablehlo.reduce(%x init: %s) across dimensions = [0] : (tensor<1xf32>, tensor<f32>) -> tensor<f32>
                reducer(%a: tensor<f32>, %b: tensor<f32>) {{
                 stablehlo.return %a : tensor<f32>
               }}
               {end} %0 : tensor<f32>
             }}"
        ))
    };
    assert_eq!(whole(&of("stablehlo.return")), whole(&of("return")));
}

/// A mistake is shown in the text, and carries the framework's name for the op.
#[test]
fn diagnostics_name_what_the_framework_named() {
    let text = "func.func @f(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  %0 = stablehlo.add %x, %y : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32> loc(#loc1)
  return
}
#loc = loc(\"model.py\":10:7 to 12:1)
#loc1 = loc(\"jit(f)/add\"(#loc))
";
    let parsed = parse(text, ReadOptions::default());
    let [found] = &parsed.diagnostics[..] else { panic!("{:?}", parsed.diagnostics) };
    assert_eq!(found.notes, ["the op comes from \"jit(f)/add\"(\"model.py\":10:7)"]);
    let span = found.primary.span;
    assert_eq!(&text[span.start as usize - 1..span.end as usize - 1], "%y");
}

/// What nothing knows is the same text again.
#[test]
fn unknown_things_are_written_as_they_were() {
    let ops = "    %0, %1 = \"other.op\"(%x) <{a = array<i64: 1, 2>, b = #other<kind \"a>b\" [1]>, c = !other.type<4, -> x>}> ({\n    \
               ^bb0(%y: !other.handle):\n      \"other.end\"(%y) : (!other.handle) -> ()\n    }, {\n    ^bb0:\n    }) : (tensor<4xf32>) \
               -> (tensor<*xf32>, vector<4xf32>)\n";
    let text = format!("module {{\n  func.func @f(%x: tensor<4xf32>) {{\n{ops}    return\n  }}\n}}\n");
    let parsed = parse(&text, ReadOptions { allow_unregistered: true });
    assert!(parsed.is_ok(), "{:?}", parsed.diagnostics);
    assert_eq!(write(&parsed.module), text);
    assert_eq!(whole(&through_tir(&parsed.module)), whole(&parsed.module));
    let refused = parse(&text, ReadOptions::default());
    let ids: Vec<&str> = refused.diagnostics.iter().map(|found| found.code.id).collect();
    assert_eq!(ids, ["T0202", "T0204", "T0203", "T0203", "T0202", "T0203", "T0203", "T0203"]);
}

/// `f32` written in decimal, which is read as an `f64` first, has the same bits again.
#[test]
fn floats_are_written_exactly() {
    let mut rng = fastrand::Rng::with_seed(1);
    for _ in 0..200 {
        let bits: Vec<u32> = (0..8).map(|_| rng.u32(..)).collect();
        let hex: String =
            bits.iter().flat_map(|bits| bits.to_le_bytes()).map(|byte| format!("{byte:02X}")).collect();
        let text = format!(
            "func.func @f() {{\n%0 = stablehlo.constant dense<\"0x{hex}\"> : tensor<8xf32>\nreturn\n}}\n"
        );
        let module = read(&text);
        let written = write(&module);
        assert!(!written.contains("\"0x"), "{written}");
        assert_eq!(whole(&read(&written)), whole(&module), "{written}");
    }
}

/// Large constants are hexadecimal, of any element type but booleans.
#[test]
fn large_constants_are_bytes() {
    let values: Vec<String> = (0..100).map(|value| value.to_string()).collect();
    let text = format!(
        "func.func @f() {{\n%0 = stablehlo.constant dense<[{}]> : tensor<100xi16>\nreturn\n}}\n",
        values.join(", ")
    );
    let module = read(&text);
    let written = write(&module);
    assert!(written.contains("dense<\"0x000001000200"), "{written}");
    assert_eq!(whole(&read(&written)), whole(&module));
}

/// MLIR's integers have no sign: a number is what has its bits.
#[test]
fn integers_may_be_written_without_their_sign() {
    let of = |number: &str| read(&format!("module attributes {{mhlo.n = {number}}} {{\n}}\n"));
    for (one, other) in [
        ("255 : i8", "-1 : i8"),
        ("128 : i8", "-128 : i8"),
        ("15 : i4", "-1 : i4"),
        ("18446744073709551615 : i64", "-1 : i64"),
        ("-1 : i1", "1 : i1"),
    ] {
        assert_eq!(whole(&of(one)), whole(&of(other)), "{one}");
    }
    for wrong in ["256 : i8", "-129 : i8", "-2 : i1", "256 : ui8", "-1 : ui8"] {
        let parsed =
            parse(&format!("module attributes {{mhlo.n = {wrong}}} {{\n}}\n"), ReadOptions::default());
        assert!(!parsed.is_ok(), "{wrong}");
    }
}

/// So is one in a constant. A number that no bits of the type are is shown where it stands, whatever stands before it.
#[test]
fn elements_may_be_written_without_their_sign() {
    let text =
        |value: &str| format!("func.func @f() {{\n%0 = stablehlo.constant dense<{value}\nreturn\n}}\n");
    for (one, other) in [
        ("255> : tensor<i8>", "-1> : tensor<i8>"),
        ("[[128, 0], [-128, 127]]> : tensor<2x2xi8>", "[[-128, 0], [-128, 127]]> : tensor<2x2xi8>"),
        ("[15, 7]> : tensor<2xi4>", "[-1, 7]> : tensor<2xi4>"),
        ("18446744073709551615> : tensor<i64>", "-1> : tensor<i64>"),
        ("-1> : tensor<i1>", "true> : tensor<i1>"),
    ] {
        assert_eq!(whole(&read(&text(one))), whole(&read(&text(other))), "{one}");
    }
    for (value, shown) in [
        ("256> : tensor<i8>", "256"),
        ("[255, 128, 256]> : tensor<3xi8>", "256"),
        ("[[200, 1], [254, -129]]> : tensor<2x2xi8>", "-129"),
        ("[-1, 3]> : tensor<2xi1>", "3"),
        ("[1, -1]> : tensor<2xui8>", "-1"),
        ("[255, 1.5]> : tensor<2xi8>", "1.5"),
    ] {
        let text = text(value);
        let parsed = parse(&text, ReadOptions::default());
        let [found] = &parsed.diagnostics[..] else { panic!("{value}: {:?}", parsed.diagnostics) };
        let span = found.primary.span;
        assert_eq!(&text[span.start as usize - 1..span.end as usize - 1], shown, "{value}");
    }
}

/// Attributes of MLIR's own that mean nothing here come back as they were, without being asked for.
#[test]
fn builtin_attributes_are_kept() {
    let attributes = "mhlo.a = strided<[2, ?], offset: 3>, mhlo.b = distinct[0]<42 : i32>, mhlo.c = loc(callsite(\"a#b\"(\"f.py\":1:2) \
                      at fused<\"x\">[unknown])), mhlo.d = affine_map<(d0) -> (d0)>, mhlo.e = distinct[1]<>";
    let text = format!("module attributes {{{attributes}}} {{\n}}\n");
    let module = read(&text);
    assert_eq!(write(&module), text);
    assert_eq!(whole(&through_tir(&module)), whole(&module));
    for broken in [
        "loc(#a)",
        "distinct[0]<#a>",
        "strided<[2",
        "distinct[0",
        "distinct[é",
        "loc(callsite(\"a\"))",
        "loc(fused[\"a\"",
    ] {
        let text = format!("module attributes {{mhlo.a = {broken}}} {{\n}}\n#a = loc(\"x\")\n");
        assert!(!parse(&text, ReadOptions::default()).is_ok(), "{broken}");
    }
}

/// Locations of all kinds are the same after a way through either text.
#[test]
fn locations_come_back() {
    for location in [
        "callsite(\"a\"(\"f.py\":1:2) at \"g.py\":3:4)",
        "fused[\"a\", \"f.py\":1:2]",
        "\"a\"(callsite(\"b\" at fused[\"c\", unknown]))",
        "\"a\"(\"b\"(\"f.py\":1:2))",
        "fused<{a = [1, \"x\"], b = 3 : i8, c = dense<1.5> : tensor<2xf32>}>[\"a\", fused<#stablehlo<precision HIGH>>[]]",
    ] {
        let of = |location: &str| {
            read(&format!(
                "func.func @f(%x: tensor<f32>) {{\n%0 = stablehlo.negate %x : tensor<f32> loc({location})\nreturn\n}}\n"
            ))
        };
        let module = of(location);
        assert_eq!(whole(&read(&write(&module))), whole(&module), "{location}");
        assert_eq!(whole(&through_tir(&module)), whole(&module), "{location}");
        assert_ne!(whole(&of("unknown")), whole(&module), "{location}");
        let described = location.replace("fused[", "fused<{a = 1}>[");
        assert_eq!(whole(&of(&described)) == whole(&module), described == location, "{location}");
    }
}

/// A constant that was left out when it was printed, and the alignment at the head of a resource.
#[test]
fn resources_are_constants() {
    let module = read(
        "func.func @f() {\n%0 = stablehlo.constant dense_resource<a.b> : tensor<2xi16>\nreturn\n}\n{-#\n  dialect_resources: {\n    \
         builtin: {\n      \"a.b\": \"0x0200000001000200\"\n    }\n  }\n#-}\n",
    );
    let constant = module.walk(module.root()).find(|&op| module.def(op).name == "tensor.constant").unwrap();
    let Some(AttrData::Dense(dense)) = module.attr_value(constant, "value") else { panic!("it has a value") };
    let element = |index| dense.data.element(index, tofu_ir::ElementType::I16).unwrap();
    assert_eq!((element(0), element(1)), (&[1, 0][..], &[2, 0][..]));
}
