//! The text of Tofu's intermediate representation: the .tir grammar, the parser and the printer.
