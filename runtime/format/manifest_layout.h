/* Byte offsets of the manifest, shared by its writer (compiler/emit) and its reader. docs/formats/artifact.md describes
 * them. */
#ifndef AOT_RUNTIME_FORMAT_MANIFEST_LAYOUT_H_
#define AOT_RUNTIME_FORMAT_MANIFEST_LAYOUT_H_

/* "AOTM" read as a little-endian 32-bit word. */
#define AOT_MANIFEST_MAGIC 0x4d544f41u
#define AOT_FORMAT_VERSION 1u

/* Limits. They are part of the format: a writer refuses what a reader would. */
enum {
  AOT_MANIFEST_MAX_SIZE = 64 << 20,
  AOT_MAX_NAME_BYTES = 64 << 20, /* names of all records together; they may share text */
  AOT_MAX_RANK = 16,
  AOT_MAX_TENSORS = 4096, /* inputs, and outputs, each */
  AOT_MAX_CPU_FEATURES = 64,
  AOT_MAX_BUCKETS = 32,
  AOT_MAX_ARENA_ALIGNMENT = 4096,
  AOT_MIN_PAGE_SIZE = 4096,
  AOT_MAX_PAGE_SIZE = 65536,
  AOT_MAX_SELF_TEST_SIZE = 64 << 10 /* the whole section */
};

/* Header. */
enum {
  AOT_HEADER_MAGIC = 0,
  AOT_HEADER_VERSION = 4,
  AOT_HEADER_TOTAL_SIZE = 8,          /* u32, header to digest */
  AOT_HEADER_HEADER_SIZE = 12,        /* u32, where the section table starts */
  AOT_HEADER_SECTION_COUNT = 16,      /* u32 */
  AOT_HEADER_SECTION_ENTRY_SIZE = 20, /* u32 */
  AOT_HEADER_SIZE = 32,
  AOT_SECTION_TAG = 0,    /* u32 */
  AOT_SECTION_FLAGS = 4,  /* u32 */
  AOT_SECTION_OFFSET = 8, /* u32, from the manifest's start, a multiple of 8 */
  AOT_SECTION_SIZE = 12,  /* u32 */
  AOT_SECTION_ENTRY_SIZE = 16,
  AOT_MAX_SECTIONS = 64
};

/* A reader that doesn't know a section with this flag must refuse the manifest. */
#define AOT_SECTION_REQUIRED 1u

enum {
  AOT_TAG_INFO = 1,
  AOT_TAG_STRINGS = 2,
  AOT_TAG_CPU_FEATURES = 3,
  AOT_TAG_INPUTS = 4,
  AOT_TAG_OUTPUTS = 5,
  AOT_TAG_DIMS = 6,
  AOT_TAG_QUANTIZATIONS = 7,
  AOT_TAG_QUANTIZATION_VALUES = 8,
  AOT_TAG_STATES = 9,
  AOT_TAG_PLAN = 10,
  AOT_TAG_OPERATORS = 11,
  AOT_TAG_SELF_TEST = 12,
  AOT_TAG_BOUNDS = 13,
  AOT_TAG_BUCKETS = 14,
  AOT_TAG_COUNT = 15
};

/* Section INFO: one record. A text is a pair of u32: offset into STRINGS and size without the NUL that follows. */
enum {
  AOT_INFO_KEY = 0,
  AOT_INFO_MODEL_SHA256 = 32,
  AOT_INFO_CODE_SHA256 = 64,
  AOT_INFO_WEIGHTS_SHA256 = 96,
  AOT_INFO_CODE_SIZE = 128,          /* u64 */
  AOT_INFO_WEIGHTS_SIZE = 136,       /* u64 */
  AOT_INFO_ARENA_SIZE = 144,         /* u64 */
  AOT_INFO_SCRATCH_SIZE = 152,       /* u64 */
  AOT_INFO_DESCRIPTOR_ADDRESS = 160, /* u64 */
  AOT_INFO_ARENA_ALIGNMENT = 168,    /* u32 */
  AOT_INFO_PAGE_SIZE = 172,          /* u32 */
  AOT_INFO_CODE_ABI_VERSION = 176,   /* u32 */
  AOT_INFO_VECTOR_BITS = 180,        /* u32 */
  AOT_INFO_MODEL_NAME = 184,
  AOT_INFO_COMPILER_VERSION = 192,
  AOT_INFO_OPTIONS = 200,
  AOT_INFO_TARGET_NAME = 208,
  AOT_INFO_TRIPLE = 216,
  AOT_INFO_SIZE = 224
};

/* Array sections start with this; records of `record_size` bytes (at least the size below) follow. */
enum { AOT_ARRAY_COUNT = 0, AOT_ARRAY_RECORD_SIZE = 4, AOT_ARRAY_HEADER_SIZE = 8 };

enum { AOT_FEATURE_NAME = 0, AOT_FEATURE_SIZE = 8 };

enum {
  AOT_TENSOR_NAME = 0,
  AOT_TENSOR_DTYPE = 8,         /* u32, onnx.TensorProto.DataType */
  AOT_TENSOR_RANK = 12,         /* u32 */
  AOT_TENSOR_FIRST_DIM = 16,    /* u32, index into DIMS */
  AOT_TENSOR_QUANTIZATION = 20, /* u32, index, or AOT_NO_INDEX */
  AOT_TENSOR_BYTES = 24,        /* u64 */
  AOT_TENSOR_SIZE = 32
};
#define AOT_NO_INDEX 0xffffffffu

enum { AOT_DIM_SIZE = 8 }; /* i64 */

enum {
  AOT_QUANTIZATION_AXIS = 0,  /* i32, -1: per tensor */
  AOT_QUANTIZATION_FIRST = 4, /* u32, index into QUANTIZATION_VALUES */
  AOT_QUANTIZATION_COUNT = 8, /* u32 */
  AOT_QUANTIZATION_SIZE = 16,
  AOT_QUANTIZATION_VALUE_SCALE = 0, /* f64 */
  AOT_QUANTIZATION_VALUE_ZERO = 8,  /* i64 */
  AOT_QUANTIZATION_VALUE_SIZE = 16
};

enum { AOT_STATE_INPUT = 0, AOT_STATE_OUTPUT = 4, AOT_STATE_SIZE = 8 };

/* Manifests of their own follow the records, each at a multiple of 8 of the section. */
enum {
  AOT_BUCKET_NAME = 0,
  AOT_BUCKET_OFFSET = 8, /* u32, from the start of the section */
  AOT_BUCKET_BYTES = 12, /* u32 */
  AOT_BUCKET_SIZE = 16
};

enum { AOT_BOUND_OUTPUT = 0, AOT_BOUND_DIMS = 4, AOT_BOUND_SIZE = 8 };

enum {
  AOT_PLAN_NAME = 0,
  AOT_PLAN_OFFSET = 8, /* u64 */
  AOT_PLAN_BYTES = 16, /* u64 */
  AOT_PLAN_FIRST = 24, /* u32, step */
  AOT_PLAN_LAST = 28,  /* u32, step, inclusive */
  AOT_PLAN_SIZE = 32
};

enum { AOT_OPERATOR_NAME = 0, AOT_OPERATOR_COUNT = 8, AOT_OPERATOR_SIZE = 16 };

/* Section SELF_TEST: a header, input records, output records, samples, data. Inputs and outputs are as many as the
 * manifest's. */
enum {
  AOT_SELF_TEST_SEED = 0,          /* u64 */
  AOT_SELF_TEST_INPUT_COUNT = 8,   /* u32 */
  AOT_SELF_TEST_OUTPUT_COUNT = 12, /* u32 */
  AOT_SELF_TEST_SAMPLE_COUNT = 16, /* u32 */
  AOT_SELF_TEST_DATA_SIZE = 20,    /* u32 */
  AOT_SELF_TEST_HEADER_SIZE = 24,

  AOT_SELF_TEST_INPUT_KIND = 0,          /* u32, aot_self_test_kind */
  AOT_SELF_TEST_INPUT_FRACTION_BITS = 4, /* u32, at most 32 */
  AOT_SELF_TEST_INPUT_LOW = 8,           /* i64 */
  AOT_SELF_TEST_INPUT_HIGH = 16,         /* i64, at least low */
  AOT_SELF_TEST_INPUT_DATA_OFFSET = 24,  /* u32, into the data */
  AOT_SELF_TEST_INPUT_DATA_SIZE = 28,    /* u32 */
  AOT_SELF_TEST_INPUT_SIZE = 32,

  AOT_SELF_TEST_OUTPUT_TOLERANCE = 0,    /* u32, aot_tolerance_class */
  AOT_SELF_TEST_OUTPUT_FIRST_SAMPLE = 4, /* u32 */
  AOT_SELF_TEST_OUTPUT_SAMPLE_COUNT = 8, /* u32; 4 bytes of zero follow */
  AOT_SELF_TEST_OUTPUT_RELATIVE = 16,    /* f64 */
  AOT_SELF_TEST_OUTPUT_ABSOLUTE = 24,    /* f64 */
  AOT_SELF_TEST_OUTPUT_SIZE = 32,

  AOT_SELF_TEST_SAMPLE_INDEX = 0, /* u64, element */
  AOT_SELF_TEST_SAMPLE_VALUE = 8, /* f64 bits for float types, else i64 */
  AOT_SELF_TEST_SAMPLE_SIZE = 16
};

/* The manifest ends with the SHA-256 of everything before. */
enum { AOT_MANIFEST_DIGEST_SIZE = 32 };

/* The last bytes of a `.so`. */
enum {
  AOT_TRAILER_CODE_SIZE = 0,        /* u64 */
  AOT_TRAILER_WEIGHTS_OFFSET = 8,   /* u64 */
  AOT_TRAILER_WEIGHTS_SIZE = 16,    /* u64 */
  AOT_TRAILER_MANIFEST_OFFSET = 24, /* u64 */
  AOT_TRAILER_MANIFEST_SIZE = 32,   /* u64 */
  AOT_TRAILER_PAGE_SIZE = 40,       /* u32 */
  AOT_TRAILER_RESERVED = 44,        /* u32, zero */
  AOT_TRAILER_VERSION = 48,         /* u32, AOT_FORMAT_VERSION */
  AOT_TRAILER_TRAILER_SIZE = 52,    /* u32 */
  AOT_TRAILER_MAGIC = 56,           /* 8 bytes */
  AOT_TRAILER_SIZE = 64,
  AOT_CONTAINER_MANIFEST_ALIGNMENT = 64
};
#define AOT_TRAILER_MAGIC_TEXT "AOTSOEND"

#endif
