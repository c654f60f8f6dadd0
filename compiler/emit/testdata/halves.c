// Converts between half, float and double precision: calls library functions where the processor has no instructions.
__attribute__((visibility("hidden"), used, retain)) float half_to_float(_Float16 x) { return x; }
__attribute__((visibility("hidden"), used, retain)) _Float16 float_to_half(float x) { return (_Float16)x; }
__attribute__((visibility("hidden"), used, retain)) _Float16 double_to_half(double x) { return (_Float16)x; }
