// Default visibility, which the version script must hide.
__attribute__((used, retain)) int extra_symbol(void) { return 1; }
