#include <errno.h>
#include <string.h>

#include "runtime/core/compatibility.h"
#include "runtime/core/error.h"
#include "runtime/core/model.h"
#include "runtime/format/container.h"
#include "runtime/format/sha256.h"

/* Alignment that generated code may assume of the weights' base: the widest vector. */
enum { kWeightsAlignment = 64 };

/* The three parts, wherever they come from. `code_base` and so on are the parts' places in their files, for messages.
 */
typedef struct Layout {
  const aot_part *manifest_part, *code_part, *weights_part;
  aot_span manifest, code, weights;
  uint64_t manifest_base;
} Layout;

/* Reads the whole file once: what the medium can't give back is an error here and no signal later, and the pages are in
 * memory for the digest. */
static aot_status ReadThrough(const aot_part* part, aot_error* error) {
  uint8_t buffer[16384];
  for (uint64_t at = 0; at < part->file.bytes;) {
    size_t got;
    const int failure = aot_port_read(&part->file, at, buffer, sizeof buffer, &got);
    if (failure != 0) return aot_report_system(error, part->path, "read the artifact", failure);
    if (got == 0) {
      return AOT_REPORT(error, AOT_IO_ERROR, part->path, at, AOT_TEXT("the file ends at byte "), AOT_NUMBER(at),
                        AOT_TEXT(", it had "), AOT_NUMBER(part->file.bytes), AOT_TEXT(" when it was opened"));
    }
    at += got;
  }
  return AOT_OK;
}

static aot_status OpenPart(const aot_source* source, const aot_load_options* options, aot_part* part,
                           aot_error* error) {
  part->path = source->path;
  part->file.descriptor = -1;
  if (source->path == NULL) {
    if (source->data == NULL && source->bytes != 0) {
      return AOT_REPORT(error, AOT_INVALID_ARGUMENT, NULL, AOT_NO_OFFSET,
                        AOT_TEXT("a source of an artifact has neither a path nor memory"));
    }
    part->bytes.data = (const uint8_t*)source->data;
    part->bytes.size = source->bytes;
    return AOT_OK;
  }
  int failure = aot_port_open(source->path, &part->file);
  if (failure != 0) return aot_report_system(error, source->path, "open the artifact", failure);
  if ((options->flags & AOT_LOAD_VERIFY) != 0) {
    const aot_status status = ReadThrough(part, error);
    if (status != AOT_OK) return status;
  }
  void* address;
  failure = aot_port_map_file(&part->file, &address);
  if (failure != 0) return aot_report_system(error, source->path, "map the artifact", failure);
  part->bytes.data = (const uint8_t*)address;
  part->bytes.size = (size_t)part->file.bytes;
  part->mapped = true;
  return AOT_OK;
}

/* The file to map code from; NULL where it is copied out of memory. */
static const aot_port_file* FileOf(const aot_model* model, const aot_part* part) {
  return part->mapped && model->code_copy.pages == NULL ? &part->file : NULL;
}

/* Takes a copy of bytes that are mapped from a file, and lets *bytes be the copy: what is checked is then what is used,
 * whatever happens to the file. */
static aot_status Copy(const aot_part* part, aot_span* bytes, aot_copy* copy, aot_error* error) {
  if (!part->mapped || bytes->size == 0) return AOT_OK;
  const int failure = aot_port_allocate_pages(bytes->size, &copy->pages);
  if (failure != 0) return aot_report_system(error, NULL, "allocate a copy of the artifact", failure);
  copy->bytes = bytes->size;
  memcpy(copy->pages, bytes->data, bytes->size);
  bytes->data = (const uint8_t*)copy->pages;
  return AOT_OK;
}

static void FreeCopy(aot_copy* copy) {
  if (copy->pages != NULL) aot_port_unmap(copy->pages, copy->bytes);
  copy->pages = NULL;
}

/* Of a structure that grows at its end. */
static aot_status CheckStructure(const void* structure, size_t size, size_t known, const char* what, aot_error* error) {
  if (size < known) {
    return AOT_REPORT(error, AOT_INVALID_ARGUMENT, NULL, AOT_NO_OFFSET, AOT_TEXT(what), AOT_TEXT(" have size "),
                      AOT_NUMBER(size), AOT_TEXT(", at least "), AOT_NUMBER(known), AOT_TEXT(" is needed"));
  }
  /* A caller newer than this runtime may know more members; they must ask for nothing. */
  for (size_t i = known; i < size; ++i) {
    if (((const uint8_t*)structure)[i] == 0) continue;
    return AOT_REPORT(error, AOT_UNSUPPORTED, NULL, AOT_NO_OFFSET, AOT_TEXT(what),
                      AOT_TEXT(" use a member that this runtime doesn't know, at byte "), AOT_NUMBER(i));
  }
  return AOT_OK;
}

static aot_status CheckOptions(const aot_load_options* options, aot_load_options* out, aot_error* error) {
  memset(out, 0, sizeof *out);
  out->size = sizeof *out;
  out->flags = AOT_LOAD_PREFAULT;
  if (options == NULL) return AOT_OK;
  const aot_status status = CheckStructure(options, options->size, sizeof *out, "load options", error);
  if (status != AOT_OK) return status;
  *out = *options;
  if ((out->flags & ~(uint32_t)(AOT_LOAD_VERIFY | AOT_LOAD_PREFAULT | AOT_LOAD_NO_ARENA | AOT_LOAD_NO_STATE)) != 0) {
    return AOT_REPORT(error, AOT_UNSUPPORTED, NULL, AOT_NO_OFFSET, AOT_TEXT("load flags "), AOT_NUMBER(out->flags),
                      AOT_TEXT(" hold one that this runtime doesn't know"));
  }
  return AOT_OK;
}

static aot_status CheckDigest(const uint8_t* wanted, aot_span bytes, const aot_part* part, uint64_t base,
                              const char* what, aot_error* error) {
  uint8_t digest[AOT_SHA256_SIZE];
  aot_sha256(bytes.data, bytes.size, digest);
  if (memcmp(digest, wanted, sizeof digest) == 0) return AOT_OK;
  const aot_fault fault = {AOT_FAULT_DIGEST, 0, what, 0, 0};
  return aot_report_fault(error, part->path, base, &fault);
}

static aot_status CheckSizes(const aot_manifest* m, const Layout* layout, aot_error* error) {
  if (layout->code.size != m->info.code_size) {
    return AOT_REPORT(error, AOT_MALFORMED, layout->code_part->path, AOT_NO_OFFSET, AOT_TEXT("the code object has "),
                      AOT_NUMBER(layout->code.size), AOT_TEXT(" bytes, the manifest states "),
                      AOT_NUMBER(m->info.code_size));
  }
  if (layout->weights.size != m->info.weights_size) {
    return AOT_REPORT(error, AOT_MALFORMED, layout->weights_part->path, AOT_NO_OFFSET, AOT_TEXT("the weights have "),
                      AOT_NUMBER(layout->weights.size), AOT_TEXT(" bytes, the manifest states "),
                      AOT_NUMBER(m->info.weights_size));
  }
  if (((uintptr_t)layout->weights.data & (kWeightsAlignment - 1)) != 0 && layout->weights.size != 0) {
    return AOT_REPORT(error, AOT_INVALID_ARGUMENT, layout->weights_part->path, AOT_NO_OFFSET,
                      AOT_TEXT("the artifact in memory must be aligned to "), AOT_NUMBER(kWeightsAlignment),
                      AOT_TEXT(" bytes"));
  }
  return AOT_OK;
}

/* The code says about itself what the manifest says about it; parts of two artifacts don't mix. */
static aot_status CheckDescriptor(const aot_manifest* m, const Layout* layout, const aot_code_object* object,
                                  uint64_t* entry, aot_error* error) {
  const char* path = layout->code_part->path;
  aot_descriptor descriptor;
  aot_fault fault;
  if (!aot_code_object_descriptor(object, m->info.descriptor_address, &descriptor, entry, &fault)) {
    return aot_report_fault(error, path, 0, &fault);
  }
  if (memcmp(descriptor.key, m->info.key, sizeof descriptor.key) != 0) {
    return AOT_REPORT(error, AOT_MALFORMED, path, AOT_NO_OFFSET,
                      AOT_TEXT("code and manifest belong to different artifacts: their keys differ"));
  }
  if (descriptor.arena_size != m->info.arena_size || descriptor.weights_size != m->info.weights_size) {
    return AOT_REPORT(error, AOT_MALFORMED, path, AOT_NO_OFFSET, AOT_TEXT("the code needs an arena of "),
                      AOT_NUMBER(descriptor.arena_size), AOT_TEXT(" bytes and "), AOT_NUMBER(descriptor.weights_size),
                      AOT_TEXT(" bytes of weights, the manifest states "), AOT_NUMBER(m->info.arena_size),
                      AOT_TEXT(" and "), AOT_NUMBER(m->info.weights_size));
  }
  return AOT_OK;
}

static aot_status MapCode(aot_model* model, const Layout* layout, const aot_load_options* options, const aot_cpu* cpu,
                          aot_error* error) {
  const char* path = layout->code_part->path;
  aot_code_object object;
  aot_fault fault;
  if (!aot_code_object_open(layout->code.data, layout->code.size, &object, &fault)) {
    return aot_report_fault(error, path, 0, &fault);
  }
  if (aot_cpu_arch_of_elf(object.machine) != cpu->arch) {
    return AOT_REPORT(error, AOT_WRONG_TARGET, path, 18, AOT_TEXT("the code object has ELF machine "),
                      AOT_NUMBER(object.machine), AOT_TEXT(", this processor is "),
                      AOT_TEXT(aot_cpu_arch_name(cpu->arch)));
  }
  uint64_t entry;
  const aot_status status = CheckDescriptor(&model->manifest, layout, &object, &entry, error);
  if (status != AOT_OK) return status;
  const int failure = aot_code_map_segments(&object, FileOf(model, layout->code_part), &model->code);
  if (failure != 0) return aot_report_system(error, path, "map the code", failure);
  if ((options->flags & AOT_LOAD_PREFAULT) != 0) {
    for (uint32_t i = 0; i < object.segment_count; ++i) {
      aot_port_prefault(model->code.base + object.segments[i].address, (size_t)object.segments[i].size);
    }
  }
  /* ISO C has no conversion from data to function pointers; POSIX and every target here have. */
  const uintptr_t address = (uintptr_t)model->code.base + (uintptr_t)entry;
  memcpy(&model->entry, &address, sizeof model->entry);
  return AOT_OK;
}

static aot_status AllocateArena(aot_model* model, aot_error* error) {
  const uint64_t bytes = model->manifest.info.arena_size;
  if (bytes == 0) return AOT_OK;
  if (bytes > SIZE_MAX || model->manifest.info.arena_alignment > aot_port_page_size()) {
    return AOT_REPORT(error, AOT_OUT_OF_MEMORY, NULL, AOT_NO_OFFSET, AOT_TEXT("an arena of "), AOT_NUMBER(bytes),
                      AOT_TEXT(" bytes doesn't fit the address space"));
  }
  const int failure = aot_port_allocate_pages((size_t)bytes, &model->arena);
  if (failure != 0) return aot_report_system(error, NULL, "allocate the arena", failure);
  model->arena_bytes = bytes;
  return AOT_OK;
}

/* The opened manifests that runs go by. */
static aot_status OpenBuckets(aot_model* model, aot_error* error) {
  const uint32_t count = model->manifest.buckets.count;
  model->buckets = &model->manifest;
  model->bucket_count = 1;
  if (count == 0) return AOT_OK;
  model->bucket_memory = (aot_manifest*)aot_port_allocate(count * sizeof(aot_manifest));
  if (model->bucket_memory == NULL) return aot_report_system(error, NULL, "allocate the model's buckets", ENOMEM);
  aot_text name;
  for (uint32_t i = 0; i < count; ++i) aot_manifest_bucket(&model->manifest, i, &name, &model->bucket_memory[i]);
  model->buckets = model->bucket_memory;
  model->bucket_count = count;
  return AOT_OK;
}

static aot_status Check(aot_model* model, const Layout* layout, const aot_load_options* options, const aot_cpu* cpu,
                        aot_error* error) {
  aot_fault fault;
  if (!aot_manifest_open(layout->manifest.data, layout->manifest.size, &model->manifest, &fault)) {
    return aot_report_fault(error, layout->manifest_part->path, layout->manifest_base, &fault);
  }
  const aot_manifest* m = &model->manifest;
  aot_status status = OpenBuckets(model, error);
  if (status == AOT_OK && options->manifest_sha256 != NULL) {
    status = CheckDigest(options->manifest_sha256, layout->manifest, layout->manifest_part, layout->manifest_base,
                         "manifest", error);
  }
  if (status == AOT_OK) status = aot_check_compatibility(m, cpu, layout->manifest_part->path, error);
  if (status == AOT_OK) status = CheckSizes(m, layout, error);
  if (status == AOT_OK && (options->flags & AOT_LOAD_VERIFY) != 0) {
    status = CheckDigest(m->info.code_sha256, layout->code, layout->code_part, 0, "code object", error);
    if (status == AOT_OK) {
      status = CheckDigest(
          m->info.weights_sha256, layout->weights, layout->weights_part,
          layout->weights.size != 0 ? (uint64_t)(layout->weights.data - layout->weights_part->bytes.data) : 0,
          "weights", error);
    }
  }
  return status;
}

static aot_status Finish(aot_model* model, Layout* layout, const aot_load_options* options, aot_error* error) {
  aot_cpu cpu;
  aot_port_detect_cpu(&cpu);
  aot_status status = AOT_OK;
  if ((options->flags & AOT_LOAD_VERIFY) != 0) {
    status = Copy(layout->manifest_part, &layout->manifest, &model->manifest_copy, error);
    if (status == AOT_OK) status = Copy(layout->code_part, &layout->code, &model->code_copy, error);
  }
  if (status == AOT_OK) status = Check(model, layout, options, &cpu, error);
  if (status == AOT_OK) status = MapCode(model, layout, options, &cpu, error);
  if (status == AOT_OK && (options->flags & AOT_LOAD_NO_ARENA) == 0) status = AllocateArena(model, error);
  if (status == AOT_OK && (options->flags & AOT_LOAD_NO_STATE) == 0) status = aot_states_allocate(model, error);
  if (status != AOT_OK) return status;
  model->weights = layout->weights.data;
  if ((options->flags & AOT_LOAD_PREFAULT) != 0) {
    aot_port_prefault(model->weights, layout->weights.size);
    /* Pages of the arena and the states exist once they are written. */
    if (model->arena != NULL) memset(model->arena, 0, (size_t)model->arena_bytes);
    if (model->states.pages != NULL) memset(model->states.values, 0, model->states.value_bytes);
  }
  return AOT_OK;
}

static aot_status LoadContainer(aot_model* model, const aot_source* source, const aot_load_options* options,
                                aot_error* error) {
  aot_part* whole = &model->parts[0];
  aot_status status = OpenPart(source, options, whole, error);
  if (status != AOT_OK) return status;
  aot_container container;
  aot_fault fault;
  if (!aot_container_open(whole->bytes.data, whole->bytes.size, &container, &fault) ||
      ((options->flags & AOT_LOAD_VERIFY) != 0 &&
       !aot_container_check_padding(whole->bytes.data, &container, &fault))) {
    return aot_report_fault(error, whole->path, 0, &fault);
  }
  const uint8_t* base = whole->bytes.data;
  Layout layout = {whole, whole, whole, {0}, {0}, {0}, container.manifest_offset};
  layout.manifest.data = base + container.manifest_offset;
  layout.manifest.size = (size_t)container.manifest_size;
  layout.code.data = base;
  layout.code.size = (size_t)container.code_size;
  layout.weights.data = base + container.weights_offset;
  layout.weights.size = (size_t)container.weights_size;
  status = Finish(model, &layout, options, error);
  if (status == AOT_OK && model->manifest.info.page_size != container.page_size) {
    return AOT_REPORT(error, AOT_MALFORMED, whole->path, AOT_NO_OFFSET, AOT_TEXT("page size "),
                      AOT_NUMBER(container.page_size), AOT_TEXT(" in the trailer, "),
                      AOT_NUMBER(model->manifest.info.page_size), AOT_TEXT(" in the manifest"));
  }
  return status;
}

static aot_status LoadParts(aot_model* model, const aot_parts* parts, const aot_load_options* options,
                            aot_error* error) {
  const aot_source* sources[AOT_PART_COUNT] = {&parts->manifest, &parts->code, &parts->weights};
  for (int i = 0; i < AOT_PART_COUNT; ++i) {
    const aot_status status = OpenPart(sources[i], options, &model->parts[i], error);
    if (status != AOT_OK) return status;
  }
  const aot_part* part = model->parts;
  Layout layout = {&part[0], &part[1], &part[2], part[0].bytes, part[1].bytes, part[2].bytes, 0};
  return Finish(model, &layout, options, error);
}

/* One of source and parts is NULL. */
static aot_status Load(const aot_source* source, const aot_parts* parts, const aot_load_options* given, aot_model** out,
                       aot_error* error) {
  if (out == NULL) {
    return AOT_REPORT(error, AOT_INVALID_ARGUMENT, NULL, AOT_NO_OFFSET, AOT_TEXT("no place for the model: NULL"));
  }
  *out = NULL;
  aot_load_options options;
  aot_status status = CheckOptions(given, &options, error);
  if (status != AOT_OK) return status;
  aot_model* model = (aot_model*)aot_port_allocate(sizeof *model);
  if (model == NULL) return aot_report_system(error, NULL, "allocate the model", ENOMEM);
  for (int i = 0; i < AOT_PART_COUNT; ++i) model->parts[i].file.descriptor = -1;
  atomic_flag_clear(&model->in_use);
  status = source != NULL ? LoadContainer(model, source, &options, error) : LoadParts(model, parts, &options, error);
  /* The mappings stay; the descriptors and the caller's paths are needed no more. */
  for (int i = 0; i < AOT_PART_COUNT; ++i) {
    aot_port_close(&model->parts[i].file);
    model->parts[i].path = NULL;
  }
  FreeCopy(&model->code_copy);
  if (status != AOT_OK) {
    aot_unload(model);
    return status;
  }
  *out = model;
  return AOT_OK;
}

aot_status aot_load_file(const char* path, const aot_load_options* options, aot_model** model, aot_error* error) {
  if (path == NULL) {
    return AOT_REPORT(error, AOT_INVALID_ARGUMENT, NULL, AOT_NO_OFFSET, AOT_TEXT("the artifact's path is NULL"));
  }
  const aot_source source = {path, NULL, 0};
  return Load(&source, NULL, options, model, error);
}

aot_status aot_load_memory(const void* data, size_t bytes, const aot_load_options* options, aot_model** model,
                           aot_error* error) {
  const aot_source source = {NULL, data, bytes};
  return Load(&source, NULL, options, model, error);
}

aot_status aot_load_parts(const aot_parts* parts, const aot_load_options* options, aot_model** model,
                          aot_error* error) {
  if (model != NULL) *model = NULL;
  if (parts == NULL) {
    return AOT_REPORT(error, AOT_INVALID_ARGUMENT, NULL, AOT_NO_OFFSET, AOT_TEXT("the artifact's parts are NULL"));
  }
  const aot_status status = CheckStructure(parts, parts->size, sizeof *parts, "the artifact's parts", error);
  if (status != AOT_OK) return status;
  return Load(NULL, parts, options, model, error);
}

void aot_unload(aot_model* model) {
  if (model == NULL) return;
  aot_code_unmap(&model->code);
  FreeCopy(&model->code_copy);
  FreeCopy(&model->manifest_copy);
  aot_states_free(model);
  if (model->bucket_memory != NULL) aot_port_free(model->bucket_memory);
  if (model->arena != NULL) aot_port_unmap(model->arena, (size_t)model->arena_bytes);
  for (int i = 0; i < AOT_PART_COUNT; ++i) {
    if (model->parts[i].mapped)
      aot_port_unmap((void*)(uintptr_t)model->parts[i].bytes.data, model->parts[i].bytes.size);
  }
  aot_port_free(model);
}
