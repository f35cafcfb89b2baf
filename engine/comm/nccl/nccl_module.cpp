// loom_nccl.so: NCCL behind the table of nccl_functions.h. A group is a communicator and the stream in which its calls
// follow each other.
#include <cuda_runtime_api.h>
#include <nccl.h>

#include <cstdio>
#include <cstring>
#include <new>

#include "engine/comm/nccl_functions.h"

namespace {

static_assert(sizeof(LoomNcclId) == sizeof(ncclUniqueId), "the table carries NCCL's identifier as bytes");

struct Group {
  ncclComm_t communicator = nullptr;
  cudaStream_t stream = nullptr;
  int device = 0, rank = 0, size = 1;
};

Group& of(void* group) {
  return *static_cast<Group*>(group);
}
int of(ncclResult_t code) {
  return static_cast<int>(code);
}
int of(cudaError_t code) {
  return -static_cast<int>(code);
}
// The device is a property of the calling thread.
int enter(const Group& group) {
  return of(cudaSetDevice(group.device));
}

int library(int* version) {
  return of(ncclGetVersion(version));
}
int explain(int code, void* group, char* text, int room) {
  if (code < 0) {
    const auto error = static_cast<cudaError_t>(-code);
    std::snprintf(text, static_cast<std::size_t>(room), "%s: %s", cudaGetErrorName(error), cudaGetErrorString(error));
    return 0;
  }
  const char* more = ncclGetLastError(group ? of(group).communicator : nullptr);
  std::snprintf(text, static_cast<std::size_t>(room), "%s%s%s", ncclGetErrorString(static_cast<ncclResult_t>(code)),
                more && *more ? ": " : "", more ? more : "");
  return 0;
}

int devices(int* count) {
  *count = 0;
  const cudaError_t code = cudaGetDeviceCount(count);
  return code == cudaErrorNoDevice ? 0 : of(code);
}
int describe(int device, char* text, int room) {
  cudaDeviceProp properties{};
  if (const int code = of(cudaGetDeviceProperties(&properties, device))) return code;
  char* const end = text + room;
  for (const char byte : properties.uuid.bytes)
    if (end - text > 2) text += std::snprintf(text, 3, "%02x", static_cast<unsigned char>(byte));
  std::snprintf(text, static_cast<std::size_t>(end - text), " %s", properties.name);
  return 0;
}
int newId(LoomNcclId* id) {
  ncclUniqueId made;
  const int code = of(ncclGetUniqueId(&made));
  std::memcpy(id->bytes, &made, sizeof made);
  return code;
}

// Takes over `communicator`, for better or worse.
int adopt(ncclComm_t communicator, int device, void** made) {
  auto* group = new (std::nothrow) Group{communicator, nullptr, device, 0, 1};
  if (!group) return of(cudaErrorMemoryAllocation);
  int code = of(ncclCommUserRank(communicator, &group->rank));
  if (!code) code = of(ncclCommCount(communicator, &group->size));
  if (!code) code = of(cudaStreamCreateWithFlags(&group->stream, cudaStreamNonBlocking));
  if (code) {
    ncclCommAbort(communicator);
    delete group;
    return code;
  }
  *made = group;
  return 0;
}

int open(const LoomNcclId* id, int ranks, int rank, int device, void** group) {
  if (const int code = of(cudaSetDevice(device))) return code;
  ncclUniqueId known;
  std::memcpy(&known, id->bytes, sizeof known);
  ncclComm_t communicator = nullptr;
  if (const int code = of(ncclCommInitRank(&communicator, ranks, known, rank))) return code;
  return adopt(communicator, device, group);
}
int split(void* group, int color, int key, void** made) {
  if (const int code = enter(of(group))) return code;
  ncclComm_t communicator = nullptr;
  if (const int code = of(ncclCommSplit(of(group).communicator, color, key, &communicator, nullptr))) return code;
  return adopt(communicator, of(group).device, made);
}
int rank(void* group, int* rank) {
  *rank = of(group).rank;
  return 0;
}
int size(void* group, int* size) {
  *size = of(group).size;
  return 0;
}
int release(void* group) {
  int code = enter(of(group));
  if (!code) code = of(ncclCommDestroy(of(group).communicator));
  if (!code) code = of(cudaStreamDestroy(of(group).stream));
  delete &of(group);
  return code;
}
int abort(void* group) {
  const int code = of(ncclCommAbort(of(group).communicator));
  cudaStreamDestroy(of(group).stream);
  delete &of(group);
  return code;
}

int allocate(void* group, size_t bytes, void** data) {
  if (const int code = enter(of(group))) return code;
  return of(cudaMalloc(data, bytes));
}
int deallocate(void* group, void* data) {
  if (const int code = enter(of(group))) return code;
  return of(cudaFree(data));
}
int isOnDevice(const void* data, int* yes) {
  cudaPointerAttributes attributes{};
  const int code = of(cudaPointerGetAttributes(&attributes, data));
  *yes = attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
  return code;
}
int copy(void* group, void* to, const void* from, size_t bytes) {
  if (const int code = enter(of(group))) return code;
  return of(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, of(group).stream));
}

// Counts are NCCL's: of numbers in sums, of bytes else.
ncclResult_t beginPart(const Group& group, loom::RankExchange::Kind kind, int partner,
                       const loom::RankExchange::Part& part, cudaStream_t stream) {
  using Kind = loom::RankExchange::Kind;
  const size_t numbers = part.bytes / sizeof(float);
  const ncclComm_t ranks = group.communicator;
  switch (kind) {
    case Kind::allReduce:
      return ncclAllReduce(part.from, part.to, numbers, ncclFloat, ncclSum, ranks, stream);
    case Kind::allGather:
      return ncclAllGather(part.from, part.to, part.bytes, ncclInt8, ranks, stream);
    case Kind::reduceScatter:
      return ncclReduceScatter(part.from, part.to, numbers, ncclFloat, ncclSum, ranks, stream);
    case Kind::broadcast:
      return ncclBroadcast(part.from, part.to, part.bytes, ncclInt8, partner, ranks, stream);
    case Kind::reduce:
      return ncclReduce(part.from, part.to, numbers, ncclFloat, ncclSum, partner, ranks, stream);
    case Kind::send:
      return ncclSend(part.from, part.bytes, ncclInt8, partner, ranks, stream);
    case Kind::receive:
      return ncclRecv(part.to, part.bytes, ncclInt8, partner, ranks, stream);
  }
  return ncclInvalidArgument;
}

// Several parts become one launch, as far as NCCL can.
int begin(void* group, loom::RankExchange::Kind kind, int partner, const loom::RankExchange::Part* parts, size_t count,
          void* stream) {
  if (const int code = enter(of(group))) return code;
  const Group& ranks = of(group);
  const cudaStream_t here = stream != nullptr ? static_cast<cudaStream_t>(stream) : ranks.stream;
  if (count == 1) return of(beginPart(ranks, kind, partner, *parts, here));
  if (const int code = of(ncclGroupStart())) return code;
  int code = 0;
  for (size_t i = 0; i < count && !code; ++i) code = of(beginPart(ranks, kind, partner, parts[i], here));
  const int end = of(ncclGroupEnd());  // also after a fault: the thread stays in the group otherwise
  return code ? code : end;
}
int allToAll(void* group, const void* parts, void* received, size_t bytes) {
  if (const int code = enter(of(group))) return code;
  Group& ranks = of(group);
  if (const int code = of(ncclGroupStart())) return code;
  int code = 0;
  for (int r = 0; r < ranks.size && !code; ++r) {
    const auto at = static_cast<std::size_t>(r) * bytes;
    code = of(ncclSend(static_cast<const char*>(parts) + at, bytes, ncclInt8, r, ranks.communicator, ranks.stream));
    if (!code)
      code = of(ncclRecv(static_cast<char*>(received) + at, bytes, ncclInt8, r, ranks.communicator, ranks.stream));
  }
  const int end = of(ncclGroupEnd());  // as in begin()
  return code ? code : end;
}
int state(void* group) {
  ncclResult_t meanwhile = ncclSuccess;
  if (const int code = of(ncclCommGetAsyncError(of(group).communicator, &meanwhile))) return code;
  return meanwhile == ncclInProgress ? 0 : of(meanwhile);
}
int test(void* group, int* done) {
  *done = 0;
  if (const int code = enter(of(group))) return code;
  if (const int code = state(group)) return code;
  const cudaError_t state = cudaStreamQuery(of(group).stream);
  *done = state == cudaSuccess;
  return state == cudaErrorNotReady ? 0 : of(state);
}

const LoomNcclFunctions kFunctions = {
    kLoomNcclVersion, library, explain,  devices,    describe,   newId, open,  split,    rank,  size,
    release,          abort,   allocate, deallocate, isOnDevice, copy,  begin, allToAll, state, test};

}  // namespace

extern "C" __attribute__((visibility("default"))) const LoomNcclFunctions* loomNcclFunctions() {
  return &kFunctions;
}
