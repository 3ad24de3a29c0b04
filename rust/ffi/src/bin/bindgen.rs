//! The generator of the bindings, of the very version of uniffi that the library is built with.

fn main() {
    uniffi::uniffi_bindgen_main();
}
