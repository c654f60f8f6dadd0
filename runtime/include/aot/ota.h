/* Signed delivery over the air: fetches a model from a repository, verifies it, installs it, loads it.
 *
 * The repository is one of The Update Framework (specification 1.0.x). Nothing that a network or a server does can make
 * a device run bytes that the owner of the root keys didn't sign, go back to an older release, or lose the version that
 * runs: that one stays installed beside the new one and is used whenever the new one can't be fetched, doesn't load or
 * fails its self-test. The state directory is described in docs/formats/device-state.md; it may be shared by all
 * models, threads and processes of a device. */
#ifndef AOT_OTA_H_
#define AOT_OTA_H_

#include <stddef.h>
#include <stdint.h>

#include "aot/aot.h"

#ifdef __cplusplus
extern "C" {
#endif

/* aot_fetch_config.flags */
/* Uses what is installed; no network is touched. */
#define AOT_FETCH_OFFLINE 0x1u
/* Fails when the repository can't be reached or its metadata is refused, instead of running what is installed. A
 * version that was fetched but failed its self-test also fails the call. */
#define AOT_FETCH_REQUIRE_UPDATE 0x2u
/* Follows up to five redirects, never from https to http. The default refuses redirects. */
#define AOT_FETCH_FOLLOW_REDIRECTS 0x4u

/* Sizes in bytes; 0 stands for the default in brackets. What exceeds a limit is refused before it is read further.
 * Metadata and manifests may have up to 64 MiB, code and weights 2^62 bytes; a limit above is INVALID_ARGUMENT, as are
 * times beyond a year or 2^31 ms and more than 1000 attempts. */
typedef struct aot_fetch_limits {
  uint64_t root_bytes;                 /* [512 000] */
  uint64_t timestamp_bytes;            /* [16 384] */
  uint64_t snapshot_bytes;             /* [2 000 000] */
  uint64_t targets_bytes;              /* [5 000 000], for each targets role */
  uint64_t manifest_bytes;             /* [16 MiB] */
  uint64_t code_bytes;                 /* [256 MiB] */
  uint64_t weights_bytes;              /* [8 GiB] */
  uint32_t connect_timeout_ms;         /* [15 000] */
  uint32_t low_speed_bytes_per_second; /* [256]: a transfer below this speed ... */
  uint32_t low_speed_seconds;          /* [30] ... for this time is ended */
  uint32_t attempts;                   /* [5] for each part, each continuing where the last broke off */
  uint32_t lock_timeout_ms;            /* [60 000] to wait for another process that updates or loads; see below */
  uint32_t max_starts;                 /* [3] in a row, at most 32, of a version that end without a word */
  uint32_t update_seconds;             /* [3600] for all requests of one call; the next call goes on where it ended */
} aot_fetch_limits;

/* Where the loaded version came from. */
typedef enum aot_fetch_source {
  AOT_FETCH_NOTHING = 0, /* no model was loaded */
  AOT_FETCH_DOWNLOADED,  /* a new version, installed by this call */
  AOT_FETCH_INSTALLED,   /* the newest version was installed already */
  AOT_FETCH_PREVIOUS     /* the version before: the newest is not usable */
} aot_fetch_source;

/* What happened; filled in by every call that has a configuration to read, whether it succeeds or not. */
typedef struct aot_fetch_report {
  size_t size; /* sizeof(aot_fetch_report), set by the caller */
  aot_fetch_source source;
  aot_status update_status;  /* AOT_OK, or why the newest version of the repository is not the one that runs */
  char update_message[512];  /* the sentence for it */
  char target[64];           /* target that the loaded version was compiled for */
  uint64_t release;          /* its release number */
  uint64_t artifact_bytes;   /* manifest, code and weights together */
  uint64_t downloaded_bytes; /* of parts, over the network, in this call */
} aot_fetch_report;

/* Zero it, set `size` and what is needed; members are only ever added at the end; one that this library doesn't know
 * yet must be zero. All pointers are read during the call alone. */
typedef struct aot_fetch_config {
  size_t size;           /* sizeof(aot_fetch_config) */
  const char* url;       /* of the server, "https://models.example.com"; NULL only with AOT_FETCH_OFFLINE */
  const char* channel;   /* NULL: "stable" */
  const char* state_dir; /* made if missing; its parent must be there */
  const void* root;      /* trusted root metadata, for the first use of the state directory: bytes ... */
  size_t root_size;
  const char* root_path; /* ... or a file, read only then; later the stored root and its signed successors count */
  const char* target;    /* name of a target; NULL: the most demanding signed one that this CPU can run */
  const char* ca_file;   /* PEM file of certificates to trust for https; NULL: the system's */
  uint32_t flags;        /* AOT_FETCH_... */
  aot_fetch_limits limits;
  int64_t (*now)(void* context);                   /* seconds since 1970, UTC; NULL: the system's clock */
  void (*log)(void* context, const char* message); /* one line each; NULL: silent */
  void* context;                                   /* first argument of both */
  aot_fetch_report* report;                        /* may be NULL */
} aot_fetch_config;

/* Brings `model` (1 to 200 of [A-Za-z0-9._-]) up to date and loads it into *out; the caller frees it with
 * aot_unload.
 *
 * Returns AOT_OK also when the update failed but an installed version runs, unless AOT_FETCH_REQUIRE_UPDATE is set;
 * report->update_status tells the difference. On failure *out is NULL and *error (which may be NULL) has the sentence.
 *
 * "Runs" means: loaded, and passed the self-test that the artifact brings. A version that does so once is confirmed;
 * one that takes the process down while it is loaded, max_starts times in a row, gives way to the version before. What
 * the application finds out later (wrong answers, a crash of its own) is for the publisher to mend with a new release.
 *
 * Any number of threads and processes may call it with one state directory. One of them updates at a time: others wait
 * for up to lock_timeout_ms and then run what is installed, with update_status BUSY. While a version is loaded, others
 * wait for that long and then fail with BUSY. A download never keeps an installed version from starting. */
aot_status aot_fetch_and_load(const aot_fetch_config* config, const char* model, aot_model** out, aot_error* error);

#ifdef __cplusplus
}
#endif

#endif
