#pragma once
// What the module loom_nccl.so, which alone is linked with NCCL and CUDA, offers: plain functions over plain data, as
// mpi_functions.h. Every function answers 0, NCCL's code (> 0) or CUDA's (< 0, the code times -1).
#include <stddef.h>

#include "engine/program/stream_ranks.h"

extern "C" {

struct LoomNcclId {
  char bytes[128];
};

struct LoomNcclFunctions {
  int version;                   // of this table: kLoomNcclVersion
  int (*library)(int* version);  // 22809 = 2.28.9
  // `group` may be null; its last error adds to the text.
  int (*explain)(int code, void* group, char* text, int room);

  int (*devices)(int* count);
  int (*describe)(int device, char* text, int room);  // its UUID and its name
  int (*newId)(LoomNcclId* id);                       // by one rank; the others are told
  int (*open)(const LoomNcclId* id, int ranks, int rank, int device, void** group);
  int (*split)(void* group, int color, int key, void** made);
  int (*rank)(void* group, int* rank);
  int (*size)(void* group, int* size);
  int (*release)(void* group);  // nothing may be under way
  int (*abort)(void* group);    // the same, whatever is under way

  // Memory of the group's device. Copies go between any two kinds of memory, in the order of the group's calls.
  int (*allocate)(void* group, size_t bytes, void** data);
  int (*deallocate)(void* group, void* data);
  int (*isOnDevice)(const void* data, int* yes);
  int (*copy)(void* group, void* to, const void* from, size_t bytes);

  // Begin; all pointers are the device's. `stream`: the driver's handle of one of the device's; null: the group's own.
  int (*begin)(void* group, loom::RankExchange::Kind kind, int partner, const loom::RankExchange::Part* parts,
               size_t count, void* stream);
  int (*allToAll)(void* group, const void* parts, void* received, size_t bytes);
  // NCCL's code where what is under way will never be done, such as another rank that is gone; else 0.
  int (*state)(void* group);
  // Whether all that began on the group's own stream is done, and done well.
  int (*test)(void* group, int* done);
};

enum { kLoomNcclVersion = 3 };
// The one symbol of the module.
typedef const LoomNcclFunctions* (*LoomNcclEntry)();
inline const char* const kLoomNcclEntryName = "loomNcclFunctions";

}  // extern "C"
