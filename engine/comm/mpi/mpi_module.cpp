// The module itself: Open MPI behind the table of mpi_functions.h. It holds no logic.
#include <mpi.h>

#include <cstring>

#include "engine/comm/mpi_functions.h"

namespace {

static_assert(sizeof(MPI_Request) <= sizeof(LoomMpiRequest), "a request must fit into the table's");
static_assert(sizeof(MPI_Comm) == sizeof(void*), "Open MPI's handles are pointers");

MPI_Comm of(void* group) {
  return static_cast<MPI_Comm>(group);
}
MPI_Request* of(LoomMpiRequest* request) {
  return reinterpret_cast<MPI_Request*>(request->words);
}

int initialise(int* threads) {
  int provided = 0;
  if (const int code = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided)) return code;
  *threads = provided >= MPI_THREAD_SERIALIZED;
  return MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}
int finalise() {
  return MPI_Finalize();
}
int library(char* text, int room) {
  char whole[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  const int code = MPI_Get_library_version(whole, &length);
  std::strncpy(text, whole, static_cast<std::size_t>(room) - 1);
  text[room - 1] = 0;
  return code;
}
int explain(int wrong, char* text, int room) {
  char whole[MPI_MAX_ERROR_STRING];
  int length = 0;
  const int code = MPI_Error_string(wrong, whole, &length);
  std::strncpy(text, code ? "unknown" : whole, static_cast<std::size_t>(room) - 1);
  text[room - 1] = 0;
  return code;
}
void* world() {
  return MPI_COMM_WORLD;
}
int rank(void* group, int* rank) {
  return MPI_Comm_rank(of(group), rank);
}
int size(void* group, int* size) {
  return MPI_Comm_size(of(group), size);
}
int split(void* group, int color, int key, void** made) {
  MPI_Comm fresh = MPI_COMM_NULL;
  const int code = MPI_Comm_split(of(group), color, key, &fresh);
  *made = fresh;
  return code;
}
int release(void* group) {
  MPI_Comm comm = of(group);
  return MPI_Comm_free(&comm);
}
int abort(void* group, int exitCode) {
  return MPI_Abort(of(group), exitCode);
}
int allReduce(void* group, float* data, int count, LoomMpiRequest* request) {
  return MPI_Iallreduce(MPI_IN_PLACE, data, count, MPI_FLOAT, MPI_SUM, of(group), of(request));
}
int reduceScatter(void* group, const float* data, float* part, int count, LoomMpiRequest* request) {
  return MPI_Ireduce_scatter_block(data, part, count, MPI_FLOAT, MPI_SUM, of(group), of(request));
}
int allGather(void* group, const void* mine, void* all, int bytes, LoomMpiRequest* request) {
  return MPI_Iallgather(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, of(group), of(request));
}
int allToAll(void* group, const void* parts, void* received, int bytes, LoomMpiRequest* request) {
  return MPI_Ialltoall(parts, bytes, MPI_BYTE, received, bytes, MPI_BYTE, of(group), of(request));
}
int broadcast(void* group, void* data, int bytes, int root, LoomMpiRequest* request) {
  return MPI_Ibcast(data, bytes, MPI_BYTE, root, of(group), of(request));
}
int send(void* group, const void* data, int bytes, int to, int tag, LoomMpiRequest* request) {
  return MPI_Isend(data, bytes, MPI_BYTE, to, tag, of(group), of(request));
}
int receive(void* group, void* data, int bytes, int from, int tag, LoomMpiRequest* request) {
  return MPI_Irecv(data, bytes, MPI_BYTE, from, tag, of(group), of(request));
}
int test(LoomMpiRequest* request, int* done) {
  return MPI_Test(of(request), done, MPI_STATUS_IGNORE);
}

const LoomMpiFunctions kFunctions = {
    kLoomMpiVersion, initialise, finalise,      library,   explain,  world,     rank, size,    split, release,
    abort,           allReduce,  reduceScatter, allGather, allToAll, broadcast, send, receive, test};

}  // namespace

extern "C" __attribute__((visibility("default"))) const LoomMpiFunctions* loomMpiFunctions() {
  return &kFunctions;
}
