//! What the text means, by example.

use crate::dialect::module;
use tofu_ir::{Compared, digest};
use tofu_syntax::{PrintOptions, print};

/// Printed in the pretty form, `text` comes out as it is; in the generic form it means the same.
#[track_caller]
fn check(text: &str) {
    let parsed = module(text);
    let pretty = print(&parsed, &PrintOptions { locations: true, ..PrintOptions::default() });
    assert_eq!(pretty, text);
    let generic = print(&parsed, &PrintOptions { generic: true, locations: true, ..PrintOptions::default() });
    let again = module(&generic);
    let compared = Compared { names: true, locations: true };
    assert_eq!(digest(&again, again.root(), compared), digest(&parsed, parsed.root(), compared), "{generic}");
}

#[test]
fn functions() {
    check(
        "module @m {
  func @f(%x: tensor<4x{batch}x?xf32> {a = 1}, %y: token) -> (f32 {b}, (f32) -> i1) attributes {a = [1, 2]} {
    test.end
  }
  func @declared(%0: f32)
  func @returns(%0: f32) -> f32
}
",
    );
}

#[test]
fn comments_stand_wherever_blanks_do() {
    let text = "
        module
        @m { func @f ( %x : tensor<4xf32> { a = 1 , b } ) -> ( f32 { a } , f32 ) attributes { a = [ 1 , true ] } {
        %a , %b = test.split %x : tensor<4xf32> , tensor<4xf32>
        %c = test.add ( %a , %b ) : tensor<4xf32>
        \"test.any\" ( %a , %c ) { a = { c = [ 1 ] x [ 2 ] } , b = 3 : i8 } : ( f32 , f32 )
        test.call @f ( %a ) { a = dense <1.0> : tensor<4xf32> } : tuple<f32,token> loc ( \"a\" : 1 : 2 )
        test.end %a [ ^b ( %a , %b ) , ^c ]
        ^b ( %d : tensor<4xf32> , %e : tensor<4xf32> ) :
        test.end
        ^c : test.end
        } }";
    let commented = text.replace(' ', " // a, %b {c = (\n");
    let (plain, commented) = (module(text), module(&commented));
    let text = |module| print(module, &PrintOptions { locations: true, ..PrintOptions::default() });
    assert_eq!(text(&plain), text(&commented));
}

#[test]
fn definitions() {
    check(
        "module @m {
  define @empty = []
  define @\"odd name\" = [1, 2] attributes {a = #test.list<3>} loc(\"f.py\":1:2)
  define @deep = [\"]\", #test.list<[], {}>]
  \"test.define\"() {list = [1], sym_name = @no_definition} : ()
}
",
    );
    let generic = PrintOptions { generic: true, ..PrintOptions::default() };
    let text = print(&module("define @d = [1, 2]"), &generic);
    assert!(text.contains("\"test.define\"() {list = #test.list<1, 2>, sym_name = @d} : ()"), "{text}");
}

#[test]
fn text_in_other_languages() {
    check(
        "module @m {
  text @plain {}
  text @nested(a, b) -> c {
    { } // a brace that does not count: }
  \"another: }\" [ (
  } loc(\"f.py\":1:2)
  text @\"odd name\" \" {
func @deeper is part of the text, as is a quote that nothing closes}
  \"test.text\"() {a, sym_name = @more, words = \" {}\"} : ()
}
"
        .replace("func @deeper", "    func @deeper")
        .as_str(),
    );
    let ends = |text: &str| module(text).ops(module(text).body()).count();
    assert_eq!(ends("text @a { } text @b{}text @c\n{\n}"), 3);
}

#[test]
fn ops() {
    check(
        "module {
  func @f(%x: tensor<4xf32>) {
    %a = test.add %x, %x : tensor<4xf32>
    %b, %c = test.any %a {a = 1, b} : f32, tuple<f32, (f32) -> ()>
    test.any
    %0 = test.constant dense<1.0> : tensor<4xf32>
    %h = test.any %0 : test.host<tensor<4xf32>> loc(fused[\"a\"(\"f.py\":1:2), callsite(unknown at \"b\")])
    %d = test.call @f(%a) {a = #test.list<1, 2>} : f32
    test.call @f()
    test.end %d
  }
}
",
    );
}

#[test]
fn regions() {
    check(
        "module {
  func @f(%x: f32) {
    %a = test.region %x {a} ({
      %b = test.any %x : f32
      test.end %b [^next(%b), ^other]
    ^next(%c: f32):
      test.end
    ^other:
      test.end
    }) : f32
    test.region ({
    })
    test.two_regions ({
    ^body(%d: i1):
      test.end %d
    }, {
    ^first:
      test.end
    })
    test.end
  }
}
",
    );
}

#[test]
fn attributes() {
    check(
        "module {
  func @f() {
    test.any {a = [1] x [0], b = ([1, 2] x true) x \"s\\n\\\"\", c = [1, 1 : i8, 1.0, 0.1 : f32]}
    test.any {a = {k, l = @a}, \"a strange name\" = tensor<4x{\"odd name\"}xf32>, c = 0x7FC00000 : f32}
    test.any {a = dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>, b = dense<(1.0, -0.0)> : tensor<2xcomplex<f32>>}
    test.any {a = dense<> : tensor<0x2xi1>, b = dense<true> : tensor<i1>, c = []}
    test.end
  }
  func @a()
}
",
    );
}

#[test]
fn shorthands_mean_the_same() {
    let long =
        module("module {\n  test.func @f(%x: tensor<4xf32>) {\n    %y = test.add(%x, %x)\n test.end %y }\n}");
    let short = module(
        "// a comment\nfunc @f(%x: tensor<4xf32>) { %y = test.add %x, %x // another\n test.end\n %y }",
    );
    assert_eq!(
        digest(&long, long.root(), Compared::default()),
        digest(&short, short.root(), Compared::default())
    );
}
