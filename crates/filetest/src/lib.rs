//! Runs test files: files that say in comments how they are run and what must come out.
//!
//! ```text
//! // RUN: tofu-opt %s --simplify | filecheck %s
//! // CHECK-LABEL: func @step
//! // CHECK-NOT:     tensor.transpose
//! // CHECK:         %[[H:.*]] = tensor.tanh
//! // CHECK-NEXT:    return %[[H]]
//! ```
//!
//! The crate knows nothing of any IR: the tools that a RUN line may call are handed over by the caller
//! ([`Config`]), and [`run`] makes each file one test.
//!
//! # Commands
//!
//! A file needs at least one line `// RUN: …` (or `# RUN: …`); several are run in order and must all succeed.
//! A line that ends in `\` goes on in the next RUN line. There is no shell; the language is: words, `'…'` and
//! `"…"`, pipes `A | B`, `< file`, `> file`, `2> file`, `2>&1`, and `not CMD` or `not --code=N CMD`, which
//! wants a failure of `CMD`. A pipeline fails at its first failing stage. Exit status 101 (a panic) and a
//! death by signal fail even under `not`.
//!
//! | written | means |
//! |---|---|
//! | `%s` | the test file, relative to the root, where commands run: messages do not depend on the machine |
//! | `%S` | the directory of the test file, likewise relative |
//! | `%t` | a path in a temporary directory of this test's own |
//! | `%%` | a percent sign |
//!
//! Beside the tools there are four commands: [`filecheck`](check::filecheck); `diff A B` shows how two files
//! differ (`-` is the standard input); `count N` wants `N` lines of input; and `exact FILE`, see below.
//!
//! `// REQUIRES: a, b` ignores the test, visibly, unless the caller names the features `a` and `b`.
//!
//! # Exact output
//!
//! `// RUN: … | exact %s` wants the very text that the file's last section holds in comments:
//!
//! ```text
//! // EXPECTED:
//! // first line
//! //
//! // third line
//! ```
//!
//! With `TOFU_BLESS=1` in the environment that section is rewritten (or added) instead. If several RUN lines
//! of one file use `exact`, the first one writes it and the others must agree.
//!
//! # Checks
//!
//! The directives and their meaning are those of LLVM's FileCheck, which accepts the same files; see
//! [`check`]. The engine is this crate's own: `litcheck-filecheck`, which offers the same semantics, is
//! some 26,000 lines and 130 dependencies, out of proportion to this use.

pub mod check;
mod harness;
mod run;

pub use harness::{Config, TestCase, discover, run};
