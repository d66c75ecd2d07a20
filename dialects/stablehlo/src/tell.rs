//! Telling StableHLO's text from our own.

/// Whether a text is StableHLO and not `.tir`: the first line whose op only one of the two has decides. An alias says so,
/// too. Of a text that could be either, one that writes `func.func` is taken for StableHLO.
pub fn is_stablehlo(text: &str) -> bool {
    let mut writes_functions_in_full = false;
    for line in text.lines() {
        let line = line.trim_start();
        if line.starts_with(['#', '!']) || line.starts_with("{-#") {
            return true;
        }
        let op = op_name(line);
        match op.split_once('.') {
            Some(("stablehlo", "opaque") | ("sdy", _)) => {}
            Some(("stablehlo" | "chlo" | "mhlo", _)) => return true,
            Some(("tensor" | "tdl" | "dist" | "mem" | "cuda", _)) => return false,
            Some(("func", "func")) => writes_functions_in_full |= !line.starts_with('"'),
            Some(_) => {}
            None if op == "func" || op == "tdl" => return false,
            None => {}
        }
    }
    writes_functions_in_full
}

/// The name of the op on a line, after what it defines.
fn op_name(line: &str) -> &str {
    let line = if line.starts_with('%') {
        line.split_once('=').map_or("", |(_, rest)| rest.trim_start())
    } else {
        line
    };
    let line = line.strip_prefix('"').unwrap_or(line);
    let is_inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.');
    &line[..line.find(|c| !is_inner(c)).unwrap_or(line.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_told_apart() {
        for text in [
            "module @m {\n  func.func @f() {\n    return\n  }\n}",
            "// tensor.add\n%0 = stablehlo.add %a, %b : tensor<f32>",
            "%0:2 = \"chlo.top_k\"(%a) : (t) -> (t, t)",
            "#loc = loc(unknown)\nmodule {\n}",
        ] {
            assert!(is_stablehlo(text), "{text}");
        }
        for text in [
            "",
            "module {\n}",
            "module {\n  func @f(%x: f32) {\n    %y = stablehlo.opaque %x {name = \"a.b\"} : f32\n",
            "\"func.func\"() {sym_name = @f} ({\n  %0 = \"tensor.add\"(%a, %b)",
            "sdy.mesh {mesh = #sdy.mesh<[\"x\"=2]>, sym_name = @mesh}\nfunc @f() {\n",
        ] {
            assert!(!is_stablehlo(text), "{text}");
        }
    }
}
