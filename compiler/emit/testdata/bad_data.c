// Writable data would make runs of two threads meet.
__attribute__((visibility("hidden"), used, retain)) int bad_counter = 1;
