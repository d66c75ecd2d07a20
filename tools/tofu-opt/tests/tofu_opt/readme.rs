//! Every console block of the README and of the guides is run and must print what it shows.

use crate::support::root;

#[test]
fn readme() {
    // The commands name files as seen from the root; the other tests of this program use absolute paths.
    std::env::set_current_dir(root()).unwrap();
    trycmd::TestCases::new().case("README.md").case("docs/tdl.md");
}
