//! The Tofu optimizer driver: reads a program, runs passes, writes it back.
