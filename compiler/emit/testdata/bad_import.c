// Refers to a function that code objects may not import.
float expf(float x);
__attribute__((visibility("hidden"))) float bad_import(float x) { return expf(x); }
__attribute__((visibility("hidden"), used, retain, section(".text.kept"))) float keep_import(float x) {
  return bad_import(x);
}
