#pragma once
// What the module loom_mpi.so, which alone is linked with Open MPI, offers: plain functions over plain data, so that
// nothing of C++ crosses the border and `loom` starts where there is no MPI. Every function answers 0 or MPI's error
// code.

extern "C" {

struct LoomMpiRequest {
  void* words[2];  // the module's own
};

struct LoomMpiFunctions {
  int version;  // of this table: kLoomMpiVersion
  // Serialised threads are asked for; `threads` is 1 when they were given.
  int (*initialise)(int* threads);
  int (*finalise)();
  int (*library)(char* text, int room);
  int (*explain)(int code, char* text, int room);
  void* (*world)();
  int (*rank)(void* group, int* rank);
  int (*size)(void* group, int* size);
  int (*split)(void* group, int color, int key, void** made);
  int (*release)(void* group);
  int (*abort)(void* group, int exitCode);
  // Begin a collective or a message; counts are floats or bytes, those of one part where there are several.
  int (*allReduce)(void* group, float* data, int count, LoomMpiRequest* request);
  int (*reduceScatter)(void* group, const float* data, float* part, int count, LoomMpiRequest* request);
  int (*allGather)(void* group, const void* mine, void* all, int bytes, LoomMpiRequest* request);
  int (*allToAll)(void* group, const void* parts, void* received, int bytes, LoomMpiRequest* request);
  int (*broadcast)(void* group, void* data, int bytes, int root, LoomMpiRequest* request);
  int (*send)(void* group, const void* data, int bytes, int to, int tag, LoomMpiRequest* request);
  int (*receive)(void* group, void* data, int bytes, int from, int tag, LoomMpiRequest* request);
  int (*test)(LoomMpiRequest* request, int* done);
};

enum { kLoomMpiVersion = 1 };
// The one symbol of the module.
typedef const LoomMpiFunctions* (*LoomMpiEntry)();
inline const char* const kLoomMpiEntryName = "loomMpiFunctions";

}  // extern "C"
