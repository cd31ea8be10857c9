//! The `gatepost` binary; everything is in the library.

fn main() -> std::process::ExitCode {
    gatepost::cli::run()
}
