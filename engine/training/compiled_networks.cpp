#include "engine/training/compiled_networks.h"

#include "engine/base/error.h"
#include "engine/network/analysis.h"
#include "engine/passes/differentiate.h"
#include "engine/program/builder.h"
#include "engine/training/feed.h"

namespace loom {

Program CompiledNetworks::program(const CompileRequest& request) const {
  try {
    const bool training = request.phase == Phase::training;
    Program program = lower(*request.network, {.batch = request.batch, .seed = m_seed, .training = training});
    if (request.feed != nullptr && m_backend.preparesImages()) request.feed->takeBytes(*request.network, program);
    if (!training) return program;
    ProgramBuilder builder(std::move(program));
    differentiate(builder, request.wanted);
    Program differentiated = builder.take();
    setBatchStatistics(differentiated, m_statistics);
    if (request.buckets) exchangeGradients(differentiated, *request.buckets);
    return differentiated;
  } catch (Error& error) {
    error.addContext("in network '" + request.network->name + "'");
    throw;
  }
}

Executable& CompiledNetworks::get(const CompileRequest& request) {
  const Key key{request.network, request.phase, request.batch, request.update};
  if (const auto found = m_made.find(key); found != m_made.end()) return *found->second;
  Program made = program(request);
  m_store.ensure(made.parameters);
  try {
    CompileOptions options = m_options;
    options.collectives = request.collectives;
    return *m_made.emplace(key, m_backend.compile(std::move(made), m_store, options)).first->second;
  } catch (Error& error) {
    error.addContext("in network '" + request.network->name + "'");
    throw;
  }
}

}  // namespace loom
