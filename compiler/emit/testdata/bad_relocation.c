// A table of addresses needs a relocation for each.
static const int kA = 1, kB = 2;
__attribute__((visibility("hidden"), used, retain)) const int* const bad_table[] = {&kA, &kB};
